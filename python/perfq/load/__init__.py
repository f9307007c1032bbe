"""Request load and request replay: what an input comes to, the target, the drive, the search for the highest rate."""
