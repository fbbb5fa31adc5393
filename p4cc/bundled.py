"""What p4cc brings along: its P4 programs and experiments.

In the repository `p4src` and `experiments` in `p4cc/data` are links to the top folders; a wheel has the files
themselves. So both are found at one place, and nothing looks for a checkout around the package.
"""

from __future__ import annotations

from pathlib import Path

from p4cc.errors import UserError

FOLDER = Path(__file__).resolve().parent / "data"
EXPERIMENTS = (FOLDER / "experiments").resolve()
P4SRC = (FOLDER / "p4src").resolve()
PROGRAMS = P4SRC / "v1model"
"""Top programs. As a folder for `#include` it gives a program elsewhere `../include/headers.p4`, as these write it."""
LIBRARY = P4SRC / "library"
"""For `#include <p4cc/...>`: each control and each file of types under its name, for any compiler."""

_SCENARIO = ".yaml"
_NO_SCENARIO = frozenset({"reproduce.yaml"})


def bundled(name: Path) -> Path | None:
    """The file that p4cc brings under a name such as `p4src/v1model/ecn_dual.p4`; None if there is none."""
    if name.is_absolute() or ".." in name.parts or name.parts[:1] not in (("p4src",), ("experiments",)):
        return None
    path = {"p4src": P4SRC, "experiments": EXPERIMENTS}[name.parts[0]].joinpath(*name.parts[1:])
    return path if path.is_file() else None


def is_builtin_file(path: Path) -> bool:
    """Whether a P4 program is one that p4cc brings."""
    return path.resolve().is_relative_to(P4SRC)


def experiments() -> list[str]:
    """Names of the bundled scenarios, such as `gst/incast`, in order."""
    files = sorted(EXPERIMENTS.glob(f"*/*{_SCENARIO}"))
    return [f"{path.parent.name}/{path.stem}" for path in files if path.name not in _NO_SCENARIO]


def find_program(program: Path) -> Path:
    """`program` if there is such a file, else the one that p4cc brings, else `program` for the caller to refuse."""
    return program if program.exists() else bundled(program) or program


def find_scenario(name: str | Path) -> Path:
    """The scenario file `name` if there is one, else the experiment of this name.

    `gst/incast`, `gst/incast.yaml` and `experiments/gst/incast.yaml` name one experiment. Raises UserError where there
    is neither, with the experiments that come nearest.
    """
    scenario = Path(name)
    if scenario.exists():
        return scenario
    with_suffix = scenario if scenario.suffix == _SCENARIO else scenario.with_name(f"{scenario.name}{_SCENARIO}")
    for place in (with_suffix, Path("experiments") / with_suffix):
        if (result := bundled(place)) is not None:
            return result
    raise UserError("the scenario does not exist", place=str(scenario), remedy=_remedy(scenario))


def _remedy(scenario: Path) -> str:
    known = experiments()
    near = [name for name in known if name.split("/")[0] in scenario.parts]
    near = near or [name for name in known if name.split("/")[1] == scenario.stem]
    if near:
        return f"give the path of a YAML file, or a bundled experiment: {', '.join(near)}"
    folders = ", ".join(dict.fromkeys(name.split("/")[0] for name in known))
    return f"give the path of a YAML file, or a bundled experiment such as gst/incast (others in {folders})"
