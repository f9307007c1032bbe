"""`python -m perfq`."""

from perfq.cli import program

program()
