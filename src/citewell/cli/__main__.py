"""``python -m citewell.cli``: the command line without the installed script."""

from citewell.cli import main

main()
