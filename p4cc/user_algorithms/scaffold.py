"""Files of `p4cc new algorithm`: the class, a scenario that compares it, a test."""

from __future__ import annotations

import re
from pathlib import Path

from p4cc.errors import UserError

KINDS = ("window", "slow-start", "rate", "receiver")
_TEMPLATES = Path(__file__).resolve().parents[1] / "templates" / "algorithm"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}")


def files_of(name: str, kind: str, folder: Path) -> dict[Path, str]:
    """Paths and texts of a new algorithm; raises UserError for an invalid name."""
    if _NAME.fullmatch(name) is None:
        remedy = "use up to 32 letters, digits and _, starting with a letter"
        raise UserError(f"{name!r} is not a valid class name", place="p4cc new algorithm", remedy=remedy)
    stem, class_name = name.lower(), "".join(part[:1].upper() + part[1:] for part in name.split("_"))

    def filled(file: str) -> str:
        text = (_TEMPLATES / file).read_text(encoding="utf-8")
        return text.replace("CLASS", class_name).replace("STEM", stem)

    return {
        folder / f"{stem}.py": filled(f"{kind}.py.txt"),
        folder / f"{stem}.yaml": filled(f"{kind}.yaml.txt"),
        folder / f"test_{stem}.py": filled("test.py.txt"),
    }


def write(files: dict[Path, str]) -> None:
    """Writes all files or none; raises UserError if one exists."""
    for path in files:
        if path.exists():
            raise UserError("already exists", place=str(path), remedy="choose another name or folder")
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # "x" creates the file or fails, so existing files are never lost.
            with path.open("x", encoding="utf-8") as out:
                out.write(text)
        except OSError as error:
            raise UserError(
                f"cannot write: {error.strerror}", place=str(path), remedy="choose another folder"
            ) from error
