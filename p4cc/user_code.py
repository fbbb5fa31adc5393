"""A user's Python file: imported again after a change, with the files of its folder that it imports."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.user_watch import REMEDY, WATCH, InterruptedCallError, TooLongError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

_P4CC = Path(__file__).parent
_OURS = ("__main__", "controller", "p4cc", "topos")
"""Packages that are not the user's, even if a user's file is next to them, as in a clone of p4cc."""
_IMPORTED: set[str] = set()
"""Names of modules that users' files have imported from their folders."""


def import_file(path: Path, what: str) -> tuple[ModuleType, list[Path]]:
    """The module of a file, and the files of its folder that it is made of, itself first or among them.

    `what` says for people what the file holds, such as `controller`. Raises UserError with the lines of what is wrong.
    """
    folder = path.parent
    name = f"p4cc_{what}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError("is not a Python file", place=str(path), remedy="give FILE.py:CLASS")
    module = importlib.util.module_from_spec(spec)
    # Imports from the file's folder are read again: they may have changed since another scenario,
    # whose folder may have had another module of the same name.
    for other in {*_beside(folder), *_IMPORTED}:
        sys.modules.pop(other, None)
    before = set(sys.modules)
    sys.modules[name] = module
    sys.path.insert(0, str(folder))
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    WATCH.begin(str(path))
    try:
        spec.loader.exec_module(module)
    except InterruptedCallError as error:
        raise KeyboardInterrupt from error
    except TooLongError as error:
        cause = f"the import of the {what} took longer than {WATCH.limit_s:g} s\n{told(error, str(path), '')}"
        raise UserError(cause, place=str(path), remedy=REMEDY) from error
    except (Exception, SystemExit) as error:
        raise UserError(
            f"the {what} cannot be loaded\n{told(error, str(path))}", place=str(path), remedy="correct the file"
        ) from error
    finally:
        sys.dont_write_bytecode = writes
        sys.path.remove(str(folder))
    new = {other: sys.modules[other] for other in set(_beside(folder)) - before}
    _IMPORTED.update(set(new) - {name})
    files = {Path(str(one.__file__)).resolve() for one in new.values()}
    WATCH.begin(*map(str, files))
    return module, sorted({path, *files})


def digest_of(files: Iterable[Path]) -> str:
    """A hash of what files hold, in their order."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def told(error: BaseException, file: str, last_line: str | None = None) -> str:
    """Where a user's error comes from: the frames of the user's folder, from the first to the last, and the error.

    `last_line` replaces the error's text.
    """
    whole = traceback.TracebackException.from_exception(error)
    folder = Path(file).parent
    theirs = [
        place
        for place, frame in enumerate(whole.stack)
        if Path(frame.filename).is_relative_to(folder) and not Path(frame.filename).is_relative_to(_P4CC)
    ]
    last = theirs[-1] + 1 if theirs else 0
    whole.stack = traceback.StackSummary.from_list(whole.stack[theirs[0] if theirs else 0 : last])
    whole.__cause__ = whole.__context__ = None
    lines = list(whole.format())
    # The message around it says what it is.
    lines = lines[1:] if whole.stack else lines
    if last_line is not None:
        lines[-1] = last_line
    return "".join(lines).rstrip()


def _beside(folder: Path) -> list[str]:
    """Loaded user modules whose files are in a folder or below it."""
    result: list[str] = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is None or name.partition(".")[0] in _OURS or "site-packages" in file:
            continue
        if Path(file).resolve().is_relative_to(folder):
            result.append(name)
    return result
