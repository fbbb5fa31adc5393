"""Files that a scenario names: beside the scenario, in the working folder, or in the project."""

from __future__ import annotations

from pathlib import Path

from p4cc.errors import UserError


def find_named(name: str, scenario: Path, *, what: str, key: str) -> Path:
    """The file `name` of the scenario's field `key`; raises UserError with the places looked at."""
    project = Path(__file__).resolve().parents[1]
    tried = [folder / name for folder in (scenario.resolve().parent, Path.cwd(), project)]
    for path in tried:
        if path.is_file():
            return path
    raise UserError(
        f"no {what} {name!r}",
        place=f"{scenario} at {key}",
        remedy=f"looked for {', '.join(str(path) for path in dict.fromkeys(tried))}",
    )
