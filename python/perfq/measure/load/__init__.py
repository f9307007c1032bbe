"""What a request load recorded: its samples, their fold into the `load` block, and what judging looks at."""
