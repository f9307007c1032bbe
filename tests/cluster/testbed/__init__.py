"""The test bed: a real Kubernetes control plane on loopback, from programs built of pinned Go modules.

`scripts/testbed` is its command line and tests/cluster its user. Only the standard library is used, so that any
Python 3.11 can run it.
"""
