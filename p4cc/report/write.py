"""Writes a report next to its results and lists it there; replaces only files that p4cc wrote."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.report.build import build
from p4cc.report.folders import read_folder
from p4cc.report.page import GENERATOR, render
from p4cc.running.result_folder import MANIFEST, REPORT, add_file

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD_BYTES = 512


def report_text(folders: Sequence[Path]) -> str:
    """The report of these folders; raises UserError."""
    return render(build([read_folder(folder) for folder in folders]))


def report_of(folder: Path, shown: str) -> str:
    """The report of one folder, under the name that the reader knows; raises UserError."""
    return render(build([read_folder(folder, shown)]))


def write_report(folders: Sequence[Path], out: Path | None, *, force: bool = False) -> Path:
    """Writes the report and returns its path; raises UserError for unreadable folders, or a foreign file in its place.

    Without `out`, the report of one folder is written to that folder and listed there; the report of several folders
    is written to the working folder.
    """
    text = report_text(folders)
    if out is None and len(folders) == 1 and (folders[0] / MANIFEST).exists():
        add_file(folders[0], REPORT, text.encode(), force=force)
        return folders[0] / REPORT
    path = out or (folders[0] / REPORT if len(folders) == 1 else Path(REPORT))
    if not force and os.path.lexists(path) and not _is_ours(path):
        cause = "already exists, and is not a report of p4cc"
        raise UserError(cause, place=str(path), remedy="give another file with -o, or replace it with --force")
    _put(path, text)
    return path


def _is_ours(path: Path) -> bool:
    """Whether a file begins like a report."""
    try:
        with path.open("rb") as file:
            return GENERATOR.encode() in file.read(_HEAD_BYTES)
    except OSError:
        return False


def _put(path: Path, text: str) -> None:
    """Writes the file atomically."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        cause = f"cannot write the report: {error.strerror or error}"
        raise UserError(cause, place=str(path), remedy="give another file with -o") from error
