"""`p4cc.Scenario` and `p4cc.parts`: scenarios made in Python, as mappings and files, changed, checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

import p4cc
from p4cc import parts as P  # noqa: N812 - as the page has it
from p4cc.bundled import find_scenario
from p4cc.scenario.base import Told
from p4cc.scenario.load import load_scenario
from p4cc.scenario.yaml import document_of
from tests.p4cc.scenarios import scenario, write


def built() -> p4cc.Scenario:
    """The small star of `scenario()` as objects."""
    return p4cc.Scenario(
        name="small",
        title="small",
        topology=P.Star(senders=4, queue_capacity_pkts=100),
        switch=P.Switch(thresholds=P.Thresholds(k_rule="fixed", k_pkts=20)),
        traffic=P.Incast(sru_bytes=20_000),
        transport=P.Transport(recovery="newreno", iw=2, rwnd=64, rto_min_ns=2_000_000, rto_init_ns=2_000_000),
        variants=[P.Variant(name="Reno", congestion_avoidance=P.algorithm("reno"))],
        record=P.Record(windows_interval_ns=None, queues_interval_ns=None),
    )


def test_objects_run_as_the_file_that_they_stand_for(tmp_path: Path) -> None:
    of_file = p4cc.run(write(tmp_path, scenario()), out=tmp_path / "file", quiet=True)
    of_objects = p4cc.run(built(), out=tmp_path / "objects", quiet=True)
    written = built().write(tmp_path / "written.yaml")
    of_written = p4cc.run(written, out=tmp_path / "again", quiet=True)
    for name in of_file.tables:
        assert of_objects.table(name).equals(of_file.table(name)), name
        assert of_written.table(name).equals(of_file.table(name)), name
    assert of_objects.scenario == of_file.scenario
    with p4cc.Network(built()) as net:
        assert net.run().result().flows.equals(of_file.flows)


@pytest.mark.parametrize("name", p4cc.experiments())
def test_every_experiment_is_the_same_as_objects_as_a_mapping_and_as_yaml(name: str) -> None:
    loaded = load_scenario(name)
    whole = loaded.model_dump()
    parts = {field: getattr(loaded, field) for field in loaded.model_fields_set}
    assert p4cc.Scenario(**parts).model_dump() == whole
    text = loaded.to_yaml()
    data = document_of(text, Path("mine.yaml")).plain()
    assert data == loaded.to_mapping()
    again = p4cc.Scenario.model_validate_json(json.dumps(data))
    assert again.model_dump() == whole
    assert again.to_yaml() == text


def test_an_experiment_is_loaded_changed_and_finds_its_files(tmp_path: Path) -> None:
    whole = [one for one in p4cc.experiments() if not one.endswith("base")]
    name = next(one for one in whole if "python:" in find_scenario(one).read_text())
    loaded = p4cc.Scenario.load(name, seeds=[3])
    assert loaded.seeds == [3]
    again = loaded.with_({"stop_ns": 1_000_000}).with_(seeds=[4])
    assert (again.stop_ns, again.seeds, loaded.seeds) == (1_000_000, [4], [3])
    result = p4cc.run(again, variants=[again.variants[-1].name], out=tmp_path / "out", quiet=True)
    assert set(result.runs["seed"]) == {4}
    assert result.name == again.name


def test_what_is_swept_is_one_value_when_it_is_set() -> None:
    incast = p4cc.Scenario.load("gst/incast")
    assert "topology.senders" in incast.sweep
    fixed = incast.with_(topology__senders=7)
    assert (fixed.sweep, fixed.to_mapping()["topology"]["senders"]) == ({}, 7)


MISTAKES: list[tuple[Any, str]] = [
    (lambda: P.Star(senders=0), "StarTopology.senders: Input should be greater than or equal to 1 (it is 0)"),
    (lambda: P.Star(sender=4), "StarTopology.sender: Extra inputs are not permitted"),  # pyright: ignore[reportCallIssue]
    (lambda: P.Variant(name="x"), "give either congestion_avoidance, or rate_control"),
    (lambda: P.Thresholds(k_rule="fixed"), "k_pkts is required with k_rule: fixed and not allowed otherwise"),
    (lambda: P.Incast(sru_bytes="64kB"), "IncastTraffic.sru_bytes"),  # pyright: ignore[reportArgumentType]
    (lambda: P.algorithm("dctcp", g=[1]), "Algorithm.g"),  # pyright: ignore[reportArgumentType]
    (lambda: p4cc.Scenario(name="<b>", topology=P.Star(senders=1), traffic=P.Bulk(), variants=[]), "Scenario.name"),
    (lambda: built().with_(topology__sender=3), "unknown key 'sender'"),
    (lambda: built().with_(seeds={1}), "seeds"),  # pyright: ignore[reportArgumentType]
    (lambda: built().with_({"variants.Reno.congestion_avoidance.name": "renoo"}).check(), "renoo"),
    (lambda: _wrong_parameter().check(), "$.variants[0].congestion_avoidance.gg"),
    (lambda: p4cc.Scenario.load("gst/nothing"), "the scenario does not exist"),
    (lambda: built().write("/nowhere/at/all.yaml"), "cannot be written"),
]  # fmt: skip


def _wrong_parameter() -> p4cc.Scenario:
    whole = built().to_mapping()
    variant = P.Variant(name="D", congestion_avoidance=P.algorithm("dctcp", gg=1))
    return p4cc.Scenario(
        **{**{field: getattr(built(), field) for field in ("topology", "traffic", "switch")}, "name": whole["name"]},
        variants=[variant],
    )


@pytest.mark.parametrize(("make", "told"), MISTAKES)
def test_mistakes_name_the_field(make: Any, told: str) -> None:
    with pytest.raises(p4cc.UserError) as refused:
        make()
    assert told in str(refused.value)
    assert refused.value.remedy or "remedy:" in str(refused.value)


def test_every_part_of_a_scenario_can_be_named() -> None:
    """What a scenario may hold is in `p4cc.parts`, claims of `reproduces` left out."""
    offered = {id(value) for value in vars(P).values()}
    missing: list[str] = []
    seen: set[type] = set()
    pending: list[Any] = [p4cc.Scenario]
    while pending:
        kind = pending.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            if kind in seen or kind.__module__.endswith("claims"):
                continue
            seen.add(kind)
            if id(kind) not in offered:
                missing.append(f"{kind.__module__}.{kind.__name__}")
            pending += [field.annotation for field in kind.model_fields.values()]
        else:
            pending += get_args(kind)
    assert not [name for name in missing if "where." not in name], missing
    assert len(seen) > 60
    assert all(issubclass(kind, Told) for kind in seen if kind.__module__.startswith("p4cc.scenario"))


def test_a_scenario_is_shown_in_a_line() -> None:
    assert repr(built()) == "Scenario(small: star, incast; Reno; seeds [1])"
