"""Files of a scenario: next to it, in the working folder, or among p4cc's own."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from p4cc.bundled import bundled
from p4cc.errors import UserError

MAX_TEXT_BYTES = 128 << 20
"""A flow file of a million lines is half of it."""


@dataclass
class FilesSeen:
    """Files as they were just before they were first read, and which file a name was found to be."""

    sha256: dict[Path, str] = field(default_factory=dict[Path, str])
    named: dict[str, Path] = field(default_factory=dict[str, Path])
    """Of names that several places are searched for."""
    absent: set[Path] = field(default_factory=set[Path])
    """Files that would change the results if they were there."""

    def add(self, path: Path) -> None:
        """Records an input file; its reader reports one that cannot be read."""
        if path not in self.sha256 and (found := sha256_of(path)) is not None:
            self.sha256[path] = found


inputs_read: ContextVar[dict[str, Path] | None] = ContextVar("inputs_read", default=None)
"""Files that were found by the names that scenarios give them, where somebody keeps account."""
inputs_given: ContextVar[Mapping[str, Path] | None] = ContextVar("inputs_given", default=None)
"""Files by the names that a scenario gives them, where it came from another machine: no other place is looked at."""
files_seen: ContextVar[FilesSeen | None] = ContextVar("files_seen", default=None)
"""What decides a call's results as it was read, where somebody keeps account."""


def sha256_of(path: Path) -> str | None:
    """The hash of a file; None where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def read_bytes(path: Path, what: str, remedy: str = "give an existing file") -> bytes:
    """The bytes of a file, as many as may be: a device has no size that says so. Raises UserError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_TEXT_BYTES + 1)
    except OSError as error:
        raise UserError(f"cannot read the {what}", place=str(path), remedy=remedy) from error
    if len(data) > MAX_TEXT_BYTES:
        raise UserError(f"the {what} exceeds {MAX_TEXT_BYTES} bytes", place=str(path), remedy="give a smaller file")
    return data


def read_text(path: Path, what: str) -> str:
    """The text of a file; raises UserError."""
    remedy = "give a text file in UTF-8"
    data = read_bytes(path, what, remedy)
    try:
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise UserError(f"cannot read the {what}", place=str(path), remedy=remedy) from error


def write_text(path: Path, text: str) -> None:
    """Writes a file that the caller named; raises UserError."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        cause = f"cannot write: {error.strerror}"
        raise UserError(cause, place=str(path), remedy="give a path that you can write to") from error


def find_named(name: str, scenario: Path, *, what: str, key: str) -> Path:
    """The file `name` of the scenario's field `key`; raises UserError with the places looked at."""
    if (given := inputs_given.get()) is not None:
        return _given(name, given, f"{scenario} at {key}")
    tried = places_of(name, scenario)
    path = found_at(name, tried)
    if path is not None:
        if (seen := files_seen.get()) is not None:
            seen.named[name] = path
        note_input(name, path)
        return path
    raise UserError(
        f"no {what} {name!r}",
        place=f"{scenario} at {key}",
        remedy=f"searched {', '.join(str(path) for path in dict.fromkeys(tried))}, and the bundled files",
    )


def places_of(name: str, scenario: Path) -> list[Path]:
    """Places of a file that a scenario names, in addition to p4cc's own files."""
    return [folder / name for folder in (scenario.resolve().parent, Path.cwd())]


def found_at(name: str, places: list[Path]) -> Path | None:
    """The first of the places that is there, or the file that p4cc brings; None where there is neither."""
    return next((path for path in places if path.is_file()), bundled(Path(name)))


def _given(name: str, given: Mapping[str, Path], place: str) -> Path:
    if (path := given.get(name) or bundled(Path(name))) is not None:
        return path
    remedy = "run it without --on, and report a bug: p4cc did not send the file"
    raise UserError(f"{name!r} is not among the files sent with the scenario", place=place, remedy=remedy)


@contextmanager
def files_read() -> Generator[dict[str, Path]]:
    """Keeps account of the files that are read within, as well as who keeps account around it."""
    mine: dict[str, Path] = {}
    around = inputs_read.get()
    token = inputs_read.set(mine)
    try:
        yield mine
    finally:
        inputs_read.reset(token)
        if around is not None:
            around.update(mine)


def note_absent(path: Path) -> None:
    """Keeps account of a file that would decide a run if it were there."""
    if (seen := files_seen.get()) is not None:
        seen.absent.add(path.absolute())


def note_input(name: str, path: Path) -> None:
    """Keeps account of a file that decides a run, before it is read."""
    if (seen := files_seen.get()) is not None:
        seen.add(path)
    if (kept := inputs_read.get()) is not None:
        kept[name] = path
