"""The folder of a lab: logs, captures and what was sent to switches, each file in the manifest when the lab ends.

A lab removes what the manifest says an earlier lab wrote, and nothing else. What a killed lab left is not in its
manifest: it is set aside, not removed.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from p4cc.running.result_folder import (
    PARTIAL,
    Claim,
    Manifest,
    check_claim,
    digest,
    forget_if_bare,
    lock_folder,
    refuse,
    write_manifest,
)

if TYPE_CHECKING:
    from collections.abc import Generator

OWN = ("agents", "build", "logs", "pcaps")
"""Folders in it that only labs write into."""
REPORTS = ("lab.json", "lab.json.partial")
"""Other files of a lab; a kill may leave the second."""


@contextmanager
def lab_folder(folder: Path, identity: dict[str, str], *, force: bool = False) -> Generator[str]:
    """Holds a folder for one lab and yields where files of a killed lab went, or nothing; raises UserError."""
    with ExitStack() as stack:
        lock_folder(folder, stack)
        before = check_claim(Claim(folder, identity, (), force))
        aside = _set_aside(folder) if before.under_way else ""
        for name in before.owned(folder):
            (folder / name).unlink()
        if foreign := _files(folder):
            refuse(folder, foreign, "was not written by a lab")
        stack.callback(forget_if_bare, folder)
        _write(folder, Manifest(identity, under_way=True))
        stack.callback(_seal, folder, identity)
        yield aside


def _seal(folder: Path, identity: dict[str, str]) -> None:
    names = _files(folder)
    size = sum((folder / name).stat().st_size for name in names)
    _write(folder, Manifest(identity, {name: digest(folder / name) for name in names}, {}, size))


def _files(folder: Path) -> list[str]:
    """Files that are a lab's by their place, by name relative to the folder."""
    matches = [name for name in REPORTS if os.path.lexists(folder / name)]
    for own in OWN:
        for place, _, names in os.walk(folder / own):
            matches += [str((Path(place) / name).relative_to(folder)) for name in names]
    return sorted(matches)


def _set_aside(folder: Path) -> str:
    """Moves the files of a killed lab, and any that were added since, to a separate folder."""
    number = 1
    while os.path.lexists(folder / f"killed-{number}"):
        number += 1
    aside = folder / f"killed-{number}"
    if not _files(folder):
        return ""
    aside.mkdir()
    for own in (*OWN, *REPORTS):
        if os.path.lexists(folder / own):
            (folder / own).replace(aside / own)
    return str(aside)


def _write(folder: Path, manifest: Manifest) -> None:
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", suffix=PARTIAL, dir=folder.parent) as partial:
        write_manifest(folder, Path(partial), manifest)
