"""What replayed sessions recorded: their samples, their fold into the `trajectory` block, what judging looks at."""
