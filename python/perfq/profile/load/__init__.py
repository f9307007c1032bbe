"""Load profiles: kperf's documents with perfq's own fields, and what they resolve to."""
