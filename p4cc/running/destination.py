"""Which folder results go to: results that another file made, or other settings, are not replaced unasked."""

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
"""In front of the names of p4cc's own experiments, which are at other places for other users."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class Destination:
    """Where results go, and what they are of."""

    folder: Path
    identity: dict[str, str]
    wanted: Path
    """The folder that they have by their name; another one where that holds results of something else."""

    @property
    def aside(self) -> str:
        """Why the folder is not the wanted one, for people; empty where it is."""
        return "" if self.folder == self.wanted else taken(self.wanted, self.identity)


def destination_of(wanted: Path, file: Path, identity: dict[str, str], *, is_asked_for: bool) -> Destination:
    """The folder for results of `file`: `wanted`, or one of its own where that holds results of something else.

    A folder that is asked for is taken as it is; whoever writes refuses what must not be replaced.
    """
    of = of_file(identity, file, wanted)
    folders = [wanted] if is_asked_for else list(_folders(wanted, file, of[FILE]))
    held = {folder: manifest.identity for folder in folders if (manifest := read_manifest(folder)) is not None}
    # Where these results are already, they stay, whatever became free since.
    ours = [folder for folder in folders if folder in held and is_of(held[folder], of)]
    free = [folder for folder in folders if folder not in held]
    return Destination((*ours, *free, wanted)[0], of, wanted)


def of_file(identity: dict[str, str], file: Path, folder: Path) -> dict[str, str]:
    """An identity of results in a folder, with the file that they are made of."""
    return {**identity, FILE: _name_of(file, folder.parent)}


def taken(folder: Path, wanted: dict[str, str]) -> str:
    """What a folder holds that is not what is wanted, for people; empty where it holds nothing else."""
    manifest = read_manifest(folder)
    if manifest is None or is_of(manifest.identity, wanted):
        return ""
    file = manifest.identity.get(FILE, "")
    if not file or file == wanted.get(FILE):
        return f"{folder} holds results of something else"
    shown = file if file.startswith(_OWN) else os.path.relpath(folder.parent / file)
    return f"{folder} holds results of {shown}"


def _folders(wanted: Path, file: Path, name: str) -> Iterator[Path]:
    """The folders to choose from: by name, with the file's name, and with a hash of its path."""
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
