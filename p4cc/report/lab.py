"""Reports of labs, from `lab.json`."""

from __future__ import annotations

import base64
import json
import shlex
from typing import TYPE_CHECKING

import polars as pl

from p4cc.digits import digits
from p4cc.figures.chart import Axis
from p4cc.json_data import items, mapping, number
from p4cc.lab.compare import FIGURE
from p4cc.report.document import Code, Column, Document, Facts, Image, Section, Series, Table, Text
from p4cc.report.flows import cdf_panel
from p4cc.report.interactive import block
from p4cc.report.reduce import short
from p4cc.report.runs import Key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.json_data import JsonObject, JsonValue
    from p4cc.report.document import Block, Cell
    from p4cc.report.folders import LabComparison, LabFolder

MAX_ROWS = 1_500
"""Limit of rows in each table."""
_NO_AGENTS = "No agents ran (--no-agents), or the lab ended before they did: there are no flows."
_NO_PORTS = "The switches' own counters were not read: the lab ended before its flows did, or none ran."


def document(folder: LabFolder) -> Document:
    """The report of one lab."""
    plain = folder.plain
    lab = mapping(plain.get("lab"))
    name = str(lab.get("variant") or "lab")
    flows = _frame(plain.get("flows"))
    sections = [
        Section("notes", "Warnings and notes", _notes(folder)),
        Section("what", "What was run", [*_what(folder), _table("Switches", plain.get("switches"), _SWITCHES)]),
        Section("summary", "Summary", _summary(plain)),
        Section("flows", "Flows", _flows(flows)),
        Section("ports", "Marks and thresholds by port", _rows("Ports", plain.get("ports"), _NO_PORTS)),
        Section("lines", "Lines in hosts and faults", _lines(plain)),
    ]
    shown = [one for one in sections if one.blocks]
    return Document(
        f"Lab: {lab.get('file', folder.shown)}", _subtitle(plain), shown, [Series(name, name, 0)], [""], [0]
    )


def comparison(folder: LabComparison) -> Document:
    """The report of `p4cc lab --compare`: virtual time and lab."""
    blocks: list[Block] = [*_rows("Virtual time and lab", folder.rows, "No variant was run.")]
    picture = folder.folder / FIGURE
    if picture.is_file():
        address = f"data:image/png;base64,{base64.b64encode(picture.read_bytes()).decode('ascii')}"
        blocks.append(
            Image("Queues and windows", "As the lab drew it: each variant in virtual time and in the lab.", address)
        )
    blocks.append(Text("Each variant's lab has its folder, with a report, inside this one.", "note"))
    return Document(
        f"Lab comparison: {folder.shown}", "one machine, one case", [Section("beside", "Side by side", blocks)]
    )


_SWITCHES = ("switch", "address", "thrift_port", "device_id", "log")


def _subtitle(plain: JsonObject) -> str:
    return f"real packets on one machine, started {plain.get('started', 'at an unknown time')}"


def _notes(folder: LabFolder) -> list[Block]:
    plain = folder.plain
    notes: list[Block] = []
    if plain.get("ended") is None:
        under_way = " Or it is still in progress." if folder.is_under_way else ""
        notes.append(Text(f"This lab has no end: it was killed, and its results are incomplete.{under_way}", "warning"))
    else:
        notes.append(Text(f"How it ended: {plain['ended']}.", "note" if plain.get("ok") else "warning"))
    for name in ("failed", "restarts", "warnings"):
        notes += [Text(str(one), "warning") for one in items(plain.get(name))]
    return notes


def _what(folder: LabFolder) -> list[Block]:
    plain = folder.plain
    lab, p4cc, host = (mapping(plain.get(name)) for name in ("lab", "p4cc", "host"))
    rows = [(name, _text(value)) for name, value in lab.items() if value not in (None, [], {}, "", False)]
    rows += [
        ("p4cc", " ".join(str(p4cc[name]) for name in ("version", "commit") if p4cc.get(name))),
        ("machine", str(host.get("system", ""))),
        ("started", f"{plain.get('started', '')}, {plain.get('duration_s', '?')} s"),
        ("up after", f"{digits(number(plain.get('up_s')) or 0)} s, from the first interface to the last table entry"),
    ]
    command = [str(one) for one in items(plain.get("command"))]
    return [
        Facts([(name, text) for name, text in rows if text]),
        Code(shlex.join(command), "How to repeat it, as root"),
    ]


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _summary(plain: JsonObject) -> list[Block]:
    numbers = mapping(plain.get("summary"))
    rows = [[name, _cell(value)] for name, value in numbers.items() if value is not None]
    if not rows:
        return [Text(_NO_AGENTS, "why")]
    columns = [Column("number", numeric=False), Column("value")]
    return [Table("Numbers of the agents", columns, rows, "One run in real time: there is no spread over seeds.")]


def _flows(flows: pl.DataFrame) -> list[Block]:
    if flows.is_empty():
        return [Text(_NO_AGENTS, "why")]
    blocks: list[Block] = []
    if "fct_ns" in flows.columns and flows["fct_ns"].count():
        panel = cdf_panel(["flows"], {Key(0, 0, 0): flows}, "fct_ns", 1e-6, 400, Axis("completion time", "ms"))
        blocks.append(block("Completion times", "Share of flows that completed within a time.", [panel]))
    else:
        blocks.append(Text("No flow finished: there are no completion times.", "why"))
    return [*blocks, *_rows("Flows", flows.to_dicts(), _NO_AGENTS)]


def _lines(plain: JsonObject) -> list[Block]:
    lines: list[Block] = []
    for title, name in (("Lines in hosts (--run)", "commands"), ("Faults", "faults")):
        if items(plain.get(name)):
            lines += _rows(title, plain.get(name), "")
    return lines


def _frame(value: JsonValue) -> pl.DataFrame:
    rows = [mapping(one) for one in items(value)]
    return pl.DataFrame(rows, infer_schema_length=None) if rows else pl.DataFrame()


def _rows(title: str, value: JsonValue, why: str) -> list[Block]:
    rows = [mapping(one) for one in items(value)]
    return (
        [_table(title, rows, list(dict.fromkeys(name for row in rows for name in row)))] if rows else [Text(why, "why")]
    )


def _table(title: str, value: JsonValue, names: Sequence[str]) -> Table:
    rows = [mapping(one) for one in items(value)]
    shown = rows[:MAX_ROWS]
    left = f"{len(rows) - len(shown):,} rows are left out here; lab.json has them." if len(rows) > len(shown) else ""
    values = {name: [row.get(name) for row in rows if row.get(name) is not None] for name in names}
    numeric = {name: bool(of) and all(isinstance(one, int | float) for one in of) for name, of in values.items()}
    columns = [Column(name, numeric[name]) for name in names]
    return Table(title, columns, [[_cell(row.get(name)) for name in names] for row in shown], left)


def _cell(value: JsonValue) -> Cell:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return short(value)
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
