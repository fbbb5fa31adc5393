"""The interface for Python programs and notebooks: run a scenario, read a results folder, draw figures."""
