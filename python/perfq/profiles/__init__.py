"""The built-in workload profiles, as package data."""
