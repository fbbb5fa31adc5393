"""`p4cc schema`: every field is explained, and what may be left out has a default that changes no scenario."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from p4cc import _engine
from p4cc.errors import UserError
from p4cc.scenario import parts
from p4cc.scenario.load import validate
from p4cc.scenario.schema import ScenarioModel, Transport, UsualPath
from p4cc.scenario.timeouts import PathTimes
from p4cc.scenario.yaml import read_document
from tests.command_line import BARE, p4cc
from tests.p4cc.scenarios import run, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from p4cc import spec

REQUIRED = {
    "": {"topology", "traffic", "variants"},
    "Transport": set[str](),
    "SwitchSettings": set[str](),
    "Record": set[str](),
    "BufferSettings": set[str](),
    "RedCurveSettings": set[str](),
    "Thresholds": set[str](),
    "LeafSpineTopology": {"kind", "leaves", "spines", "hosts_per_leaf"},
    "StarTopology": {"kind", "senders"},
    "RdmaTransport": {"kind"},
    "PoissonTraffic": {"kind", "size"},
}
"""Of parts that everyone writes: what nobody can guess. All else has a default."""


def mappings() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every mapping of the schema by its name, the scenario itself first."""
    yield "", parts.schema()
    yield from ((name, node) for name, node in parts.schema()["$defs"].items() if "properties" in node)


def schema(*words: str) -> subprocess.CompletedProcess[str]:
    return p4cc("schema", *words, env={**BARE, "COLUMNS": "80"})


@pytest.mark.parametrize(("name", "mapping"), list(mappings()), ids=[name or "Scenario" for name, _ in mappings()])
def test_every_field_says_what_it_is(name: str, mapping: dict[str, Any]) -> None:
    assert mapping["properties"]
    assert mapping.get("description"), f"{name or 'Scenario'} has no docstring"
    missing = [field for field, node in mapping["properties"].items() if not node.get("description", "").strip()]
    assert missing == [], "give each field a docstring below it, or Field(description=...)"


@pytest.mark.parametrize(("name", "mapping"), list(mappings()), ids=[name or "Scenario" for name, _ in mappings()])
def test_a_field_is_required_or_has_a_default(name: str, mapping: dict[str, Any]) -> None:
    required = set(mapping.get("required", []))
    assert {field for field, node in mapping["properties"].items() if "default" not in node} == required
    assert required == REQUIRED.get(name, required)


def test_a_part_is_printed_for_people() -> None:
    done = schema("topology.leaf_spine")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "topology.leaf_spine: Two tiers, with every leaf connected to every spine."
    place = lines.index("  host_rate_bps = 10_000_000_000 (10 Gbit/s)")
    assert lines[place + 1 : place + 3] == [
        "      Rate of links between hosts and leaves.",
        "      whole number from 1 to 16_000_000_000_000: a rate, such as 25G or 25Gbps",
    ]
    assert "  leaves (required)" in lines
    # Nested fields stand further in.
    assert "        rate_bps = null" in lines


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("topology", "one of: star, dumbbell, parking_lot, leaf_spine"),
        ("traffic.poisson.size", "one of: fixed, uniform, cdf"),
        ("traffic.0.poisson.load", "load = null"),
        ("switch.thresholds.k_rule", "halve_once, quarter_buffer, proportional, fixed, never"),
        ("variants.slow_start", "name (required)"),
        ("transport.window", "rto_max_ns = 60_000_000_000 (60 s)"),
        ("record.windows_interval_ns", "whole number from 100 to 1_000_000_000 or rtt or null"),
        ("reproduces.claims.measure.limit", "over = senders"),
    ],
)
def test_any_part_can_be_asked_for(part: str, said: str) -> None:
    assert said in " ".join(parts.text(parts.find(part), 80).split())


@pytest.mark.parametrize(
    ("part", "remedy"),
    [
        ("topolgy", "did you mean 'topology'?"),
        ("topology.leafspine", "did you mean 'leaf_spine'?"),
        ("switch.thresholds.k_ruel", "did you mean 'k_rule'?"),
        ("switch.zzz", "parts there: bolt, buffer, controller, cpu_port"),
        ("stop_ns.x", "parts there: none"),
    ],
)
def test_an_unknown_part_is_answered_with_those_of_its_level(part: str, remedy: str) -> None:
    done = schema(part)
    assert done.returncode == 2
    assert remedy in done.stderr
    assert f"p4cc schema {part}" in done.stderr


def test_every_part_that_the_schema_has_can_be_printed() -> None:
    def walk(path: str, depth: int) -> Iterator[str]:
        part = parts.find(path)
        yield path
        for step in parts.steps(part) if depth else ():
            yield from walk(f"{path}.{step}", depth - 1)

    for path in (path for name in parts.names() for path in walk(name, 2)):
        assert parts.text(parts.find(path), 80).strip()


def test_without_a_part_it_is_json_and_the_parts_are_named() -> None:
    done = schema()
    assert json.loads(done.stdout) == ScenarioModel.model_json_schema()
    assert all(name in done.stderr for name in parts.names())


def test_a_scenario_of_topology_traffic_and_algorithm_runs(tmp_path: Path) -> None:
    minimal = {
        "topology": {"kind": "star", "senders": 2},
        "traffic": {"kind": "incast", "sru_bytes": 20_000},
        "variants": [{"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}],
    }
    ran = run(tmp_path, minimal)
    assert [one["outcome"] for one in ran.runs] == ["finished"]
    # It has the name of its file.
    assert ran.outcome.summary["scenario"] == "scenario"
    assert ran.outcome.title == "scenario"


def test_the_name_is_that_of_the_file_above_all_that_it_extends(tmp_path: Path) -> None:
    (tmp_path / "My Base.yaml").write_text("title: x\n", encoding="utf-8")
    (tmp_path / "own.yaml").write_text("extends: My Base.yaml\n", encoding="utf-8")
    (tmp_path / "named.yaml").write_text("name: said\n", encoding="utf-8")
    (tmp_path / "over.yaml").write_text("extends: named.yaml\n", encoding="utf-8")
    found = {path.name: read_document(path).plain()["name"] for path in sorted(tmp_path.iterdir())}
    assert found == {"My Base.yaml": "my-base", "own.yaml": "own", "named.yaml": "said", "over.yaml": "said"}


def test_defaults_of_the_transport_are_those_of_a_data_centre(tmp_path: Path) -> None:
    """docs/algorithms/window.md#reno-parameters; the engine takes them with what follows from the path filled in."""
    data = {
        "topology": {"kind": "star", "senders": 1},
        "traffic": {"kind": "incast", "sru_bytes": 1},
        "variants": [{"name": "Reno", "congestion_avoidance": {"name": "reno"}}],
    }
    document = read_document(write(tmp_path, data))
    assert validate(document, document.plain()).transport == Transport()
    given = Transport().model_dump(exclude={"kind", "headers"}, exclude_none=True)
    assert given == {
        "packets": "udp",
        "ip": 4,
        "recovery": "sack",
        "mss_bytes": 1_436,
        "iw": 10,
        "rto_min_ns": "rtt",
        "rto_init_ns": "rtt",
        "rto_max_ns": 60_000_000_000,
        "dupthresh": 3,
    }
    cc: spec.AlgorithmConfig = {"congestion_avoidance": {"name": "reno"}, "slow_start": {"name": "standard"}}
    _engine.validate_sender(json.dumps(Transport().config({}, "gst", cc, UsualPath(32, PathTimes(1, 0)))))


MS = 1_000_000


@pytest.mark.parametrize(
    ("rtt_ns", "queue_ns", "least_ns", "first_ns"),
    [
        # A fast network: the floor. Then twice the round trip through a full queue.
        (2_000, 1_000, 1 * MS, 1 * MS),
        (100_000, 180_000, 1 * MS, 1 * MS),
        (100_000, 1_800_000, 3_800_000, 3_800_000),
        # A queue that nobody fills ends at Linux's 200 ms; a path may be longer.
        (100_000, 700 * MS, 200 * MS, 200 * MS),
        (100 * MS, 30 * MS, 200 * MS, 300 * MS),
        (300 * MS, 30 * MS, 600 * MS, 900 * MS),
    ],
)
def test_timeouts_follow_from_the_path(rtt_ns: int, queue_ns: int, least_ns: int, first_ns: int) -> None:
    path = UsualPath(32, PathTimes(rtt_ns, queue_ns))
    made = Transport().config({}, "gst", {}, path)
    assert (made.get("rto_min_ns"), made.get("rto_init_ns")) == (least_ns, first_ns)


def test_timeouts_that_are_given_are_not_crossed_by_those_that_follow_from_the_path() -> None:
    path = UsualPath(32, PathTimes(100 * MS, 0))
    first = Transport(rto_init_ns=5 * MS).config({}, "gst", {}, path)
    assert (first.get("rto_min_ns"), first.get("rto_init_ns")) == (5 * MS, 5 * MS)
    most = Transport(rto_max_ns=7 * MS).config({}, "gst", {}, path)
    assert (most.get("rto_min_ns"), most.get("rto_init_ns")) == (7 * MS, 7 * MS)
    own = Transport().config({"rto_min_ns": 400 * MS}, "gst", {}, path)
    assert (own.get("rto_min_ns"), own.get("rto_init_ns")) == (400 * MS, 400 * MS)
    by_rfc = Transport(rto_init_ns=None).config({}, "gst", {}, path)
    assert "rto_init_ns" not in by_rfc


def test_a_part_that_is_not_there_is_a_user_error() -> None:
    with pytest.raises(UserError, match="no part 'sedes'"):
        parts.find("sedes")
