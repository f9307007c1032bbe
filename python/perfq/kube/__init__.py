"""The only package that imports `kubernetes`."""
