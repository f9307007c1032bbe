"""What was recorded, as types: the samples, the figures, the result model."""
