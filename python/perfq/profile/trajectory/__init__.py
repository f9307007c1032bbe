"""Recorded sessions and how they are replayed: `perfq.trajectory/v1` and `perfq.trajectory-profile/v1`."""
