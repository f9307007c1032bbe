"""`python -m perfq.viewer`."""

from perfq.viewer.main import main

main()
