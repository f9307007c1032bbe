"""Qualify a client on a workload."""
