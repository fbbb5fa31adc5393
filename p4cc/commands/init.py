"""`p4cc init`: a scenario to start from, with a comment on each of its fields."""

from __future__ import annotations

import difflib
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

TEMPLATES = Path(__file__).resolve().parents[1] / "templates"
_NAME = re.compile(r"^name: .*$", re.MULTILINE)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("init")(init)


def kinds() -> list[str]:
    """Names of the templates."""
    return sorted(path.stem for path in TEMPLATES.glob("*.yaml"))


def init(
    kind: Annotated[
        str | None,
        typer.Argument(help="Which scenario, or a file to import (p4cc import); all are listed without it."),
    ] = None,
    file: Annotated[Path | None, typer.Argument(help="File to write; KIND.yaml here if not given.")] = None,
    programs: Annotated[
        list[Path] | None,
        typer.Option("--program", help="P4 source for the switches that name it, or for all; with a topology file."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")] = False,
    hosts: Annotated[int | None, typer.Option(help="Hosts of a leaf-spine network (16).")] = None,
    rate: Annotated[str | None, typer.Option(help="Rate of their links (100G).")] = None,
    rtt: Annotated[str | None, typer.Option(help="Round trip between their leaves, without queues (8us).")] = None,
    load: Annotated[float | None, typer.Option(help="Share of the links that payload takes (0.5).")] = None,
    cdf: Annotated[
        str | None, typer.Option(help="Sizes of flows: websearch, fb-hadoop, ali-storage, google-rpc, or a file.")
    ] = None,
    senders: Annotated[
        str | None, typer.Option(help="Algorithms to compare, all over one transport (dctcp,hpcc,swift).")
    ] = None,
) -> None:
    """Write a working scenario with every field explained, to start from.

    Options instead of a name describe the scenario. Senders are never compared over different transports: together
    with paced senders, dctcp and prague run in their paced form.

    Examples:

    * `p4cc init`: lists the scenarios
    * `p4cc init incast`
    * `p4cc init leaf-spine my-fabric.yaml`
    * `p4cc init --hosts 64 --rate 100G --load 0.6 --cdf websearch --senders dctcp,hpcc,swift mine.yaml`
    * `p4cc init exercises/ecn/topology.json my-ecn.yaml --program solution/ecn.p4`
    """
    wished = {"hosts": hosts, "rate": rate, "rtt": rtt, "load": load, "cdf": cdf, "senders": senders}
    given = {name: value for name, value in wished.items() if value is not None}
    if given:
        _init_wish(kind, file, given, force=force)
        return
    if kind is None:
        for name in kinds():
            typer.echo(f"{name:<12}{_first_comment(_text(name))}")
        typer.echo("\nnext: p4cc init NAME")
        return
    if kind.endswith((".json", ".txt", ".topo", ".cm", ".csv", ".parquet")):
        import_file(Path(kind), file, programs or (), force=force)
        return
    if programs:
        raise UserError("is for topology files", place="--program", remedy="set switch.program in the scenario")
    if kind not in kinds():
        close = difflib.get_close_matches(kind.replace("_", "-"), kinds(), n=1)
        remedy = f"did you mean {close[0]!r}?" if close else f"scenarios: {', '.join(kinds())}"
        raise UserError(f"no scenario {kind!r} to start from", place="p4cc init", remedy=remedy)
    path = file or Path(f"{kind}.yaml")
    text = _NAME.sub(f"name: {_name(path)}", _text(kind), count=1)
    _write(path, text, force=force, is_lab=kind == "lab")


def import_file(
    source: Path,
    file: Path | None,
    programs: Sequence[Path],
    *,
    force: bool,
    topology: Path | None = None,
    ranks: Sequence[str] = (),
    groups: Path | None = None,
) -> None:
    """Writes the scenario that another tool's file describes, and says what is not in it; raises UserError."""
    # Readers take a while to import; templates need not wait for them.
    from p4cc.planning.foreign import HPCC_CONFIG, LAB, ImportOptions, identify, import_foreign
    from p4cc.planning.imported import name_of_import, place_near, text_of

    kind = identify(source)
    if programs and kind != LAB:
        raise UserError("is for topology files", place="--program", remedy="set switch.program in the scenario")
    for option, value in (("--topology", topology), ("--ranks", ranks), ("--groups", groups)):
        if value and kind in (LAB, HPCC_CONFIG):
            raise UserError(f"is for flow files, and {source} is {kind.what}", place=option, remedy="leave it out")
    if kind == LAB:
        path = file or Path(f"{name_of_import(source)}.yaml")
        text = text_of(source, programs, path.parent)
    elif kind == HPCC_CONFIG:
        from p4cc.planning.hpcc_config import import_config

        path = file or Path(f"{source.stem}.yaml")
        imported = import_config(source, lambda named: place_near(named, path.parent))
        if imported.remarks:
            typer.echo(f"{len(imported.remarks)} keys have no field; {path} lists them with the reasons")
        text = imported.text()
    else:
        path = file or Path(f"{source.stem}.yaml")
        options = ImportOptions(topology, tuple(ranks), groups)
        text = import_foreign(source, options, lambda named: place_near(named, path.parent)).text()
    _write(path, _NAME.sub(f"name: {_name(path)}", text, count=1), force=force)


def _init_wish(kind: str | None, file: Path | None, given: dict[str, Any], *, force: bool) -> None:
    """Writes the scenario that options describe; the first word is the file then."""
    # The engine's registry takes a while to load; templates need not wait for it.
    from p4cc.planning.sketch import Wish, sketch

    if file is not None or kind in kinds():
        remedy = "name the file alone, or leave the options out"
        raise UserError(f"options describe a scenario, and {kind} is another", place="p4cc init", remedy=remedy)
    path = Path(kind or "scenario.yaml")
    _write(path, sketch(Wish(**given), _name(path)), force=force)


def _write(path: Path, text: str, *, force: bool, is_lab: bool = False) -> None:
    """Writes the file and says what is next; raises UserError where something is in its place."""
    if path.is_dir():
        raise UserError("cannot write the scenario: it is a folder", place=str(path), remedy="name a file in it")
    try:
        # "x" makes the file or fails, so nothing that was there before can be lost.
        with path.open("w" if force else "x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        remedy = "name another file, or replace it with --force"
        raise UserError("there is such a file already; it was left as it is", place=str(path), remedy=remedy) from None
    except OSError as error:
        remedy = "name a file in a folder that exists and can be written to"
        raise UserError(f"cannot write the scenario: {error.strerror}", place=str(path), remedy=remedy) from error
    command = f"sudo {shlex.quote(_this_program())} lab" if is_lab else "p4cc run"
    typer.echo(f"wrote {path}\nnext: {command} {shlex.quote(str(path))}")


def _this_program() -> str:
    """The command for root, who does not have the user's PATH."""
    found = Path(sys.executable).with_name("p4cc")
    return str(found) if found.is_file() else "p4cc"


def _text(kind: str) -> str:
    return (TEMPLATES / f"{kind}.yaml").read_text(encoding="utf-8")


def _first_comment(text: str) -> str:
    return text.partition("\n")[0].removeprefix("#").strip()


def _name(path: Path) -> str:
    """The scenario's name after its file's, as far as names of scenarios go."""
    # Reading YAML takes a while to import; other commands need not wait for it.
    from p4cc.scenario.yaml import name_of

    name = name_of(path)
    # A lab's files go to results/lab/NAME, so results of a run must not be in results/lab.
    return "lab-star" if name == "lab" else name
