"""What drivers share: the client under test, scenarios and input, progress, stop conditions, the run directory."""
