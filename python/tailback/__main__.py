"""`python -m tailback`."""

from tailback.cli import main

main()
