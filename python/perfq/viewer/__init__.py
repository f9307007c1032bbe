"""The reference client: a real Textual application, in a process of its own."""
