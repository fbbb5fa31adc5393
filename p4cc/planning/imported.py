"""Programs and entries of switches in another tool's topology file, and a scenario made of it.

`p4cc run --import` and `p4cc lab --import` read such files alike.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from controller.files.switch_cli import parse, read_commands
from controller.files.tutorial_runtime import read_runtime
from controller.written import NOTHING, Written
from p4cc.errors import UserError
from p4cc.scenario.yaml import name_of
from topos import TopologyError
from topos.loaders import load_lab
from topos.loaders.imported import Imported, inside
from topos.loaders.reading import parse_json, read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from p4cc.json_data import JsonObject
    from topos.lab import LabSwitch


# The tutorials keep `topology.json` one folder below the exercise, as others do with their solutions.
_BELOW = ("solution", "p4runtime", "thrift")
_COMMENTS = {
    "name": "The network of another tool's topology file. Results go to results/NAME.",
    "topology": "\nNames, ports, addresses, rates and delays come from the file. rate_bps, delay_ns "
    "and\nqueue_capacity_pkts apply to links without them in the file; link_changes overrides some "
    "links.",
    "switch": "\nPrograms and entries that the file names; without entries, p4cc detects the route table.",
    "traffic": "\nEach host sends to the next one.",
    "variants": "\nThe sender's algorithm; `p4cc algorithms` lists all.",
    "stop_ns": "\nLatest end of a run.",
}


@dataclass(frozen=True)
class NamedProgram:
    """A program of an import: source, or compiled with its P4Info."""

    source: Path
    p4info: Path | None = None


def name_of_import(file: Path) -> str:
    """The folder of the exercise that a topology file belongs to."""
    folder = file.resolve().parent
    if folder.name.endswith("-topo") or folder.name in _BELOW:
        folder = folder.parent
    return folder.name or file.stem


def scenario_of(file: Path, given: Sequence[Path] = (), near: Path | None = None) -> JsonObject:
    """A scenario that runs the network of a topology file, as a plain document; raises UserError, TopologyError.

    Programs are the ones that the file names, or `given` in place of them. Entries are those of its runtime and
    command files; routes are found where it has none. Each host sends to the next, so that every one sends and
    receives. Files in the folder `near` are named relative to it.
    """

    def place(path: Path) -> str:
        return place_near(path, near)

    imported = load_lab(file)
    programs = programs_of(imported, given)
    switches = [switch.name for switch in imported.network.switches]
    if missing := [name for name in switches if name not in programs]:
        cause = f"the file does not name a program for {', '.join(missing[:10])}"
        raise UserError(cause, place=str(file), remedy="name one with --program FILE.p4")
    hosts = [host.name for host in imported.network.hosts]
    if len(hosts) < 2:
        raise UserError("the topology has fewer than two hosts", place=str(file), remedy="add a host")
    entries = [
        {"switch": switch.name, "file": place(inside(imported.folder, name))}
        for switch in imported.network.switches
        for name in (switch.runtime, switch.commands)
        if name is not None
    ]
    sources = {name: _settings(program, place) for name, program in programs.items()}
    name = name_of_import(file)
    stems = {program.source.stem for program in programs.values()}
    if given and stems != {name}:
        name = "-".join((name, *sorted(stems)))
    common = max(sources.values(), key=list(sources.values()).count)
    others = [{"switch": name, **source} for name, source in sources.items() if source != common]
    return {
        "name": name_of(Path(f"{name}.yaml")),
        "title": f"{name}: each host sends 1 MB to the next",
        "topology": {
            "kind": "import",
            "file": place(file),
            "rate_bps": 10_000_000_000,
            "delay_ns": 1_000,
            "queue_capacity_pkts": 64,
        },
        "switch": {
            **common,
            **({"programs": others} if others else {}),
            **({"entries": entries, "routes": "none"} if entries else {}),
        },
        "traffic": {
            "kind": "bulk",
            "sources": hosts,
            "destinations": [*hosts[1:], hosts[0]],
            "size_bytes": 1_000_000,
        },
        "variants": [{"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}],
        "stop_ns": 60_000_000_000,
        "record": {"windows_interval_ns": None, "queues_interval_ns": None},
    }


def explained(file: Path, given: Sequence[Path], near: Path | None = None) -> JsonObject:
    """`scenario_of`; raises UserError alone."""
    try:
        return scenario_of(file, given, near)
    except TopologyError as error:
        raise UserError(str(error), place=str(file), remedy="correct the topology file") from error


def write_scenario(file: Path, given: Sequence[Path], folder: Path) -> Path:
    """`scenario_of` as a file in a folder; JSON is YAML. Raises UserError."""
    document = explained(file, given)
    path = folder / f"{document['name']}.yaml"
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return path


def text_of(file: Path, given: Sequence[Path], near: Path) -> str:
    """`scenario_of` as YAML with a comment where each part comes from; raises UserError."""
    return yaml_text(explained(file, given, near), _COMMENTS)


def yaml_text(plain: JsonObject, comments: Mapping[str, str]) -> str:
    """A scenario as YAML with comments before some of its keys."""
    document: Any = CommentedMap(plain)
    document.fa.set_block_style()
    for key, comment in comments.items():
        document.yaml_set_comment_before_after_key(key, before=comment)
    yaml: Any = YAML()
    yaml.width = 120
    yaml.default_flow_style = None
    out = StringIO()
    yaml.dump(document, out)
    return out.getvalue()


def _settings(program: NamedProgram, place: Callable[[Path], str]) -> dict[str, str]:
    return {
        "program": place(program.source),
        **({"p4info": place(program.p4info)} if program.p4info is not None else {}),
    }


def place_near(path: Path, near: Path | None) -> str:
    """How a scenario in the folder `near` names a file: relative to the folder if the file is below it."""
    whole = path.resolve()
    if near is not None and whole.is_relative_to(near.resolve()):
        return str(whole.relative_to(near.resolve()))
    return str(whole)


def written_of(switch: LabSwitch, imported: Imported) -> Written:
    """Runtime file and command file of a switch, as one."""

    def text(name: str) -> str:
        return read_text(inside(imported.folder, name))

    found = NOTHING
    try:
        if switch.runtime is not None:
            found = read_runtime(parse_json(text(switch.runtime), switch.runtime), switch.runtime)
        if switch.commands is not None:
            found = found.joined(read_commands(parse(text(switch.commands), switch.commands)))
    except TopologyError as error:
        raise UserError(str(error), place=switch.name, remedy="correct the file") from error
    return found


def programs_of(imported: Imported, given: Sequence[Path]) -> dict[str, NamedProgram]:
    """The program of every switch that names one: given on the command line, source next to the lab, or compiled."""
    for path in given:
        if not path.is_file():
            raise UserError("the file does not exist", place=f"--program {path}", remedy="give the path of a .p4 file")
    named = {switch.name: _named_program(switch, imported) for switch in imported.network.switches}
    stems = {Path(name).stem for name, _ in filter(None, named.values())}
    by_stem = {path.stem: path for path in given}
    found: dict[str, NamedProgram] = {}
    for switch, name in named.items():
        if name is None:
            if given:
                found[switch] = NamedProgram(given[0])
            continue
        config, p4info = name
        stem = Path(config).stem
        if stem in by_stem:
            found[switch] = NamedProgram(by_stem[stem])
        elif len(given) == 1 and (len(stems) == 1 or not stems & by_stem.keys()):
            found[switch] = NamedProgram(given[0])
        else:
            found[switch] = _beside(imported.folder, config, p4info, switch)
    return found


def _named_program(switch: LabSwitch, imported: Imported) -> tuple[str, str | None] | None:
    """The files' names for the program of a switch: compiled program or source, and P4Info."""
    fixed = written_of(switch, imported)
    name = fixed.device_config or switch.program or imported.program
    return (name, fixed.p4info) if name else None


def _beside(folder: Path, config: str, p4info: str | None, switch: str) -> NamedProgram:
    """The source of the program's name in the lab's folder, or the compiled program at the file's place."""
    stem = Path(config).stem
    source = inside(folder, config if config.endswith(".p4") else f"{stem}.p4")
    if source.is_file():
        return NamedProgram(source)
    if p4info is not None:
        made, info = inside(folder, config), inside(folder, p4info)
        if made.is_file() and info.is_file():
            return NamedProgram(made, info)
    raise UserError(
        f"{folder} contains neither {stem}.p4 nor P4Info for {config}",
        place=switch,
        remedy=f"give the source with --program {stem}.p4",
    )
