"""Measurements against the targets of the project; run by scripts/bench."""
