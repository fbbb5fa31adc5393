"""Loads a user's controller from its file: the class, its parameters, and a hash of the files that it depends on."""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from finsy import P4ClientError

from controller.client import refusal
from p4cc import user_code
from p4cc.control.controller import Controller
from p4cc.errors import UserError
from p4cc.files import find_named, note_input

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from p4cc.scenario.base import Parameter

HANDLERS = ("start", "on_packet_in", "on_digest", "on_idle", "on_port_change", "on_switch_change", "on_refused")
_KEY = "switch.controller"


@dataclass(frozen=True)
class ControllerClass:
    """A controller's class, as named by a scenario."""

    text: str
    """`FILE.py:CLASS`."""
    file: str
    """The file, as in tracebacks."""
    kind: type[Controller]
    parameters: Mapping[str, Parameter]
    digest: str
    """Hash of the file and of its imports from the same folder."""

    def make(self) -> Controller:
        """Creates the controller of one run; raises what its `__init__` raises."""
        return self.kind(**self.parameters)

    def overrides(self, handler: str) -> bool:
        """Whether the class overrides a handler."""
        return getattr(self.kind, handler) is not getattr(Controller, handler)


def nobody() -> ControllerClass:
    """The controller of a run without a user's controller that stops for actions of p4cc's controller."""
    return ControllerClass("p4cc.Controller", __file__, Controller, {}, "")


def load_controller(text: str, parameters: Mapping[str, Parameter], scenario: Path) -> ControllerClass:
    """The class that a scenario names as `FILE.py:CLASS`; raises UserError with the lines of the error."""
    name, _, kind_name = text.rpartition(":")
    path = find_named(name, scenario, what="controller", key=_KEY).resolve()
    module, files = user_code.import_file(path, "controller")
    for file in files:
        if file != path:
            note_input(file.name, file)
    kind = _class_of(module, kind_name, path)
    _check_handlers(kind, path)
    _check_parameters(kind, parameters, f"{path}:{kind_name}")
    digest = hashlib.sha256(_own_code() + user_code.digest_of(files).encode()).hexdigest()
    return ControllerClass(text, str(path), kind, parameters, digest)


def told(error: BaseException, file: str) -> str:
    """Origin of a user's error: lines of the user's files, and the error."""
    # The protocol's text is the whole message.
    shown = f"{type(error).__name__}: {refusal('', error).cause}" if isinstance(error, P4ClientError) else None
    return user_code.told(error, file, shown)


def _class_of(module: ModuleType, name: str, path: Path) -> type[Controller]:
    kind = getattr(module, name, None)
    if isinstance(kind, type) and issubclass(kind, Controller):
        return kind
    there = [
        one.__name__
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Controller) and one is not Controller
    ]
    known = f"controllers in the file: {', '.join(there)}" if there else "derive the class from p4cc.Controller"
    cause = f"has no class {name!r}" if kind is None else f"{name} is not a p4cc.Controller"
    raise UserError(cause, place=str(path), remedy=known)


def _check_handlers(kind: type[Controller], path: Path) -> None:
    known = [name for name in vars(Controller) if not name.startswith("_")]
    for name in (name for one in kind.__mro__[: kind.__mro__.index(Controller)] for name in vars(one)):
        handler = getattr(kind, name)
        if name in HANDLERS and not inspect.iscoroutinefunction(handler):
            raise UserError(
                f"{kind.__name__}.{name} is not a coroutine", place=str(path), remedy=f"write async def {name}"
            )
        if name.startswith("on_") and name not in known:
            remedy = f"handlers: {', '.join(HANDLERS)}"
            raise UserError(
                f"{kind.__name__} has a handler {name} that p4cc never calls", place=str(path), remedy=remedy
            )


def _check_parameters(kind: type[Controller], parameters: Mapping[str, Parameter], place: str) -> None:
    signature = inspect.signature(kind)
    try:
        signature.bind(**parameters)
    except TypeError as error:
        takes = ", ".join(str(one) for one in signature.parameters.values()) or "none"
        raise UserError(
            f"control.parameters do not match __init__: {error}", place=place, remedy=f"parameters of __init__: {takes}"
        ) from error


@cache
def _own_code() -> bytes:
    """A hash of the code that runs controllers."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()
