"""Choice of the results folder: results of another file or other settings are not replaced without consent."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from p4cc.bundled import EXPERIMENTS
from p4cc.running.result_folder import FILE, is_of, read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWN = "p4cc: "
"""Prefix of the names of p4cc's experiments, whose location differs between users."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class Destination:
    """A results folder and the identity of the results."""

    folder: Path
    identity: dict[str, str]
    wanted: Path
    """The folder of that name, or another one if it holds different results."""

    @property
    def aside(self) -> str:
        """Why the folder is not the wanted one, for people; otherwise empty."""
        return "" if self.folder == self.wanted else taken(self.wanted, self.identity)


def destination_of(wanted: Path, file: Path, identity: dict[str, str], *, is_asked_for: bool) -> Destination:
    """Chooses the folder for results of `file`: `wanted`, or a new one if that holds different results.

    An explicitly requested folder is always taken; the writer then refuses to replace foreign files.
    """
    of = of_file(identity, file, wanted)
    folders = [wanted] if is_asked_for else list(_folders(wanted, file, of[FILE]))
    held = {folder: manifest.identity for folder in folders if (manifest := read_manifest(folder)) is not None}
    # Results stay in the folder they already have, even if `wanted` has become free.
    ours = [folder for folder in folders if folder in held and is_of(held[folder], of)]
    free = [folder for folder in folders if folder not in held]
    return Destination((*ours, *free, wanted)[0], of, wanted)


def of_file(identity: dict[str, str], file: Path, folder: Path) -> dict[str, str]:
    """Identity of results in a folder, with the file they are made from."""
    return {**identity, FILE: _name_of(file, folder.parent)}


def taken(folder: Path, wanted: dict[str, str]) -> str:
    """Describes different results in a folder, for people; empty if there are none."""
    manifest = read_manifest(folder)
    if manifest is None or is_of(manifest.identity, wanted):
        return ""
    file = manifest.identity.get(FILE, "")
    if not file or file == wanted.get(FILE):
        return f"{folder} holds results of something else"
    shown = file if file.startswith(_OWN) else os.path.relpath(folder.parent / file)
    return f"{folder} holds results of {shown}"


def _folders(wanted: Path, file: Path, name: str) -> Iterator[Path]:
    """Candidate folders: by name, with the file's name, and with a hash of its path."""
    yield wanted
    stem = _NOT_IN_NAMES.sub("-", file.stem).strip(".-")
    if stem not in ("", wanted.name):
        yield wanted.with_name(f"{wanted.name}-{stem}")
    yield wanted.with_name(f"{wanted.name}-{hashlib.sha256(name.encode()).hexdigest()[:8]}")


def _name_of(file: Path, folder: Path) -> str:
    resolved = file.resolve()
    if resolved.is_relative_to(EXPERIMENTS):
        return f"{_OWN}{resolved.relative_to(EXPERIMENTS)}"
    return os.path.relpath(resolved, folder.resolve())
