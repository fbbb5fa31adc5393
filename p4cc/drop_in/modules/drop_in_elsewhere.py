"""Installed packages take precedence over this folder's, although it comes first on `sys.path`."""

from __future__ import annotations

import sys
from collections.abc import MutableSequence
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

_HERE = Path(__file__).parent.resolve()


def _others() -> list[str]:
    """Where modules are looked for besides this folder."""
    return [folder for folder in sys.path if Path(folder or ".").resolve() != _HERE]


def prefer_package(path: MutableSequence[str], file: str) -> None:
    """Lets a package look into another folder of its name first, if one has this file."""
    package, *rest = Path(file).parts
    for folder in _others():
        if Path(folder, package, *rest).is_file():
            path.insert(0, str(Path(folder, package)))
            return


def installed(name: str) -> ModuleType | None:
    """The module of this name that is installed, with all of its package; None if there is none."""
    folders = _others()
    for part in name.split(".")[:-1]:
        folders = [str(Path(folder, part)) for folder in folders if Path(folder, part).is_dir()]
    spec = PathFinder.find_spec(name, folders)
    if spec is None or spec.loader is None:
        return None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
