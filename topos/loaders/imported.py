"""A topology file of another tool: told apart by its keys, loaded into a lab."""

from dataclasses import dataclass
from pathlib import Path

from topos.errors import fail
from topos.lab import LabNetwork
from topos.loaders import p4utils, tutorials
from topos.loaders.reading import as_object, read_json


@dataclass(frozen=True)
class Imported:
    """A lab from a file: the network, the folder its paths start from, and what was left out."""

    network: LabNetwork
    folder: Path
    program: str | None
    """The program of every switch that names none, where the file has one."""
    warnings: tuple[str, ...]


def load_lab(path: Path) -> Imported:
    """Read `topology.json` of the P4 tutorials or `p4app.json` of p4-utils; raises TopologyError.

    Their makefiles run in the exercise's folder, which may be the one above the file: paths start from the first of the
    file's folder and its parent that holds what the switches name.
    """
    data = as_object(read_json(path), str(path))
    if "topology" in data:
        network, program, warnings = p4utils.network(data)
    elif {"hosts", "switches", "links"} <= set(data):
        network, warnings = tutorials.network(data)
        program = None
    else:
        remedy = "give a tutorials' topology.json (hosts, switches, links) or a p4-utils p4app.json (topology)"
        raise fail(str(path), "is neither kind of topology file", remedy)
    named = [name for switch in network.switches for name in (switch.runtime, switch.commands) if name]
    parent = path.resolve().parent
    folder = next((base for base in (parent, parent.parent) if all((base / name).is_file() for name in named)), parent)
    return Imported(network, folder, program, warnings)


def inside(folder: Path, name: str) -> Path:
    """The file `name` of an import, which must lie in its folder; raises TopologyError.

    A topology file is often somebody else's, and labs run as root: it may not point elsewhere.
    """
    try:
        path = (folder / name).resolve()
    except (OSError, ValueError, RuntimeError):
        raise fail(repr(name), "is not a path", "name a file") from None
    if not path.is_relative_to(folder.resolve()):
        raise fail(name, f"lies outside of {folder}", "copy the file into the lab's folder")
    return path
