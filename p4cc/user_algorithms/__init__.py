"""Users' algorithms in Python: base classes, parameters, loading, and the checks of a class."""
