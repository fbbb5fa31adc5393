"""Loads a user's algorithm by its name in a scenario: `FILE.py:CLASS`, or a name that a package offers."""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from p4cc import _engine, user_code
from p4cc.algorithms import Algorithm
from p4cc.errors import UserError
from p4cc.files import find_named, note_input
from p4cc.user_algorithms.attributes import Attributes, attributes_of
from p4cc.user_algorithms.base import HOOKS, KINDS, AlgorithmClass, SwitchNeed
from p4cc.user_algorithms.parameters import declared_by, values
from p4cc.user_watch import WATCH

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

GROUP = "p4cc.algorithms"
"""Entry points of packages that offer algorithms."""
_KEY = "python"
_MODULES: dict[Path, tuple[str, ModuleType, list[Path]]] = {}
"""Imported files, with the hash of their contents."""


@dataclass(frozen=True)
class UserAlgorithm:
    """A user's class, found and checked."""

    entry: Algorithm
    """Its form in the registry."""
    kind: AlgorithmClass
    file: str
    """The file, as in tracebacks."""
    digest: str
    """Hash of everything that determines the class's behaviour."""
    is_offered: bool = False
    """Whether a package offers it by name."""

    @cached_property
    def attributes(self) -> Attributes:
        """Attributes that its methods set and read."""
        return attributes_of(self.kind, KINDS[self.entry.kind])

    def with_values(self, given: Mapping[str, object]) -> UserSender:
        """The class with its parameters; raises UserError whose place is the parameter."""
        return UserSender(self, values(self.entry.name, self.entry.parameters, given))

    def told(self, error: BaseException) -> str:
        """Origin of an exception: lines of the user's files, and the exception."""
        return user_code.told(error, self.file)


@dataclass(frozen=True)
class UserSender:
    """A user's class with the values of its parameters, for one sender."""

    algorithm: UserAlgorithm
    values: Mapping[str, float | str]

    @property
    def identity(self) -> str:
        """Everything that determines its behaviour, for cache keys."""
        return repr((self.algorithm.entry.name, self.algorithm.digest, sorted(self.values.items())))

    def for_engine(self) -> _engine.OwnAlgorithm:
        """Its form for the engine."""
        one, entry = self.algorithm, self.algorithm.entry
        kind = one.kind
        # The values belong to the class: an object has them before its first line runs.
        named = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
        valued = type(kind.__name__, (kind,), {**named, **self.values})
        hooks = [name for name in HOOKS[entry.kind] if _overrides(kind, KINDS[entry.kind], name)]
        return _engine.OwnAlgorithm(
            valued,
            entry.name,
            entry.kind,
            entry.switch_needs,
            str(getattr(kind, "echo", "per_packet")),
            hooks,
            bool(getattr(kind, "grows_after_cut", False)),
        )


def load_own(text: str, kind: str, scenario: Path) -> UserAlgorithm:
    """The class that a scenario names as `FILE.py:CLASS` for a part of a sender.

    Raises UserError with the lines of the error.
    """
    name, _, class_name = text.rpartition(":")
    if not name:
        raise UserError(f"{text!r} does not name a class", remedy="give FILE.py:CLASS")
    path = find_named(name, scenario, what="algorithm", key=_KEY).resolve()
    module, files = _module(path)
    for file in files:
        if file != path:
            note_input(file.name, file)
    found = _class_in(getattr(module, class_name, None), class_name, kind, path, module)
    return _own(found, kind, str(path), user_code.digest_of(files))


def load_any(text: str, scenario: Path) -> UserAlgorithm:
    """`load_own` for any part of a sender."""
    name, _, class_name = text.rpartition(":")
    path = find_named(name, scenario, what="algorithm", key=_KEY).resolve()
    found = getattr(_module(path)[0], class_name, None)
    kinds = [one for one, base in KINDS.items() if isinstance(found, type) and issubclass(found, base)]
    return load_own(text, (kinds or list(KINDS))[0], scenario)


@cache
def offered() -> dict[str, str]:
    """Algorithms that installed packages offer, with the places of their classes."""
    return {point.name: point.value for point in entry_points(group=GROUP)}


def load_offered(name: str, kind: str | None = None) -> UserAlgorithm:
    """The class that a package offers by this name; raises UserError if it is unusable, for this kind or any."""
    point = next(point for point in entry_points(group=GROUP) if point.name == name)
    package = "" if point.dist is None else f"{point.dist.name} {point.dist.version}"
    try:
        loaded: object = point.load()
    except Exception as error:
        cause = f"algorithm {name!r} of {package or point.value} cannot be loaded: {error}"
        raise UserError(cause, remedy="fix or remove the package") from error
    kinds = [one for one, base in KINDS.items() if isinstance(loaded, type) and issubclass(loaded, base)]
    found = _class_in(cast("object", loaded), name, kind or (kinds or list(KINDS))[0], Path(point.value), None)
    path = Path(inspect.getfile(found))
    WATCH.begin(str(path))
    digest = hashlib.sha256(f"{package} {point.value} {user_code.digest_of([path])}".encode()).hexdigest()
    return _own(found, kind or kinds[0], str(path), digest, name)


def _module(path: Path) -> tuple[ModuleType, list[Path]]:
    """The module of a file: the imported one if nothing has changed."""
    if (held := _MODULES.get(path)) is not None:
        digest, module, files = held
        if all(file.is_file() for file in files) and user_code.digest_of(files) == digest:
            return module, files
    module, files = user_code.import_file(path, "algorithm")
    _MODULES[path] = (user_code.digest_of(files), module, files)
    return module, files


def _own(kind_of: AlgorithmClass, kind: str, file: str, digest: str, name: str | None = None) -> UserAlgorithm:
    entry = Algorithm(
        name=name or kind_of.__name__,
        kind=kind,
        summary=(inspect.getdoc(kind_of) or "").partition("\n")[0],
        parameters=declared_by(kind_of),
        switch_needs=kind_of.needs,
        source=kind_of.source or Path(file).name,
    )
    return UserAlgorithm(entry, kind_of, file, digest, name is not None)


def _overrides(kind: type, base: type, name: str) -> bool:
    return getattr(kind, name, None) is not getattr(base, name)


def _class_in(found: object, name: str, kind: str, path: Path, module: ModuleType | None) -> AlgorithmClass:
    """The class if it is for this part of a sender; raises UserError."""
    base = KINDS[kind]
    if isinstance(found, type) and issubclass(found, base) and found is not base:
        _check_words(found, kind, path)
        return found
    there = [
        one.__name__
        for one in cast("list[object]", [] if module is None else list(vars(module).values()))
        if isinstance(one, type) and issubclass(one, base) and one is not base
    ]
    of = next((other for other, one in KINDS.items() if isinstance(found, type) and issubclass(found, one)), None)
    if found is None:
        cause = f"has no class {name!r}"
    elif of is not None and of != kind:
        cause = f"{name} is an algorithm for {of}, not for {kind}"
    else:
        cause = f"{name} is not a p4cc.{base.__name__}"
    known = f"classes in the file: {', '.join(there)}" if there else f"derive the class from p4cc.{base.__name__}"
    raise UserError(cause, place=str(path), remedy=known)


def _check_words(found: AlgorithmClass, kind: str, path: Path) -> None:
    """Description of a class."""
    place = f"{path}:{found.__name__}"
    if found.needs not in get_args(SwitchNeed):
        remedy = f"give one of: {', '.join(get_args(SwitchNeed))}"
        raise UserError(f"needs = {found.needs!r} is not a known requirement", place=place, remedy=remedy)
    base = KINDS[kind]
    for name in (name for one in found.__mro__[: found.__mro__.index(base)] for name in vars(one)):
        if name.startswith("on_") and name not in HOOKS[kind]:
            remedy = f"methods: {', '.join(HOOKS[kind])}"
            raise UserError(f"has a method {name} that p4cc never calls", place=place, remedy=remedy)
    for name in (one.name for one in declared_by(found) if hasattr(base, one.name)):
        remedy = "rename the parameter"
        raise UserError(f"{name} is already an attribute of p4cc.{base.__name__}", place=place, remedy=remedy)
    for name in HOOKS[kind]:
        if _overrides(found, base, name) and not inspect.isfunction(inspect.getattr_static(found, name)):
            raise UserError(f"{name} is not a method", place=place, remedy=f"write def {name}(self, ...)")
    if slip := attributes_of(found, base).misspelt(base):
        one, meant = slip
        cause = f"{one.method} sets {one.name}, which nothing reads"
        remedy = f"write {meant}; to record your own attribute, declare it in the class: {one.name}: float"
        raise UserError(cause, place=f"{one.file}:{one.line}", remedy=remedy)
    if kind == "slow_start" and not _overrides(found, base, "on_ack"):
        raise UserError("has no on_ack, so the window would never grow", place=place, remedy="write on_ack")
    if kind == "receiver" and not _overrides(found, base, "on_arrival"):
        raise UserError("has no on_arrival, so nothing would be let send", place=place, remedy="write on_arrival")
    if kind == "congestion_avoidance" and _overrides(found, base, "on_mark") and found.needs == "none":
        cause = "on_mark is never called, because packets of an algorithm that needs no marks are not ECN-capable"
        raise UserError(cause, place=place, remedy='set needs = "one_ecn_threshold"')
