"""The runs: settings, how to repeat them, and warnings."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from p4cc.digits import digits
from p4cc.json_data import items, mapping, number
from p4cc.report.document import Code, Column, Facts, Table, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p4cc.json_data import JsonObject, JsonValue
    from p4cc.report.document import Block
    from p4cc.report.folders import RunFolder
    from p4cc.report.runs import Runs

_MAX_VALUES = 40
"""Limit of listed values of a sweep, or of seeds."""


def warnings(runs: Runs) -> list[Block]:
    """Warnings of the runs, and runs that did not finish."""
    result: list[Block] = []
    for place, folder in enumerate(runs.folders):
        letter = f"{runs.letter(place)}: " if runs.letter(place) else ""
        texts = [str(warning) for warning in items(folder.plain.get("warnings"))]
        result += [Text(f"{letter}{text}", "warning") for text in [*texts, *_outcomes(folder)]]
    if not any(row.get("flows_finite") for row in runs.numbers.values()):
        result.append(Text("No flow of these runs has an end: there are no completion times.", "note"))
    return result


def _outcomes(folder: RunFolder) -> Iterator[str]:
    """Numbers of runs that did not complete all flows, and of rows left out of records."""
    rows = folder.results.runs
    for outcome, said in (
        ("deadlock", "ended in a deadlock of pauses"),
        ("stalled", "stalled: no data moved any more"),
        ("not finished", "reached their end before all flows were complete"),
    ):
        count = sum(row.get("outcome") == outcome for row in rows)
        if count:
            yield f"{count} of {len(rows)} runs {said}."
    if left := sum(int(number(row.get("rows_left_out")) or 0) for row in rows):
        yield f"{left:,} rows of records were left out: the tables had reached their limit."
    if chosen := folder.results.run.variants_chosen:
        yield f"Only these variants were run: {', '.join(chosen)}."


def blocks(folder: RunFolder) -> list[Block]:
    """Facts, senders, how to repeat the runs, and their scenario."""
    return [_facts(folder), _senders(folder), *_repeat(folder), *_scenario(folder)]


def _facts(folder: RunFolder) -> Facts:
    plain, run = folder.plain, folder.results.run
    scenario = run.scenario.model_dump()
    p4cc, host = run.p4cc, mapping(plain.get("host"))
    rows = [
        ("scenario", f"{run.scenario.name} ({plain.get('scenario_file', 'file not known')})"),
        ("source", str(scenario.get("source") or "")),
        ("topology", _topology(scenario["topology"])),
        ("P4 program", ", ".join(dict.fromkeys(case.program for case in run.cases))),
        ("thresholds", _thresholds(folder)),
        ("sweep", "; ".join(f"{path}: {_some(values)}" for path, values in run.scenario.sweep.items())),
        ("seeds", _some(run.seeds)),
        ("runs", f"{len(folder.results.runs)}, each until all flows are complete or {_ms(scenario.get('stop_ns'))}"),
        ("changes", " ".join(f"--set {one}" for one in items(plain.get("set")))),
        ("p4cc", " ".join(filter(None, [p4cc.get("version"), _commit(p4cc.get("commit"))]))),
        ("engine", f"SHA-256 {p4cc.get('engine_sha256')}" if p4cc.get("engine_sha256") else ""),
        ("machine", ", ".join(str(one) for one in (host.get("system"), _processors(host)) if one)),
        ("started", f"{plain.get('started', '')}, {plain.get('duration_s', '?')} s"),
    ]
    return Facts([(name, text) for name, text in rows if text])


def _topology(topology: JsonObject) -> str:
    return ", ".join(f"{name} {value}" for name, value in topology.items() if isinstance(value, str | int | float))


def _thresholds(folder: RunFolder) -> str:
    matches = {
        f"K {one.k_pkts}, K_dc {one.k_dc_pkts} packets"
        for case in folder.results.run.cases
        for one in case.installed
        if one.k_pkts is not None or one.k_dc_pkts is not None
    }
    return "; ".join(sorted(matches)).replace("None", "none")


def _commit(commit: str | None) -> str:
    return f"(commit {commit})" if commit else ""


def _processors(host: JsonObject) -> str:
    return f"{host['processors']} processors" if host.get("processors") else ""


def _ms(value: JsonValue) -> str:
    return f"{digits(value / 1e6, 6)} ms have passed" if isinstance(value, int | float) else "the end"


def _some(values: Sequence[object]) -> str:
    shown = ", ".join(str(one) for one in values[:_MAX_VALUES])
    return shown + (f", ... ({len(values)} in all)" if len(values) > _MAX_VALUES else "")


def _senders(folder: RunFolder) -> Table:
    """The algorithms of each variant with all their parameters."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for case in folder.results.run.cases:
        for kind, one in case.algorithms.items():
            parameters = ", ".join(f"{name}={value}" for name, value in one.items() if name != "name")
            row = [case.variant, kind.replace("_", " "), str(one.get("name")), parameters, case.program]
            rows.setdefault((case.variant, kind, parameters), row)
    labels = ("variant", "kind", "algorithm", "parameters", "P4 program")
    return Table(
        "Senders", [Column(label, numeric=False) for label in labels], list(rows.values()), "As resolved for the runs."
    )


def _repeat(folder: RunFolder) -> list[Block]:
    command = [str(one) for one in items(folder.plain.get("command"))]
    lines = ["# What was run", shlex.join(command)] if command else []
    lines += [
        "# Repeat it and compare every table byte by byte",
        f"p4cc run --again {shlex.quote(folder.shown)}",
    ]
    return [Code("\n".join(lines), "How to repeat it")]


def _scenario(folder: RunFolder) -> list[Block]:
    path = folder.folder / "scenario.json"
    try:
        scenario = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return [Text("scenario.json is missing from the folder, or cannot be read.", "warning")]
    return [Code(json.dumps(scenario, indent=1, ensure_ascii=False), "The scenario as it was run", folded=True)]
