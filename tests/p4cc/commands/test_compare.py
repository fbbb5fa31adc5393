"""`p4cc compare` through the command line: settings, metrics with their spread, what cannot be compared."""

from __future__ import annotations

import copy
import json
import random
from math import comb
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p4cc.analysis.comparison import RULE, Verdict, chance, compare
from p4cc.analysis.recorded import RecordedRow, RecordedRun, Results, read_results
from p4cc.errors import UserError
from tests.p4cc.running.test_provenance import cli
from tests.p4cc.scenarios import RENO, run, scenario

if TYPE_CHECKING:
    from pathlib import Path

DCTCP = {"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}


def made(place: Path, *overrides: str, **changes: Any) -> Path:
    """A folder of results of the small scenario, with changes."""
    place.mkdir()
    return run(place, scenario(**{"seeds": [1, 2, 3], **changes}), *overrides).outcome.folder


def compared(a: Path, b: Path, *more: str, code: int = 1) -> dict[str, Any]:
    """What `--json` says."""
    done = cli("compare", str(a), str(b), "--json", *more, folder=a)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def metrics(found: dict[str, Any], pair: int = 0) -> dict[str, dict[str, Any]]:
    """The metrics of one pair by name."""
    return {one["metric"]: one for one in found["pairs"][pair]["metrics"]}


def test_settings_and_metrics_that_differ(tmp_path: Path) -> None:
    sweep = {"topology.senders": [2, 3]}
    a = made(tmp_path / "a", variants=[RENO, DCTCP], sweep=sweep)
    b = made(
        tmp_path / "b",
        "transport.iw=4",
        "topology.senders=3",
        "variants.DCTCP.congestion_avoidance.g=0.5",
        variants=[DCTCP, RENO],
    )
    found = compared(a, b)
    said = {one["name"]: (one.get("a"), one.get("b")) for one in found["settings"]}
    assert said == {
        "transport.iw": (2, 4),
        # The registry's default stands beside what was given.
        "variants.DCTCP.congestion_avoidance.g": (0.0625, 0.5),
        "sweep.topology.senders": ([2, 3], None),
        "topology.senders": (None, 3),
    }
    assert found["rule"] == RULE


def test_a_point_of_a_sweep_is_compared_with_a_run_at_its_value(tmp_path: Path) -> None:
    a = made(tmp_path / "a", sweep={"topology.senders": [2, 4], "transport.iw": [2, 4]})
    b = made(tmp_path / "b", traffic={"kind": "incast", "sru_bytes": 40_000})
    found = compared(a, b)
    (pair,) = found["pairs"]
    assert pair["point"] == {"topology.senders": 4, "transport.iw": 2}
    assert pair["chance"] == pytest.approx(2 / comb(6, 3))
    assert found["only_in_a"] == ["Reno senders=2 iw=2", "Reno senders=2 iw=4", "Reno senders=4 iw=4"]
    assert found["only_in_b"] == []
    said = metrics(found)
    goodput = said["fct_p50_ns"]
    assert goodput["verdict"] == "beyond"
    assert goodput["a"]["high"] < goodput["b"]["low"]
    runs = [json.loads((folder / "summary.json").read_text(encoding="utf-8"))["runs"] for folder in (a, b)]
    times = sorted(one["fct_p50_ns"] for one in runs[0] if (one["senders"], one["iw"]) == (4, 2))
    side = goodput["a"]
    assert (side["low"], side["median"], side["high"], side["seeds"], side["values"]) == (*times, 3, 3)
    assert said["flows_finite"]["verdict"] == "same"
    assert said["outcome=finished"]["verdict"] == "same"
    assert "wall_s" not in said
    assert "seed" not in said


def test_nothing_differs_between_a_run_and_itself_run_again(tmp_path: Path) -> None:
    found = compared(made(tmp_path / "a"), made(tmp_path / "b"), code=0)
    assert found["settings"] == []
    assert {one["verdict"] for one in metrics(found).values()} == {"same"}


def test_what_one_side_lacks_is_said(tmp_path: Path) -> None:
    a = made(tmp_path / "a", record={"rtts": True})
    b = made(tmp_path / "b", stop_ns=20_000)
    said = metrics(compared(a, b))
    assert said["finish_ns"]["verdict"] == "only in A"
    assert (said["finish_ns"]["b"]["seeds"], said["finish_ns"]["b"]["values"]) == (3, 0)
    assert said["finish_ns"]["b"]["median"] is None
    assert said["rtt_p99_ns"]["b"] is None
    assert said["outcome=finished"]["b"]["median"] == 0.0
    text = cli("compare", str(a), str(b), folder=tmp_path)
    assert text.returncode == 1
    lines = {words[0]: line for line in text.stdout.splitlines() if (words := line.split())}
    assert "none of 3" in lines["finish_ns"]
    assert "only in A" in lines["finish_ns"]
    assert "not recorded" in lines["rtt_p99_ns"]
    assert "by chance alone, 10 % would not" in text.stdout


def test_other_variants_are_compared_where_they_are_matched(tmp_path: Path) -> None:
    a, b = made(tmp_path / "a", variants=[RENO]), made(tmp_path / "b", variants=[DCTCP])
    done = cli("compare", str(a), str(b), folder=tmp_path)
    assert done.returncode == 2
    for text in ("nothing that both ran", "A: Reno", "B: DCTCP", "--match"):
        assert text in done.stderr
    found = compared(a, b, "--match", "Reno=DCTCP", "--metric", "goodput_bps", code=0)
    (pair,) = found["pairs"]
    assert (pair["variant_a"], pair["variant_b"]) == ("Reno", "DCTCP")
    assert list(metrics(found)) == ["goodput_bps"]


def test_another_scenario_and_other_thresholds_are_said(tmp_path: Path) -> None:
    a = made(tmp_path / "a")
    b = made(tmp_path / "b", name="other", seeds=[1])
    c = made(tmp_path / "c", "switch.thresholds.k_pkts=5")
    done = cli("compare", str(a), str(b), folder=tmp_path)
    assert "the scenarios differ: small and other" in done.stderr
    assert "beyond" not in {line.split()[-1] for line in done.stdout.splitlines() if line.split()}
    said = {one["name"]: one for one in compared(a, c, code=0)["settings"]}
    assert said["installed.Reno"]["b"] == [{"k_pkts": 5, "k_dc_pkts": 65, "ports": 5}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("out", "absent"), ("absent", "no such folder", "remedy")),
        (("out", "."), ("holds no run.json", "remedy")),
        (("out", "above"), ("holds no run.json", "name one of the folders in it: inner")),
        (("out", "foreign"), ("run.json", "does not say what was run", "remedy")),
        (("out", "halved"), ("summary.json", "no such file", "remedy")),
        (("out", "emptied"), ("summary.json", "holds no runs", "remedy")),
        (("out", "out", "--match", "Reno"), ("--match", "'Reno' is not of the form X=Y", "remedy")),
        (("out", "out", "--match", "Reno=Vegas"), ("no variant 'Vegas' in B", "variants of B: Reno")),
        (("out", "out", "--metric", "speed"), ("no metric 'speed'", "goodput_bps")),
    ],
)
def test_what_cannot_be_compared_is_one_message(tmp_path: Path, words: tuple[str, ...], said: tuple[str, ...]) -> None:
    folder = run(tmp_path, scenario()).outcome.folder
    told = (folder / "run.json").read_text(encoding="utf-8")
    files = {
        "above/inner/run.json": told,
        "foreign/run.json": '{"format": "p4cc run 1", "cases": 3}',
        "halved/run.json": told,
        "emptied/run.json": told,
        "emptied/summary.json": '{"runs": []}',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = cli("compare", *words, folder=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    for text in said:
        assert text in done.stderr


def told(seeds: int) -> RecordedRun:
    """run.json of a scenario without settings."""
    case: dict[str, Any] = {"variant": "x", "program": "p", "algorithms": {}, "installed": []}
    plain: dict[str, Any] = {
        "format": "p4cc run 1",
        "p4cc": {},
        "seeds": [*range(seeds)],
        "inputs": [],
        "cases": [case],
    }
    return RecordedRun.model_validate({**plain, "scenario": {"name": "s", "topology": {}, "variants": [{"name": "x"}]}})


def row(seed: int, value: int | None) -> RecordedRow:
    return RecordedRow.model_validate({"variant": "x", "seed": seed, "m": value})


VALUES = st.lists(st.one_of(st.none(), st.integers(-3, 3)), min_size=1, max_size=4)


@given(VALUES, VALUES)
def test_the_verdict_follows_the_rule(tmp_path_factory: pytest.TempPathFactory, a: list[Any], b: list[Any]) -> None:
    place = tmp_path_factory.getbasetemp()
    first, second = (
        Results(place / name, told(len(of)), [row(at, value) for at, value in enumerate(of)])
        for name, of in (("a", a), ("b", b))
    )
    found = compare(first, second).pairs[0].metrics
    if set(a) | set(b) == {None}:
        assert found == []
        return
    (one,) = found
    if one.verdict == Verdict.BEYOND:
        assert None not in a + b
        assert min(len(a), len(b)) >= 2
        assert not set(range(min(a), max(a) + 1)) & set(range(min(b), max(b) + 1))
    if one.verdict == Verdict.SAME:
        assert a == b or len(set(a + b)) == 1
    if set(a) == {None} or set(b) == {None}:
        assert one.verdict in (Verdict.ONLY_A, Verdict.ONLY_B)
    swapped = {Verdict.ONLY_A: Verdict.ONLY_B, Verdict.ONLY_B: Verdict.ONLY_A}
    assert compare(second, first).pairs[0].metrics[0].verdict == swapped.get(one.verdict, one.verdict)


def test_the_chance_is_that_of_all_orders() -> None:
    assert chance(1, 1) == 1.0
    assert chance(2, 2) == pytest.approx(1 / 3)
    assert chance(5, 5) == pytest.approx(0.0079, abs=1e-4)


ODD: tuple[Any, ...] = (None, 7, -1.5, "x", [], {}, [1, "a"], {"name": 3}, [{"name": "x"}, {"name": "x"}], 10**30)


def places(node: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where a JSON document holds something."""
    mapping, items = isinstance(node, dict), isinstance(node, list)
    inner: Any = node.items() if mapping else enumerate(node) if items else ()
    return [at, *(place for key, one in inner for place in places(one, (*at, key)))]


def changed(document: Any, at: tuple[Any, ...], value: Any) -> Any:
    """The document with another value at one place."""
    if not at:
        return value
    copied = copy.copy(document)
    copied[at[0]] = changed(document[at[0]], at[1:], value)
    return copied


def test_a_folder_that_somebody_edited_gets_an_answer_or_a_message(tmp_path: Path) -> None:
    folder = made(tmp_path / "a", variants=[RENO, DCTCP], sweep={"topology.senders": [2, 3]}, seeds=[1, 2])
    documents = {name: json.loads((folder / name).read_text(encoding="utf-8")) for name in ("run.json", "summary.json")}
    other = tmp_path / "b"
    other.mkdir()
    chosen = random.Random(5)
    whole, messages = read_results(folder), list[UserError]()
    for name, document in documents.items():
        for at in places(document):
            for beside, held in documents.items():
                (other / beside).write_text(json.dumps(held), encoding="utf-8")
            (other / name).write_text(json.dumps(changed(document, at, chosen.choice(ODD))), encoding="utf-8")
            try:
                json.dumps(compare(whole, read_results(other)).plain(), allow_nan=False)
            except UserError as error:
                messages.append(error)
    assert len(messages) > 20
    assert all(error.remedy for error in messages)
