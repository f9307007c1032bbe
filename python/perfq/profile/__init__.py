"""The documents that users write: models, loading with line numbers, JSON Schema."""
