"""The backend `command`: sandboxes of a runtime that is the user's own, by its commands."""
