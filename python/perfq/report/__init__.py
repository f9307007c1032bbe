"""result.json rendered: pure functions of the result, nothing measured here."""
