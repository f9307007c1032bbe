"""What drivers share: the client under test, scenarios, input, stop conditions, the run directory."""
