"""What people get wrong, as one table: the exit code, a message with place and remedy, and nothing of theirs lost.

Ctrl-C, kill -9 and going on from there, and damaged caches are in test_cli.py and test_cache.py.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.command_line import BARE, p4cc
from tests.p4cc.scenarios import ROOT, scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

RUN = ("run", "mine.yaml", "--out", "out")


@dataclass(frozen=True)
class Mistake:
    """A command, what stands in the folder beside `mine.yaml`, and how it ends."""

    name: str
    words: tuple[str, ...]
    said: tuple[str, ...]
    code: int = 2
    changes: Mapping[str, Any] | None = None
    files: Mapping[str, str] | None = None
    warned: bool = False
    """A warning stands before the message."""
    file_limit_bytes: int | None = None
    """No file may become larger: what a full disk looks like to the program."""


def _set(*assignments: str) -> tuple[str, ...]:
    return (*RUN, *(word for one in assignments for word in ("--set", one)))


PART = "#include <core.p4>\n#include <v1model.p4>\ncontrol c(inout bit<8> x) { apply { x = 1; } }\n"
"""A source that compiles, with a warning: it has no `main`."""
OWN = (
    "#include <core.p4>\ncontrol c(inout bit<8> x) { apply { x = 1; } }\n"
    "control block(inout bit<8> x);\npackage top(block only);\ntop(c()) main;\n"
)
"""A source that compiles, with a warning: its architecture is its own."""
NO_ARCHITECTURE = ("own.p4: architecture `top` is not supported", "remedy: write the program for v1model")
NO_MAIN = ("part.p4: the program has no `main`", "remedy: end it with an instance")

MISTAKES = (
    Mistake("typo in a key", RUN, ("mine.yaml:", "did you mean 'seeds'"), changes={"sedes": [1]}),
    Mistake("typo in --set", _set("topology.sendres=3"), ("--set topology.sendres=3", "did you mean 'senders'")),
    Mistake("a unit of something else", _set("topology.rate_bps=8us"), ("is a time", "25G")),
    Mistake("negative", _set("topology.rate_bps=-1"), ("topology.rate_bps", "greater than 0")),
    Mistake("huge", _set("topology.rate_bps=1e30"), ("topology.rate_bps",)),
    Mistake("not a number", _set("topology.rate_bps=fast"), ("topology.rate_bps", "integer")),
    Mistake("the scenario does not exist", ("run", "yours.yaml"), ("yours.yaml", "remedy")),
    Mistake("a folder for a scenario", ("run", "."), ("remedy",)),
    Mistake("no YAML", ("run", "notes.md"), ("notes.md", "remedy"), files={"notes.md": "a: [1\nb: }"}),
    Mistake("no such program", _set("switch.program=basci.p4"), ("basci.p4", "searched ")),
    Mistake("P4 without main", _set("switch.program=part.p4"), NO_MAIN, files={"part.p4": PART}),
    Mistake(
        "IR of P4 without main", ("compile", "part.p4", "--ir", "-"), NO_MAIN, warned=True, files={"part.p4": PART}
    ),
    Mistake("P4 of its own architecture", _set("switch.program=own.p4"), NO_ARCHITECTURE, files={"own.p4": OWN}),
    Mistake(
        "P4Info of an architecture of its own",
        ("compile", "own.p4", "--p4info", "-"),
        NO_ARCHITECTURE,
        warned=True,
        files={"own.p4": OWN},
    ),
    Mistake(
        "P4 with an error",
        _set("switch.program=bad.p4"),
        ("bad.p4:2", "does not compile"),
        files={"bad.p4": "#include <core.p4>\ncontrol c() { apply { x = 1; } }\n"},
    ),
    Mistake("unknown algorithm", _set("variant=dctpc"), ("unknown algorithm 'dctpc'", "did you mean 'dctcp'")),
    Mistake("unknown variant", (*RUN, "--variant", "DCTPC"), ("no variant", "--variant", "variants: Reno")),
    Mistake(
        "two variants of one name",
        RUN,
        ("mine.yaml", "Reno"),
        changes={"variants": [{"name": "Reno", "congestion_avoidance": {"name": "reno"}}] * 2},
    ),
    Mistake(
        "sender and program do not fit",
        _set("variant=dctcp", "switch.program=" + str(ROOT / "p4src/v1model/ack_priority.p4")),
        ("does not mark", "ecn_dual.p4"),
    ),
    Mistake(
        "paced senders beside windows",
        RUN,
        ("mine.yaml:", "$.variants[0]", "`paced: {kind: rdma}`"),
        changes={"variants": [{"name": "HPCC", "rate_control": {"name": "hpcc"}}]},
    ),
    Mistake(
        "reads of nobody knows how much",
        RUN,
        ("transport", "a reader asks for segments, and their size is not said", "give segment_bytes"),
        changes={
            "transport": {"kind": "rdma", "reads": True},
            "variants": [{"name": "TIMELY", "rate_control": {"name": "timely"}}],
        },
    ),
    Mistake(
        "a unit by which a share is out of range",
        RUN,
        (
            "$.traffic.load",
            "(it is 30)",
            "Mean load on each source's link",
            "to 10",
            "p4cc schema traffic.poisson.load",
        ),
        changes={"traffic": {"kind": "poisson", "size": {"kind": "fixed", "bytes": 1000}, "load": 30}},
    ),
    Mistake(
        "a kind that there is not",
        RUN,
        ("$.topology", "unknown kind 'leafspine'", "did you mean 'leaf_spine'?"),
        changes={"topology": {"kind": "leafspine"}},
    ),
    Mistake("no kind at all", RUN, ("$.traffic", "kind is missing", "incast"), changes={"traffic": {"sru_bytes": 1}}),
    Mistake(
        "what must be given",
        RUN,
        (
            "$.topology.leaves: is missing: Leaf switches, to which hosts connect",
            "from 1 to 256",
            "p4cc schema topology.leaf_spine",
        ),
        changes={"topology": {"kind": "leaf_spine", "spines": 2, "hosts_per_leaf": 2}},
    ),
    Mistake(
        "a key of another level",
        RUN,
        ("$.switch.thresholds.dupthresh: unknown key", "known keys here: k_dc_pkts, k_pkts, k_rule, rtt_ns"),
        changes={"switch": {"thresholds": {"dupthresh": 5}}},
    ),
    Mistake("a network that cannot be built", _set("topology.rtt_ns=99999"), ("--set topology.rtt_ns=99999", "99996")),
    Mistake(
        "a sweep that leads nowhere",
        _set("sweep.topology.sendres=1,2"),
        ("--set sweep.topology.sendres=1,2", "did you mean 'senders'"),
    ),
    Mistake(
        "a swept value that cannot be",
        _set("sweep.topology.senders=4,0"),
        ("--set sweep.topology.senders=4,0 at topology.senders=0", "greater than or equal to 1 (it is 0)"),
    ),
    Mistake(
        "everything at once",
        RUN,
        (
            "$.sedes: unknown key",
            "$.topology.senders",
            "$.stop_ns: '8G' is a rate",
            '"reno" has no parameter "beta"',
            "$.variants[1].slow_start",
            "two variants are named same",
        ),
        changes={
            "sedes": [1],
            "stop_ns": "8G",
            "topology": {"kind": "star", "senders": 0},
            "variants": [
                {"name": "same", "congestion_avoidance": {"name": "reno", "beta": 1}},
                {"name": "bad", "congestion_avoidance": {"name": "reno"}, "slow_start": 5},
                {"name": "same", "congestion_avoidance": {"name": "reno"}},
            ],
        },
    ),
    Mistake("empty sweep", _set("sweep={topology.senders: []}"), ("sweep",)),
    Mistake("a sweep of nothing", ("sweep", "mine.yaml", "--over", "beta="), ("--over", "for example")),
    Mistake(
        "a sweep of a parameter nobody has", ("sweep", "mine.yaml", "--over", "beta=1,2"), ("no variant has", "--over")
    ),
    Mistake(
        "an unknown metric",
        ("sweep", "mine.yaml", "--over", "transport.iw=1,2", "--metric", "goodness"),
        ("goodness", "metrics:"),
    ),
    Mistake(
        "results into a file",
        ("run", "mine.yaml", "--out", "notes.md"),
        ("is a file", "--out"),
        files={"notes.md": "mine"},
    ),
    Mistake(
        "results below a file",
        ("run", "mine.yaml", "--out", "notes.md/out"),
        ("cannot write", "--out"),
        files={"notes.md": "mine"},
    ),
    Mistake(
        "results over sources",
        ("run", "mine.yaml", "--out", "proj"),
        ("something other than results", "--out"),
        files={"proj/main.py": "mine", "proj/summary.json": "{}"},
    ),
    Mistake(
        "a figure nobody can draw",
        RUN,
        ("figures", "file"),
        changes={"figures": [{"kind": "cdf", "file": "x.xyz", "panels": [{"y": "fct_ns"}]}]},
    ),
    Mistake("a disk that is full", (*RUN, "--no-cache"), ("cannot write", "remedy"), file_limit_bytes=2_000),
    Mistake("again, of something else", ("run", "--again", "."), ("run.json", "remedy")),
    Mistake("again, with changes", ("run", "--again", "out", "--set", "seeds=[2]"), ("--again", "leave out")),
    Mistake("a size that is none", ("cache", "--prune", "much"), ("--prune", "500MB")),
    Mistake(
        "K above K_dc",
        ("controller", "plan", "--k-rule", "fixed", "--k-pkts", "80"),
        ("K 80 is not less than K_dc 65",),
        code=1,
    ),
)


def hashes(folder: Path) -> dict[str, str]:
    """Every file of a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def ends_as_said(tmp_path: Path, mistake: Mistake) -> None:
    """Makes the mistake in an empty folder, and looks at the message and at the files."""
    (tmp_path / "mine.yaml").write_text(json.dumps(scenario(**(mistake.changes or {})), indent=1), encoding="utf-8")
    for name, text in (mistake.files or {}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    before = hashes(tmp_path)
    environment = {**BARE, "PYTHONDONTWRITEBYTECODE": "1"}
    done = p4cc(*mistake.words, folder=tmp_path, env=environment, file_limit_bytes=mistake.file_limit_bytes)
    assert done.returncode == mistake.code, done.stderr
    assert "Traceback" not in done.stderr
    first, message = ("warning: ", "\nerror: ") if mistake.warned else ("error: ", "error: ")
    assert done.stderr.startswith(first)
    assert message in done.stderr
    for part in mistake.said:
        assert part in done.stderr
    after = hashes(tmp_path)
    assert {name: after.get(name) for name in before} == before
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.name for mistake in MISTAKES])
def test_mistakes(tmp_path: Path, mistake: Mistake) -> None:
    ends_as_said(tmp_path, mistake)
