"""Control groups: where we are in them, folders of a run's own below that, and what the kernel counts."""
