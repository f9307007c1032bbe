"""The reference client: a real Textual application, in a process of its own."""

import os

# Textual draws when its clock of so many ticks a second (60 by default) comes by, and a key waits for that.
# It reads this once, when it is first imported.
os.environ.setdefault("TEXTUAL_FPS", "120")
