"""What Python programs and notebooks call: run a scenario, read a folder of results, draw from it."""
