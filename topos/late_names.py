"""Names of a package that load when they are first used: help of the command line waits for none of them."""

from collections.abc import Callable, Mapping
from importlib import import_module


def late_names(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """A package's `__getattr__` (PEP 562): each public name from the module that defines it."""

    def load(name: str) -> object:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home), name)

    return load
