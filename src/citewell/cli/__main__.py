"""``python -m citewell.cli``: the command without its script."""

from citewell.cli import main

main()
