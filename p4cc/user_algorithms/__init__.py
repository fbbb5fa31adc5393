"""Algorithms that users write in Python: the classes to derive from, parameters, loading, and the checks of a class."""
