"""`--set` reaches every field, those of sweeps too, and its mistakes are told as the command line's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from p4cc.commands.init import TEMPLATES, kinds
from p4cc.errors import UserError
from p4cc.running.prepared import prepare
from p4cc.running.request import RunRequest
from p4cc.scenario.load import validate
from p4cc.scenario.overrides import apply_overrides
from p4cc.scenario.units import plain_numbers
from p4cc.scenario.yaml import read_document
from tests.p4cc.scenarios import ROOT, run, scenario, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = [*(TEMPLATES / f"{kind}.yaml" for kind in kinds()), ROOT / "experiments/gst/fig8.yaml"]


def leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of plain data by its dotted path."""
    if isinstance(node, dict) and node:
        for key, value in cast("dict[str, Any]", node).items():
            yield from leaves(value, f"{path}.{key}".lstrip("."))
    elif isinstance(node, list) and any(isinstance(one, dict) for one in cast("list[Any]", node)):
        for number, value in enumerate(cast("list[Any]", node)):
            yield from leaves(value, f"{path}.{number}")
    else:
        yield path, node


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_field_of_a_resolved_scenario_can_be_set(path: Path) -> None:
    document = read_document(path)
    data: dict[str, Any] = {**document.plain(), "sweep": {}}
    resolved = validate(document, plain_numbers(data, [])).model_dump(mode="json")
    fields = [(name, value) for name, value in leaves(resolved) if name not in ("extends", "sweep")]
    assert len(fields) > 50
    changed = apply_overrides(data, [f"{name}={json.dumps(value)}" for name, value in fields])
    assert validate(document, changed).model_dump(mode="json") == resolved


@pytest.mark.parametrize(
    ("assignment", "sweep"),
    [
        ("sweep.topology.senders=2,3", {"topology.senders": [2, 3]}),
        ("sweep.topology.senders=[2, 3]", {"topology.senders": [2, 3]}),
        ("sweep.topology.senders=2", {"topology.senders": [2]}),
        ("sweep.topology.rate_bps=1G,10G", {"topology.senders": [4], "topology.rate_bps": ["1G", "10G"]}),
        (
            "sweep.switch.thresholds.k_pkts=5,10",
            {"topology.senders": [4], "switch.thresholds.k_pkts": [5, 10]},
        ),
        ("sweep.topology.senders=null", {}),
    ],
)
def test_a_sweep_is_set_by_the_path_of_its_field(assignment: str, sweep: dict[str, list[Any]]) -> None:
    data = scenario(sweep={"topology.senders": [4]})
    assert apply_overrides(data, [assignment])["sweep"] == sweep
    assert data["sweep"] == {"topology.senders": [4]}


def test_a_sweep_of_the_command_line_runs(tmp_path: Path) -> None:
    ran = run(tmp_path, scenario(), "sweep.switch.thresholds.k_pkts=5,10")
    assert [one["k_pkts"] for one in ran.runs] == [5, 10]


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("sweep.topology.senders=0,4", "--set sweep.topology.senders=0,4 at topology.senders=0: $.topology.senders"),
        ("sweep.switch.ecn.k=5,10", "--set sweep.switch.ecn.k=5,10 at switch.ecn.k=5: $.switch.ecn: unknown key 'ecn'"),
        ("sweep.name.x=1,2", "--set sweep.name.x=1,2: 'name' is not a mapping or list"),
        ("topology.rtt_ns=99_999", "--set topology.rtt_ns=99_999: $.topology.rtt_ns: 99999 ns cannot be split evenly"),
        (
            "topology.link_changes=[{a: zz}]",
            "--set topology.link_changes=[{a: zz}]: $.topology.link_changes[0]: no link",
        ),
        ("seeds=[1, 1]", "--set seeds=[1, 1]: $.seeds: a seed is listed twice"),
        ("variants.0.name=", "--set variants.0.name=: $.variants[0].name"),
        (
            "measure=[{name: x, start_ns: 5, end_ns: 3}]",
            "--set measure=[{name: x, start_ns: 5, end_ns: 3}]: $.measure[0]",
        ),
        (
            "transport.kind=rdma",
            "scenario.yaml:24:3 with --set transport.kind=rdma: $.transport.rto_min_ns: unknown key",
        ),
    ],
)
def test_a_mistake_is_named_as_the_command_lines(tmp_path: Path, assignment: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        prepare(RunRequest(write(tmp_path, scenario()), overrides=(assignment,)))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("assignment", "cause"),
    [
        ("switch.program=nope.p4", "no P4 program 'nope.p4'"),
        ("switch={program: nope.p4}", "no P4 program 'nope.p4'"),
        ("sweep.switch.program=nope.p4,p4src/v1model/ecn_dual.p4", "no P4 program 'nope.p4'"),
        ("traffic.destination=nobody", "no host matches 'nobody'"),
        ("traffic.sources=[h1, h99]", "no host matches 'h99'"),
    ],
)
def test_a_name_that_is_not_there_is_named_as_the_command_lines(tmp_path: Path, assignment: str, cause: str) -> None:
    with pytest.raises(UserError) as refused:
        run(tmp_path, scenario(), assignment)
    assert str(refused.value).startswith(f"--set {assignment}: {cause}")


def test_what_the_file_says_is_named_as_the_files(tmp_path: Path) -> None:
    data = scenario(traffic={"kind": "incast", "sru_bytes": 1_000, "destination": "nobody"})
    with pytest.raises(UserError) as refused:
        run(tmp_path, data, "traffic.start_ns=5")
    assert refused.value.place == f"{tmp_path}/scenario.yaml at traffic.destination"
