"""`perfq trajectory`: recorded sessions of commands and waits, many at once."""
