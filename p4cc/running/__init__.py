"""Runs: made, kept, and written to a folder with what was run."""
