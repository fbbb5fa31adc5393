"""`p4cc reproduce`: measures and records on made-up numbers, and small studies end to end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from pydantic import TypeAdapter

from p4cc.errors import UserError
from p4cc.reproduce.measure import End, FigureRuns, Measured, measure, measure_all
from p4cc.reproduce.readings import check_readings
from p4cc.reproduce.sums import sums_of
from p4cc.reproduce.table import markdown, number
from p4cc.reproduce.verdict import judge, record
from p4cc.running.result_folder import MANIFEST
from p4cc.scenario.claims import Claim, Expectation, Measure, Number, Reproduction
from p4cc.scenario.load import validate
from p4cc.scenario.stated import Range
from p4cc.scenario.yaml import read_document
from tests.command_line import p4cc
from tests.p4cc.scenarios import ROOT, scenario

if TYPE_CHECKING:
    from p4cc.reproduce.verdict import ClaimRecord

RUNS = pl.DataFrame(
    [
        {"variant": variant, "senders": senders, "seed": seed, "timeouts": timeouts, "goodput_bps": goodput}
        for variant, senders, timeouts_of, goodput in (
            ("A", 2, (0, 0, 0), 8.0),
            ("A", 4, (0, 0, 1), 6.0),
            ("A", 8, (0, 2, 1), 1.0),
            ("A", 16, (0, 0, 0), 7.0),
            ("B", 2, (0, 0, 0), 4.0),
            ("B", 4, (0, 0, 0), 9.0),
        )
        for seed, timeouts in enumerate(timeouts_of)
    ]
)


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> FigureRuns:
    """Runs of a scenario with the two variants, and tables of flows and windows."""
    folder = tmp_path_factory.mktemp("made_up")
    path = folder / "scenario.yaml"
    path.write_text(json.dumps(scenario()), encoding="utf-8")
    document = read_document(path)
    pl.DataFrame({"variant": ["A"] * 4, "seed": [1] * 4, "fct_ns": [10, 20, 30, None]}).write_parquet(
        folder / "flows.parquet"
    )
    bins = [(2, 0, 1.0), (2, 0, 2.0), (2, 1, 5.0), (4, 0, 7.0), (4, 1, 9.0), (4, 2, 100.0)]
    pl.DataFrame(
        {
            "variant": ["A"] * 6,
            "seed": [1] * 6,
            "senders": [senders for senders, _, _ in bins],
            "flow_id": [1, 2, 1, 1, 1, 1],
            "time_ns": [time_ms * 1_000_000 for _, time_ms, _ in bins],
            "rate_bps": [rate for _, _, rate in bins],
        }
    ).write_parquet(folder / "goodput.parquet")
    windows = [(0, 1.0, 0), (10, 2.0, 5), (20, 4.0, 20), (25, 1.0, 20), (70, 1.0, 25), (80, 8.0, 30)]
    pl.DataFrame(
        {
            "variant": ["A"] * 6,
            "seed": [1] * 6,
            "flow_id": [1] * 6,
            "time_ns": [time_ms * 1_000_000 for time_ms, _, _ in windows],
            "cwnd_segments": [cwnd for _, cwnd, _ in windows],
            "acked_bytes": [acked for _, _, acked in windows],
        }
    ).write_parquet(folder / "windows.parquet")
    return FigureRuns(validate(document, document.plain()), RUNS, ["senders"], folder)


def _measure(text: dict[str, Any]) -> Measure:
    return TypeAdapter[Measure](Measure).validate_json(json.dumps(text))


@pytest.mark.parametrize(
    ("how", "want"),
    [
        # The median of three seeds is what counts, and the good point behind a bad one does not.
        ({"kind": "limit", "variant": "A"}, 4),
        ({"kind": "limit", "variant": "B"}, 4),
        ({"kind": "limit", "variant": "A", "where": {"senders": {"min": 8}}}, 0),
        ({"kind": "value", "variant": "A", "column": "goodput_bps"}, 5.5),
        ({"kind": "value", "variant": "A", "column": "goodput_bps", "points": "min", "scale": 2.0}, 2),
        ({"kind": "value", "variant": "A", "column": "goodput_bps", "where": {"senders": 16}}, 7),
        ({"kind": "value", "variant": "A", "column": "goodput_bps", "scale": -10.0, "offset": 100.0}, 45),
        ({"kind": "value", "variant": "A", "column": "timeouts", "seeds": "share_above_0", "points": "max"}, 2 / 3),
        ({"kind": "value", "variant": "A", "column": "timeouts", "seeds": "max", "points": "max"}, 2),
        # Up to which the median is large enough: 8, 6, then 1.
        ({"kind": "limit", "variant": "A", "column": "goodput_bps", "at_least": 6}, 4),
        ({"kind": "limit", "variant": "A", "column": "goodput_bps", "at_least": 9}, 0),
        # Bins hold 3 and 5 for two senders, 7 and 9 for four; the last one lies beyond.
        ({"kind": "bins", "variant": "A", "end_ns": 2_000_000}, 6),
        ({"kind": "bins", "variant": "A", "end_ns": 2_000_000, "bins": "min", "points": "max", "scale": 2}, 14),
        ({"kind": "table", "table": "goodput", "variant": "A", "column": "rate_bps", "rows": "max"}, 52.5),
        ({"kind": "table", "table": "goodput", "variant": "A", "column": "rate_bps", "where": {"flow_id": 2}}, 2),
        # Only points that both have are compared: 8/4 and 6/9.
        ({"kind": "smallest_ratio", "variant": "A", "to_variant": "B", "column": "goodput_bps"}, 6 / 9),
        (
            {
                "kind": "smallest_ratio",
                "variant": "A",
                "to_variant": "B",
                "column": "goodput_bps",
                "either_way": True,
            },
            8 / 4,
        ),
        ({"kind": "flow_share", "variant": "A", "column": "fct_ns", "at_most": 20}, 50),
        ({"kind": "rise", "variant": "A", "flow_id": 1, "from_segments": 2, "to_segments": 8}, 0.07),
        ({"kind": "rise", "variant": "A", "flow_id": 1, "to_segments": 9}, None),
        ({"kind": "longest_wait", "variant": "A"}, 50),
        ({"kind": "longest_wait", "variant": "A", "give": "begin_ms"}, 20),
        ({"kind": "longest_wait", "variant": "A", "give": "peak_segments_before"}, 4),
        ({"kind": "longest_wait", "variant": "A", "give": "segments_after"}, 1),
        # Four senders, buffer 100: (100 + 83.33) / 4, and half of it as printed
        # (docs/algorithms/slow-start.md#number-gst-peak).
        ({"kind": "model_peak"}, pytest.approx(45.83, abs=0.01)),
        ({"kind": "model_peak", "printed": True}, pytest.approx(22.92, abs=0.01)),
        # Up to the corner, at 45.83, G is w times 4 / (100 + 83.33).
        ({"kind": "model_slope", "senders": 4, "branch": "rising", "most_segments": 60}, 4 / (100 + 250 / 3)),
        ({"kind": "model_slope", "senders": 4, "branch": "falling", "most_segments": 45}, None),
    ],
)
def test_measures(made_up: FigureRuns, how: dict[str, Any], want: Any) -> None:
    assert measure(made_up, _measure(how), {}).value == (pytest.approx(want) if isinstance(want, float) else want)


def test_the_reading_farthest_from_the_source_is_measured(made_up: FigureRuns) -> None:
    of = {"kind": "value", "variant": "A", "column": "goodput_bps"}
    how = {"kind": "farthest", "of": of, "by": ["senders"], "from_number": 7}
    found = measure(made_up, _measure(how), {})
    assert found == Measured(1.0, "the farthest of 4 readings, from 1 to 8: senders=8")


def test_a_limit_at_the_end_of_its_sweep_is_a_bound(made_up: FigureRuns) -> None:
    reached = measure(made_up, _measure({"kind": "limit", "variant": "A"}), {})
    ends = measure(made_up, _measure({"kind": "limit", "variant": "B", "beside": 2}), {})
    assert (reached.end, ends) == ("", Measured(6, end="least"))
    for of, to, end in ((ends, reached, "least"), (reached, ends, "most"), (ends, ends, "either")):
        known = {"of": of, "to": to}
        assert measure(made_up, _measure({"kind": "ratio", "of": "of", "to": "to"}), known).end == end


@pytest.mark.parametrize(
    ("value", "end", "verdict"),
    [
        # Of 16, band 14.4 to 17.6: a bound decides only beyond the band.
        (16, "least", "not comparable"),
        (8, "least", "not comparable"),
        (18, "least", "outside"),
        (16, "most", "not comparable"),
        (8, "most", "outside"),
        (8, "either", "not comparable"),
        (16, "", "within"),
    ],
)
def test_a_bound_is_no_number(value: float, end: End, verdict: str) -> None:
    found = judge(_claim(), Measured(value, end=end), "9")
    assert found["verdict"] == verdict
    assert found["reason"] == ("a sweep ends there: the number itself was not reached" if "not" in verdict else "")


def test_a_limit_below_the_first_point_is_less_than_this_point(made_up: FigureRuns) -> None:
    how = {"kind": "limit", "variant": "A", "column": "goodput_bps", "at_least": 9}
    found = measure(made_up, _measure(how), {})
    assert found == Measured(0, "less than the first point, 2", end="most", below=2)
    # Of 16, band 14.4 to 17.6.
    for first, verdict in ((20.0, "not comparable"), (16.0, "not comparable"), (14.4, "outside")):
        assert judge(_claim(), replace(found, below=first), "9")["verdict"] == verdict


def limits(made_up: FigureRuns, *bad_from: int) -> FigureRuns:
    """Readings 0, 1 and so on over 10, 12 to 20 senders, each with timeouts from so many on."""
    rows = [
        {"variant": "A", "iw": reading, "senders": senders, "seed": 1, "timeouts": int(senders >= bad)}
        for reading, bad in enumerate(bad_from)
        for senders in (10, 12, 14, 16, 18, 20)
    ]
    return replace(made_up, runs=pl.DataFrame(rows))


@pytest.mark.parametrize(
    ("bad_from", "value", "verdict", "detail"),
    [
        # Of 16, band 14.4 to 17.6. An exact limit that is farther than the end of a sweep.
        ((12, 99), 10, "outside", "from 10 to 20: iw=0"),
        # 20 at least, which lies beyond the band.
        ((18, 99), 20, "outside", "from 16 to 20: iw=1"),
        # Below 10, though 0 is written: nearer than 30.
        ((18, 10), 0, "outside", "from 0 to 16: iw=1; less than the first point, 10"),
    ],
)
def test_the_farthest_reading_is_one_that_its_sweep_decides(
    made_up: FigureRuns, bad_from: tuple[int, ...], value: float, verdict: str, detail: str
) -> None:
    claim = _claim(measure={"kind": "farthest", "of": MEASURE | {"variant": "A"}, "by": ["iw"], "from_number": 16})
    found = measure_all(limits(made_up, *bad_from), [claim])["one"]
    assert found.value == value
    assert judge(claim, found, "9")["verdict"] == verdict
    assert found.detail == f"the farthest of 2 readings, {detail}"


def test_the_farthest_reading_can_be_of_a_ratio(made_up: FigureRuns) -> None:
    of = limits(made_up, 14, 16, 18, 12).runs
    # Limits of 12, 14, 16 and 10; of the other variant 10, 14, less than 10 and 10.
    to = limits(made_up, 12, 16, 10, 12).runs.with_columns(variant=pl.lit("B"))
    both = replace(made_up, runs=pl.concat([of, to]))
    parts = {"of": MEASURE | {"variant": "A"}, "to": MEASURE | {"variant": "B"}, "by": ["iw"]}
    for kind, equal, value in (("ratio", 1, 1.6), ("increase", 0, 0.6)):
        how = _measure({"kind": "farthest", **parts, "combined": kind, "from_number": equal})
        found = measure(both, how, {})
        # 16 over less than 10 is more than 1.6, which a band up to 2 does not decide and one up to 1.5 does.
        assert (found.value, found.end) == (pytest.approx(value), "least")
        assert found.detail.endswith("iw=2")
        undecided = measure(both, how, {}, Range(0.9, 2))
        assert (undecided.value, undecided.end) == (pytest.approx(value - 0.4), "")
        assert undecided.detail.endswith("iw=0; 1 end with the sweep, which decides nothing")
    # A limit of exactly 0, which nothing is divided by.
    none = to.with_columns(senders=pl.col("senders") - 10, timeouts=(pl.col("senders") > 10).cast(pl.Int64))
    of = of.with_columns(senders=pl.col("senders") - 10)
    zero = replace(made_up, runs=pl.concat([of, none.select(of.columns)]))
    assert (
        measure(zero, _measure({"kind": "farthest", **parts, "combined": "ratio", "from_number": 1}), {}).value is None
    )
    some = MEASURE | {"where": {"senders": {"min": 12, "source": "ours"}}}
    with pytest.raises(ValueError, match="over different points"):
        _measure({"kind": "farthest", **parts, "to": some, "from_number": 1})


def test_an_end_of_a_sweep_within_the_band_does_not_stand_for_exact_readings(made_up: FigureRuns) -> None:
    claim = _claim(measure={"kind": "farthest", "of": MEASURE | {"variant": "A"}, "by": ["iw"], "from_number": 16})
    short = limits(made_up, 16, 99)
    short = replace(short, runs=short.runs.filter((pl.col("iw") == 0) | (pl.col("senders") <= 16)))
    found = measure_all(short, [claim])["one"]
    assert (found.value, found.end) == (14, "")
    assert found.detail.endswith("from 14 to 16: iw=0; 1 end with the sweep, which decides nothing")
    # No reading is decided: the number itself was not reached.
    ends = replace(short, runs=short.runs.filter(pl.col("iw") == 1))
    assert judge(claim, measure_all(ends, [claim])["one"], "9")["verdict"] == "not comparable"


def test_readings_are_listed(made_up: FigureRuns) -> None:
    how = {"kind": "readings", "variant": "A", "by": ["senders"], "limit": {"min": 1}}
    found = measure(made_up, _measure(how), {})
    assert found.value == 3
    assert found.detail == "3 of 4 readings: senders=2 (2); senders=4 (4); senders=16 (16)"
    found = measure(made_up, _measure(how | {"column": "goodput_bps", "at_least": 7}), {})
    assert found.detail == "2 of 4 readings: senders=2 (2); senders=16 (16)"


def test_a_number_of_some_runs_says_of_how_many(made_up: FigureRuns) -> None:
    finish = pl.when(pl.col("seed") == 0).then(pl.col("senders") * 10).alias("finish_ns")
    some = replace(made_up, runs=made_up.runs.with_columns(finish))
    found = measure(
        some, _measure({"kind": "value", "variant": "A", "column": "finish_ns", "where": {"senders": 8}}), {}
    )
    assert found == Measured(80.0, "1 of 3 runs have a value of finish_ns")


@pytest.mark.parametrize(
    ("kind", "want"), [("ratio", 4.375), ("difference", 54), ("increase", 3.375)]
)  # docs/algorithms/reproductions.md#choice-gst-ratio: 16 to 70 is 4.375 times, an increase of 3.375.
def test_combinations(made_up: FigureRuns, kind: str, want: float) -> None:
    known = {"of": Measured(70), "to": Measured(16), "none": Measured(None), "zero": Measured(0)}
    assert measure(made_up, _measure({"kind": kind, "of": "of", "to": "to"}), known).value == want
    assert measure(made_up, _measure({"kind": kind, "of": "of", "to": "none"}), known).value is None
    if kind != "difference":
        assert measure(made_up, _measure({"kind": kind, "of": "of", "to": "zero"}), known).value is None


@pytest.mark.parametrize(
    ("how", "cause"),
    [
        ({"kind": "limit", "variant": "C"}, "no run of 'C'"),
        ({"kind": "limit", "variant": "A", "where": {"nodes": 1}}, "no column 'nodes'"),
        ({"kind": "value", "variant": "A", "column": "gudput"}, "no column 'gudput'"),
        ({"kind": "ratio", "of": "a", "to": "b"}, "no claim 'a'"),
        ({"kind": "round_model", "variant": "A", "rtt_ns": 1, "to_segments": 2}, "no variant 'A'"),
    ],
)
def test_a_measure_of_nothing_is_named_with_its_claim(made_up: FigureRuns, how: dict[str, Any], cause: str) -> None:
    claim = Number(name="wrong", text="wrong", measure=_measure(how))
    with pytest.raises(UserError, match=cause) as caught:
        measure_all(made_up, [claim])
    assert caught.value.place == "claim wrong"


MEASURE = {"kind": "limit", "variant": "A"}
PERCENTILE = {"kind": "flow_percentile", "variant": "A"}
BINS = {"kind": "bins", "variant": "A", "end_ns": 9}
STATED = {"name": "one", "text": "one", "paper": 16, "at": "section 2", "reading": "text", "measure": MEASURE}


def _claim(**changes: Any) -> Claim:
    return Claim.model_validate_json(json.dumps(STATED | changes))


def _expectation(**changes: Any) -> Expectation:
    data = {"name": "two", "text": "two", "measure": MEASURE, "band": {"min": 1, "source": "spec"}, **changes}
    return Expectation.model_validate_json(json.dumps(data))


@pytest.mark.parametrize(
    ("stated", "low", "high"),
    [
        ({"reading": "text"}, 14.4, 17.6),
        ({"reading": "table"}, 14.4, 17.6),
        ({"reading": "table", "paper": -10}, -11, -9),
        ({"reading": "text", "paper": 0}, 0, 0),
        ({"reading": "figure"}, 12.8, 19.2),
        ({"reading": "figure", "grid_step": 2}, 12.8, 19.2),
        ({"reading": "figure", "grid_step": 10}, 11, 21),
        ({"reading": "tail"}, 8, 32),
        ({"reading": "error_bars", "error_bars": {"low": 15, "high": 20}}, 15, 20),
        # A share: of what it lacks to the whole, where that is less than the number.
        ({"paper": 95, "whole": 100}, 94.5, 95.5),
        ({"paper": 30, "whole": 100}, 27, 33),
        ({"paper": 100, "whole": 100}, 100, 100),
        ({"paper": 99, "whole": 100, "last_digit": 1}, 98.5, 99.5),
        ({"paper": 80, "whole": 100, "last_digit": 1}, 78, 82),
        ({"paper": 95, "whole": 100, "reading": "figure"}, 94, 96),
    ],
)
def test_the_band_follows_from_the_source_alone(stated: dict[str, Any], low: float, high: float) -> None:
    claim = _claim(**stated)
    assert claim.range == (pytest.approx(low), pytest.approx(high))
    for value, verdict in ((low, "within"), (high, "within"), (low - 0.01, "outside"), (high + 0.01, "outside")):
        assert judge(claim, Measured(value), "9")["verdict"] == verdict


@pytest.mark.parametrize(
    ("stated", "rule"),
    [
        ({"paper": 95, "whole": 100}, "text: 10 % of what it lacks to 100"),
        ({"paper": 30, "whole": 100}, "text: 10 %"),
        ({"paper": 95, "whole": 100, "reading": "figure"}, "off a figure: 20 % of what it lacks to 100"),
        ({"paper": 30, "whole": 100, "reading": "figure"}, "off a figure: 20 %"),
        (
            {"paper": 95, "whole": 100, "reading": "figure", "grid_step": 1, "last_digit": 1},
            "off a figure: 20 % of what it lacks to 100 or half a grid step or half its last digit",
        ),
    ],
)
def test_the_rule_in_words_is_that_of_the_band(stated: dict[str, Any], rule: str) -> None:
    band = judge(_claim(**stated), Measured(stated["paper"]), "9")["band"]
    assert band is not None
    assert band["source"] == rule


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"band": {"min": 13, "max": 18, "source": "typed"}}, "leave `band` out"),
        ({"reading": "error_bars"}, "go together"),
        ({"error_bars": {"low": 1, "high": 2}}, "go together"),
        ({"reading": "error_bars", "error_bars": {"low": 3, "high": 2}}, "low 3.0 is above high 2.0"),
        ({"grid_step": 1}, "only a number read off a figure"),
        ({"whole": 1}, "a share of 1 is not 16"),
        ({"reading": "tail", "paper": 30, "whole": 100}, "leave `whole` out"),
        ({"reading": "error_bars", "error_bars": {"low": 1, "high": 2}, "whole": 100}, "leave `whole` out"),
        ({"last_digit": 1}, "only a share has a last digit"),
        ({"reading": "hearsay"}, "reading"),
        ({"at": ""}, "at"),
        ({"measure": {**MEASURE, "where": {"senders": {"min": 12}}}}, "where.senders leaves points out .* cite"),
        ({"measure": {**PERCENTILE, "max_bytes": 100_000}}, "max_bytes leaves points out .* cite"),
        ({"measure": {**PERCENTILE, "min_bytes": 1}}, "min_bytes leaves points out .* cite"),
        ({"measure": {**PERCENTILE, "max_bytes": 9, "source": " "}}, "max_bytes leaves points out .* cite"),
        ({"measure": {**BINS, "start_ns": 1}}, "start_ns leaves points out .* cite"),
        ({"history": [{"date": "27 November", "before": "a", "after": "b", "why": "c"}]}, "history"),
    ],
)
def test_what_is_no_number_of_a_source(changes: dict[str, Any], cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        _claim(**changes)


def test_points_are_left_out_only_with_the_source() -> None:
    cited = {"senders": {"min": 12, "source": "figure 3 begins at 12"}, "nodes": 1}
    assert _claim(measure={**MEASURE, "where": cited}).measure
    assert _claim(measure={**PERCENTILE, "max_bytes": 100_000, "source": "its short flows"}).measure
    assert _claim(measure={**BINS, "start_ns": 1, "source": "its figure begins there"}).measure
    assert _claim(measure=PERCENTILE).measure
    # What p4cc expects of itself may look at a part.
    assert _expectation(measure={**MEASURE, "where": {"senders": {"min": 12}}})
    assert _expectation(measure={**PERCENTILE, "max_bytes": 100_000})


@pytest.mark.parametrize("part", [{"max_bytes": 9}, {"where": {"size_bytes": {"max": 9}}}])
def test_numbers_that_a_source_s_number_combines_leave_nothing_out_either(part: dict[str, Any]) -> None:
    def figure(of: dict[str, Any]) -> Reproduction:
        numbers = [{"name": name, "text": name, "measure": {**PERCENTILE, **of}} for name in ("a", "b")]
        ratio = STATED | {"measure": {"kind": "ratio", "of": "a", "to": "b"}}
        return Reproduction.model_validate_json(json.dumps({"figure": "9", "claims": [ratio], "numbers": numbers}))

    assert figure({})
    with pytest.raises(ValueError, match="cite the source"):
        figure(part)


def test_numerator_and_denominator_are_over_the_same_points() -> None:
    def figure(*ends: dict[str, Any]) -> Reproduction:
        parts = [
            {"name": f"n{place}", "text": "n", "measure": {**MEASURE, "where": where}}
            for place, where in enumerate(ends)
        ]
        ratio = STATED | {"measure": {"kind": "ratio", "of": "n0", "to": "n1"}}
        return Reproduction.model_validate_json(json.dumps({"figure": "9", "claims": [ratio], "numbers": parts}))

    part = {"senders": {"min": 2, "max": 40, "source": "its figure"}}
    assert figure({}, {})
    assert figure(part, part)
    # Two points of one figure may be set against each other.
    assert figure({"senders": 2}, {"senders": 4})
    with pytest.raises(ValueError, match="combines numbers over different points"):
        figure(part, {"senders": {"min": 12, "source": "its text"}})


def test_the_verdicts_of_a_number() -> None:
    claim = _claim(cause="the weather")
    assert judge(claim, Measured(20), "9")["note"] == "the weather"
    assert judge(claim, Measured(16), "9")["note"] == ""
    assert judge(claim, Measured(12), "9")["deviation"] == -0.25
    for measured, reason in ((Measured(None), "no data"), (Measured(16, few="no data: 3 values"), "no data: 3 values")):
        verdict = judge(claim, measured, "9")
        assert (verdict["verdict"], verdict["reason"]) == ("not comparable", reason)
    other = judge(_claim(not_comparable="another network"), Measured(16), "9")
    assert (other["verdict"], other["reason"]) == ("not comparable", "another network")
    assert judge(_expectation(), Measured(1), "9")["verdict"] == "met"
    # A percentile of too few values meets and misses nothing.
    few = judge(_expectation(), Measured(1, few="no data: 3 values"), "9")
    assert (few["verdict"], few["reason"]) == (None, "no data: 3 values")
    # What could not be measured did not fall into its band.
    assert judge(_expectation(cause="rain"), Measured(None), "9")["verdict"] == "not met"
    assert judge(Number(name="n", text="n", measure=_measure(MEASURE)), Measured(1), "9")["verdict"] is None


def _judged(name: str, value: float, **changes: Any) -> ClaimRecord:
    return judge(_claim(name=name, **changes), Measured(value), "9")


@pytest.mark.parametrize(
    ("values", "sums"),
    [
        # Readings of 16, the first of which counts, and the sums: near, within, outside, not comparable.
        ((16, 17), (1, 1, 0, 0)),
        ((16, 20), (0, 0, 1, 0)),
        ((20, 16), (0, 0, 1, 0)),
        ((16, None), (1, 1, 0, 0)),
        ((None, 20), (0, 0, 1, 0)),
        ((None, None), (0, 0, 0, 1)),
        ((16, 12, None, 16), (0, 0, 1, 0)),
    ],
)
def test_a_number_counts_once_and_is_within_only_if_each_reading_is(
    values: tuple[float | None, ...], sums: tuple[int, ...]
) -> None:
    first, *others = (judge(_claim(name=f"n{at}"), Measured(value), "9") for at, value in enumerate(values))
    readings = [judge(_claim(name="r", same_as="9.n0"), Measured(one["measured"]), "10") for one in others]
    own = _judged("other", 16)
    found = sums_of([first, *readings, own], [])
    assert (found.near - 1, found.within - 1, found.outside, found.not_comparable) == sums
    assert found.numbers == 2


def test_a_derived_number_is_judged_and_does_not_count() -> None:
    claim = _judged("one", 30, derived="32 less 16")
    assert claim["verdict"] == "outside"
    assert sums_of([claim], []).numbers == 0


def test_statements_of_a_source_and_own_expectations_have_two_sums() -> None:
    stated = [judge(_expectation(at="section 3"), Measured(value), "9") for value in (1, 0, 2)]
    own = [judge(_expectation(), Measured(0), "9")]
    found = sums_of([*stated, *own], [])
    assert (found.stated_met, found.stated_not_met, found.met, found.not_met) == (2, 1, 0, 1)
    assert found.numbers == 0


@pytest.mark.parametrize(("span", "whole"), [(1, 0), (0, 1)])
def test_a_statement_counts_in_the_reading_that_its_source_supports(span: float, whole: float) -> None:
    """A span of time that a source does not name made half of a study's statements come true."""
    counting = judge(_expectation(name="whole", at="section 3"), Measured(whole), "9")
    other = judge(_expectation(at="section 3", counted_by="whole"), Measured(span), "9")
    assert (counting["counts_as"], other["counts_as"]) == ("", "9.whole")
    assert other["verdict"] == ("met" if span else "not met")
    found = sums_of([counting, other], [])
    assert (found.stated_met, found.stated_not_met, found.numbers) == (whole, 1 - whole, 0)
    with pytest.raises(ValueError, match="`counted_by` is for what a source states"):
        _expectation(counted_by="whole")


def test_each_further_variant_is_a_reading_with_a_verdict_of_its_own() -> None:
    change = {"date": "2026-11-28", "before": "shown", "after": "judged", "why": "it ran"}
    also = {"variants": ["B", "C = 0.5"], "cause": "another rule", "history": [change]}
    figure = Reproduction.model_validate_json(json.dumps({"figure": "9", "claims": [STATED | {"also": also}]}))
    first, second, third = figure.of([]).claims
    assert [one.name for one in (first, second, third)] == ["one", "one_b", "one_c_0_5"]
    assert [one.counts_as("9") for one in (first, second, third)] == ["9.one"] * 3
    assert [(one.measure.model_dump()["variant"], one.text) for one in (second, third)] == [
        ("B", "one; as B"),
        ("C = 0.5", "one; as C = 0.5"),
    ]
    assert (first.history, len(second.history), second.cause) == ([], 1, "another rule")
    with pytest.raises(ValueError, match="`also` needs a measure of a variant's runs"):
        _claim(also=also, measure={"kind": "ratio", "of": "a", "to": "b"})


def test_each_further_variant_of_a_statement_is_judged() -> None:
    one = {"name": "one", "text": "one", "band": {"min": 4, "max": 6, "source": "4 to 6"}, "at": "section 3"}
    also = {"variants": ["B"], "cause": "another rule"}
    stated = {**one, "measure": MEASURE, "also": also}
    figure = Reproduction.model_validate_json(json.dumps({"figure": "9", "expectations": [stated]}))
    first, second = figure.of([]).expectations
    assert (first.name, second.name, second.at) == ("one", "one_b", "section 3")
    assert second.measure.model_dump()["variant"] == "B"
    assert (judge(second, Measured(7), "9")["verdict"], second.cause) == ("not met", "another rule")
    with pytest.raises(ValueError, match="`also` needs a measure of a variant's runs"):
        _expectation(also=also, measure={"kind": "ratio", "of": "a", "to": "b"})


def test_the_farthest_reading_is_far_from_the_number_of_the_source() -> None:
    farthest = {"kind": "farthest", "of": MEASURE, "by": ["iw"], "from_number": 15}
    with pytest.raises(ValueError, match="from_number is 15, and the source's number is 16"):
        _claim(measure=farthest)


def test_near_is_within_ten_per_cent_of_the_number_whatever_its_band() -> None:
    for value, near, within in ((0.957, 1, 1), (0.9892, 1, 0), (0.86, 1, 0), (0.857, 0, 0)):
        found = sums_of([_judged("one", value, paper=0.953, whole=1)], [])
        assert (found.near, found.within) == (near, within)
    for value, near in ((0.0, 1), (1e-6, 0)):
        assert sums_of([_judged("one", value, paper=0)], []).near == near


def test_the_history_of_a_figure_is_that_of_its_numbers() -> None:
    change = {"date": "2026-11-27", "before": "a", "after": "b", "why": "c"}
    text = {"figure": "9", "claims": [STATED | {"history": [change]}], "history": [change | {"before": "grid"}]}
    figure = Reproduction.model_validate_json(json.dumps(text))
    (claim,) = record("title", figure, {"one": Measured(1)})["claims"]
    assert [one["before"] for one in claim["history"]] == ["a", "grid"]


def test_a_percentile_of_few_values_is_no_data(made_up: FigureRuns) -> None:
    how = {"kind": "sample", "table": "flows", "variant": "A", "column": "fct_ns"}
    found = measure(made_up, _measure({**how, "statistic": "p99"}), {})
    assert found.few == "no data: 3 values, and a p99 needs 100"
    assert measure(made_up, _measure({**how, "statistic": "p50"}), {}).few == ""
    assert measure(made_up, _measure({**how, "statistic": "mean"}), {}).few == ""
    ratio = _measure({"kind": "ratio", "of": "few", "to": "many"})
    assert measure(made_up, ratio, {"few": found, "many": Measured(1)}).few == found.few


@pytest.mark.parametrize("band", [{}, {"min": 2, "max": 1}, {"min": 1, "source": ""}])
def test_an_expectation_has_an_end_and_a_source(band: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="band"):
        _expectation(band={"source": "spec", **band})


def test_a_figure_has_the_verdicts_of_its_numbers() -> None:
    claims = [_claim(), _claim(name="off", cause="rain")]
    figure = Reproduction(figure="9", note="a note", claims=claims, expectations=[_expectation()])
    found = record("title", figure, {"one": Measured(16), "off": Measured(20), "two": Measured(0)})
    assert found["verdicts"] == {"one": "within", "off": "outside", "two": "not met"}
    assert found["note"] == "a note | outside: off: rain | not met: two: no cause is known"


def test_numbers_are_measured_behind_those_that_they_combine(made_up: FigureRuns) -> None:
    ratio = _claim(measure={"kind": "ratio", "of": "two", "to": "two"})
    found = measure_all(made_up, [ratio, _expectation()])
    assert found["one"].value == 1


def test_the_table_for_a_readme() -> None:
    claims = [_claim(paper=16, unit="senders", cause="bursts")]
    text = markdown([record("title", Reproduction(figure="9a", claims=claims), {"one": Measured(6)})])
    assert "| 9a | one | 16 senders | 14.4 to 17.6 (text: 10 %) | 6 senders | -62.5 % | outside |" in text
    assert "- figure 9a, one: outside: bursts" in text
    assert [number(value) for value in (None, 3.0, 3.14159, 1e12)] == ["-", "3", "3.142", "1e+12"]


# ---- end to end ----

CLAIMS: list[dict[str, Any]] = [
    {
        "name": "limit",
        "text": "without a timeout",
        "paper": 4,
        "at": "section 2",
        "reading": "text",
        "measure": {"kind": "value", "variant": "Reno", "column": "senders", "points": "max"},
    },
    {
        "name": "goodput",
        "text": "goodput",
        "unit": "Gb/s",
        "paper": 15,
        "at": "table 1",
        "reading": "table",
        "measure": {"kind": "value", "variant": "Reno", "column": "goodput_bps", "scale": 1e-9},
        "cause": "a link carries no more than its rate",
    },
]


def study(folder: Path, **changes: Any) -> Path:
    """A study of one small scenario, drawn, and a ratio over it."""
    base = scenario(**{"seeds": [1, 2, 3], "sweep": {"topology.senders": [2, 3, 4]}, **changes})
    figure = {"kind": "over_sweep", "file": "small.png", "x": "senders", "panels": [{"y": "goodput_bps"}]}
    files: dict[str, dict[str, Any]] = {
        "base.yaml": base,
        "small.yaml": {
            "extends": "base.yaml",
            "figures": [figure],
            "reproduces": {"figure": "1", "claims": CLAIMS},
        },
        "later.yaml": {"extends": "base.yaml", "seeds": [1], "reproduces": {"figure": "2", "claims": CLAIMS[:1]}},
        "reproduce.yaml": {
            "name": "small",
            "title": "small",
            "source": "our own",
            "figures": [
                {"file": "small.yaml"},
                {"file": "later.yaml", "on_request": True, "full": {"traffic.sru_bytes": 30_000}},
            ],
            "over_all": [
                {
                    "figure": "headline",
                    "numbers": [
                        {"name": "r", "text": "r", "measure": {"kind": "ratio", "of": "1.limit", "to": "1.goodput"}}
                    ],
                }
            ],
        },
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_text(json.dumps(data, indent=1), encoding="utf-8")
    return folder / "reproduce.yaml"


def command(*arguments: str) -> list[str]:
    """The command line."""
    return [sys.executable, "-m", "p4cc.cli", "reproduce", *arguments]


def cli(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs it to the end."""
    return p4cc("reproduce", *arguments)


def contents(folder: Path) -> dict[str, bytes]:
    """Everything written but wall times, which stand in summary.json and run.json, and their hashes in the manifest."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("summary.json", "run.json", MANIFEST)
    }


def test_the_records_of_a_study(tmp_path: Path) -> None:
    done = cli(str(study(tmp_path / "study")), "--json", "--out", str(tmp_path / "out"))
    # A source's number outside its band is a finding, not a failure.
    assert done.returncode == 0, done.stderr
    records = json.loads(done.stdout)
    assert [one["figure"] for one in records] == ["1", "headline"]
    for one in records:
        assert {"figure", "paper", "measured", "verdicts", "note"} <= one.keys()
        assert one["paper"].keys() == one["measured"].keys()
    first, headline = records
    assert first["paper"] == {"limit": 4, "goodput": 15}
    assert first["measured"]["limit"] == 4
    assert 0 < first["measured"]["goodput"] < 10
    assert first["verdicts"] == {"limit": "within", "goodput": "outside"}
    assert first["note"] == "outside: goodput: a link carries no more than its rate"
    assert headline["verdicts"] == {"r": None}
    assert headline["measured"]["r"] == pytest.approx(4 / first["measured"]["goodput"])
    written = contents(tmp_path / "out")
    assert json.loads(written["reproduce.json"]) == records
    assert written["small/small.png"].startswith(b"\x89PNG")
    assert b"| 1 | without a timeout | 4 |" in written["table.md"]


def test_an_expectation_that_is_not_met_is_a_failure(tmp_path: Path) -> None:
    path = study(tmp_path / "study")
    later = path.parent / "later.yaml"
    expected = {"name": "e", "text": "e", "measure": CLAIMS[0]["measure"], "band": {"min": 5, "source": "our own"}}
    data = json.loads(later.read_text())
    later.write_text(json.dumps({**data, "reproduces": {"figure": "2", "expectations": [expected]}}))
    done = cli(str(path), "--only", "2", "--json", "--out", str(tmp_path / "out"))
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)[0]["verdicts"] == {"e": "not met"}


def test_one_figure_on_request_and_the_table(tmp_path: Path) -> None:
    path = str(study(tmp_path / "study"))
    done = cli(path, "--only", "2", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "without a timeout" in done.stdout
    assert "within" in done.stdout
    assert set(contents(tmp_path / "out")) >= {"reproduce.json", "table.md", "later/flows.parquet"}
    listed = json.loads(cli(path, "--list", "--json").stdout)
    assert [one["figure"] for one in listed[0]["figures"]] == ["1", "2", "headline"]
    wrong = cli(path, "--only", "3")
    assert wrong.returncode == 2
    assert "no figure '3'" in wrong.stderr


def test_a_run_that_fails_is_exit_code_2(tmp_path: Path) -> None:
    path = study(tmp_path / "study", limits={"max_events": 10})
    done = cli(str(path), "--json", "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "case figure 1: Reno" in done.stderr
    assert not (tmp_path / "out" / "reproduce.json").exists()


def test_full_takes_20_seeds_where_seeds_are_drawn(tmp_path: Path) -> None:
    path = study(tmp_path / "study", sweep={"topology.senders": [2]})
    done = cli(str(path), "--full", "--json", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert [one["figure"] for one in json.loads(done.stdout)] == ["1", "2", "headline"]
    seeds = [
        {run["seed"] for run in json.loads((tmp_path / "out" / name / "summary.json").read_text())["runs"]}
        for name in ("small", "later")
    ]
    assert seeds == [set(range(1, 21)), {1}]
    # A figure may have more for a full run.
    sizes = [pl.read_parquet(tmp_path / "out" / name / "flows.parquet")["size_bytes"] for name in ("small", "later")]
    assert [set(of) for of in sizes] == [{20_000}, {30_000}]


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_study_that_was_stopped_ends_with_the_same_bytes(tmp_path: Path, sent: signal.Signals) -> None:
    path = str(study(tmp_path / "study", traffic={"kind": "incast", "sru_bytes": 2_000_000}))
    assert cli(path, "--json", "--out", str(tmp_path / "whole" / "out")).returncode == 0
    out = tmp_path / "stopped" / "out"
    cache = tmp_path / "stopped" / ".p4cc-cache"
    process = subprocess.Popen(
        command(path, "--json", "--jobs", "1", "--out", str(out)), cwd=ROOT, stdout=-3, stderr=-3
    )
    # As soon as one run is kept: others are under way, no result is written yet.
    deadline = time.monotonic() + 60
    while not (kept := list(cache.glob("??/*.zip"))) and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(sent)
    code = process.wait(timeout=60)
    assert kept
    assert code == (-9 if sent is signal.SIGKILL else 130)
    assert not (out / "reproduce.json").exists()
    done = cli(path, "--json", "--out", str(out))
    assert done.returncode == 0, done.stderr
    # Nothing half-written is left either.
    assert contents(out) == contents(tmp_path / "whole" / "out")
    assert not list(out.rglob("*.partial"))


def test_a_number_that_is_combined_of_itself_does_not_overflow_the_check_of_readings(tmp_path: Path) -> None:
    ratio = STATED | {"measure": {"kind": "ratio", "of": STATED["name"], "to": STATED["name"]}}
    figure = Reproduction.model_validate_json(json.dumps({"figure": "9", "claims": [ratio]}))
    check_readings(tmp_path / "reproduce.yaml", [figure])
