"""Scenario files: what is wrong is named by place, cause and remedy; sweeps and overrides expand as written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p4cc.errors import UserError
from p4cc.running.provenance import algorithms_of
from p4cc.scenario.base import Algorithm, Sender
from p4cc.scenario.expand import expand
from p4cc.scenario.load import validate
from p4cc.scenario.overrides import Origins, apply_overrides
from p4cc.scenario.yaml import Document, read_document

if TYPE_CHECKING:
    from p4cc.scenario.schema import ScenarioModel

ROOT = Path(__file__).resolve().parents[3]
INCAST = ROOT / "experiments" / "gst" / "incast.yaml"
BASE = ROOT / "experiments" / "gst" / "base.yaml"


def edited(folder: Path, old: str, new: str) -> Path:
    """A copy of the incast scenario with one text replaced."""
    text = BASE.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    path = folder / "scenario.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def load(path: Path, *overrides: str) -> tuple[Document, ScenarioModel]:
    document = read_document(path)
    origins: Origins = {}
    return document, validate(document, apply_overrides(document.plain(), list(overrides), origins), origins)


def avoidance(sender: Sender) -> Algorithm:
    """The congestion avoidance of a window sender."""
    assert sender.congestion_avoidance is not None
    return sender.congestion_avoidance


SCENARIOS = sorted(path for path in (ROOT / "experiments").glob("*/*.yaml") if path.name != "reproduce.yaml")


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_scenario_of_the_project_is_valid(path: Path) -> None:
    _, scenario = load(path)
    assert scenario.seeds


THRESHOLDS = """thresholds:
    # The best of figure 6, for every buffer (docs/algorithms/reproductions.md#gst-hold).
    k_rule: fixed"""


@pytest.mark.parametrize(
    ("old", "new", "cause", "remedy"),
    [
        ("senders: 16", "sendrs: 16", "unknown key 'sendrs'", "did you mean 'senders'"),
        ("rate_bps: 10_000_000_000", "rate_bps: -5", "greater than 0 (it is -5)", "see 'p4cc schema"),
        ("rtt_ns: 100_000", "rtt_ns: fast", "valid integer", "see 'p4cc schema"),
        ("ecn_profile: gst", "ecn_profile: dctcp", "'gst', 'rfc3168' or 'sce'", "see 'p4cc schema"),
        (THRESHOLDS, THRESHOLDS.replace("fixed", "halve_once"), "k_pkts", "see 'p4cc schema"),
        ("seeds: [1, 2, 3, 4, 5]", "seeds: [1, -2]", "greater than or equal to 0", "see 'p4cc schema"),
        ("title: ", "title: *x #", "aliases", "write the value out"),
        ("name: gst-base", "name: 'gst", "not YAML", "correct"),
        ("name: gst-base", "name: \x01", "not YAML", "correct"),
    ],
)
def test_messages_name_place_cause_and_remedy(tmp_path: Path, old: str, new: str, cause: str, remedy: str) -> None:
    path = edited(tmp_path, old, new)
    with pytest.raises(UserError) as caught:
        load(path)
    message = str(caught.value)
    assert cause in message
    assert remedy in message
    line = path.read_text(encoding="utf-8").split(new, 1)[0].count("\n") + 1
    if "not YAML" not in cause:
        assert f"{path}:{line}:" in message
    assert str(path) in message


def test_all_findings_come_at_once(tmp_path: Path) -> None:
    path = edited(
        tmp_path, "kind: star\n  senders: 16\n  rate_bps: 10_000_000_000", "kind: star\n  senders: -1\n  rate_bps: 0"
    )
    with pytest.raises(UserError) as caught:
        load(path)
    assert "$.topology.rate_bps" in str(caught.value)
    assert "$.topology.senders" in str(caught.value)


def test_what_cannot_be_read_is_a_user_error(tmp_path: Path) -> None:
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "absent.yaml", tmp_path, binary):
        with pytest.raises(UserError, match=str(path)):
            read_document(path)


def test_a_sweep_makes_one_case_per_variant_and_point() -> None:
    document, scenario = load(INCAST)
    cases = expand(document.plain(), scenario, lambda data, origins: validate(document, data, origins))
    assert len(cases) == len(scenario.variants) * len(scenario.sweep["topology.senders"])
    assert [case.index for case in cases] == list(range(len(cases)))
    assert [case.keys()["senders"] for case in cases[:4]] == [1, 1, 2, 2]


def test_setting_a_swept_field_ends_its_sweep() -> None:
    _, one = load(INCAST, "topology.senders=25", "seeds=[7]")
    assert one.sweep == {}
    assert one.topology.model_dump()["senders"] == 25
    assert one.seeds == [7]
    _, few = load(INCAST, "topology.senders=[4, 12]")
    assert few.sweep == {"topology.senders": [4, 12]}


def test_a_variant_is_set_by_its_name() -> None:
    _, scenario = load(INCAST, "variants.GST-DCTCP.slow_start.delta=literal")
    assert scenario.variants[1].slow_start.parameters() == {"delta": "literal", "entry": "hold"}
    assert scenario.variants[0].slow_start.name == "standard"


@pytest.mark.parametrize("assignment", ["seeds", "=1", "name.x.y=1", "variants.9.name=a", "seeds=[1", "a.b=1"])
def test_an_override_that_leads_nowhere_is_refused(assignment: str) -> None:
    with pytest.raises(UserError):
        load(INCAST, assignment)


@pytest.mark.parametrize(
    ("override", "start"),
    [
        ("topology.rate_bps=-1", "--set topology.rate_bps=-1: $.topology.rate_bps: Input should be greater than 0"),
        (
            "variants.DCTCP.congestion_avoidance.g=7",
            "--set variants.DCTCP.congestion_avoidance.g=7: $.variants[0].cong",
        ),
        ("transport.iw=none", "--set transport.iw=none: $.transport.iw: Input should be a valid integer"),
        ("variants.*.transport={iw: 0}", "--set variants.*.transport={iw: 0}: $.variants[0].transport.iw: 0 is out"),
        ("topology={kind: ring}", "--set topology={kind: ring}: $.topology: unknown kind 'ring'"),
        (
            "traffic.sru_byte=5",
            "--set traffic.sru_byte=5: $.traffic.sru_byte: unknown key 'sru_byte'\n  remedy: did you mean 'sru_bytes'?",
        ),
        ("seeds=[1, 1]", "--set seeds=[1, 1]"),
        ("sweep.topology.senders=[]", "--set sweep.topology.senders=[]: $.sweep.topology.senders"),
        ("name.x=1", "--set name.x=1: 'name' is not a mapping or list"),
        ("variants.9.name=a", "--set variants.9.name=a: 'variants.9' is not a mapping or list"),
    ],
)
def test_a_mistake_on_the_command_line_is_named_as_such(override: str, start: str) -> None:
    with pytest.raises(UserError) as caught:
        load(INCAST, override)
    assert start in str(caught.value)


def test_a_mistake_in_a_sweep_is_named_as_such() -> None:
    document = read_document(INCAST)
    data = apply_overrides(document.plain(), ["topology.senders=[4, 0]"])
    with pytest.raises(UserError, match=r"^sweep topology.senders=0: \$.topology.senders: "):
        expand(data, validate(document, data), lambda point, origins: validate(document, point, origins))


def test_one_assignment_can_set_a_field_of_all_variants() -> None:
    _, scenario = load(INCAST, "variants.*.congestion_avoidance.alpha0=0.5")
    assert [avoidance(one).parameters()["alpha0"] for one in scenario.variants] == [0.5, 0.5]


def test_two_swept_fields_of_one_name_keep_their_paths() -> None:
    document = read_document(INCAST)
    swept = {"variants.DCTCP.congestion_avoidance.g": [0.1], "variants.GST-DCTCP.congestion_avoidance.g": [0.2, 0.3]}
    data = {**document.plain(), "sweep": swept}
    cases = expand(data, validate(document, data), lambda point, origins: validate(document, point, origins))
    assert cases[2].keys() == {
        "variant": "DCTCP",
        "senders": 16,
        **{path: values[-1] for path, values in swept.items()},
    }


@given(st.text(max_size=200))
def test_any_text_gives_a_scenario_or_a_user_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("any") / "scenario.yaml"
    path.write_text(text, encoding="utf-8", errors="ignore")
    with pytest.raises(UserError):
        load(path)


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("d2tcp", [("d2tcp", "d2tcp", "standard")]),
        ("gst+l2tcp", [("gst+l2tcp", "l2tcp", "gst")]),
        ("rfb_ss", [("rfb_ss", "reno", "rfb_ss")]),
        ("[dctcp, gst+dctcp]", [("dctcp", "dctcp", "standard"), ("gst+dctcp", "dctcp", "gst")]),
        ("GST-DCTCP,reno_ecn", [("GST-DCTCP", "dctcp", "gst"), ("reno_ecn", "reno_ecn", "standard")]),
    ],
)
def test_variants_by_the_names_of_the_registry(value: str, names: list[tuple[str, str, str]]) -> None:
    # Classic ECN needs a profile with a CE codepoint.
    _, scenario = load(INCAST, "switch.ecn_profile=sce", f"variant={value}")
    found = [(one.name, avoidance(one).name, one.slow_start.name) for one in scenario.variants]
    assert found == names


def test_a_named_variant_takes_nothing_from_other_variants() -> None:
    _, base = load(INCAST)
    assert avoidance(base.variants[0]).parameters()["cwnd_min"] == 1
    _, scenario = load(INCAST, "variant=gst+d2tcp")
    assert avoidance(scenario.variants[0]).parameters() == {}
    assert scenario.variants[0].slow_start.parameters() == {}
    assert algorithms_of(scenario.variants[0])["congestion_avoidance"]["cwnd_min"] == 2.0


@pytest.mark.parametrize(
    ("value", "cause", "remedy"),
    [
        ("l3tcp", "unknown algorithm 'l3tcp'", "did you mean 'l2tcp'?"),
        ("gst+xyz", "unknown algorithm 'xyz' in 'gst+xyz'", "algorithms: standard, gst"),
        ("dctcp+l2tcp", "two congestion_avoidance algorithms", "gst+dctcp"),
    ],
)
def test_a_variant_that_is_none_is_refused(value: str, cause: str, remedy: str) -> None:
    with pytest.raises(UserError) as caught:
        load(INCAST, f"variant={value}")
    assert cause in str(caught.value)
    assert remedy in str(caught.value)
