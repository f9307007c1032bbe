"""`python -m perfq`."""

from perfq.cli import main

main()
