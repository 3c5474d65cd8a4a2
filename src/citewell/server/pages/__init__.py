"""The pages that people touch: server-rendered, with a small script and stylesheet of our own."""

from citewell.server.pages.mounting import add_pages
from citewell.server.pages.rendering import error_page

__all__ = ["add_pages", "error_page"]
