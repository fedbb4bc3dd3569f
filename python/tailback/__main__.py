"""`python -m tailback`."""

from tailback._cli import main

main()
