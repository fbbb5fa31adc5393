"""Values with units become plain numbers; a unit that a field does not have is an error at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p4cc.errors import UserError
from p4cc.running.prepared import prepare
from p4cc.running.request import RunRequest
from p4cc.scenario.units import plain_numbers
from tests.p4cc.scenarios import run, scenario, write
from topos.units import UnitError, parse

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("field", "text", "number"),
    [
        ("rate_bps", "25G", 25_000_000_000),
        ("rate_bps", "25Gbps", 25_000_000_000),
        ("rate_bps", "2.5 Gbit/s", 2_500_000_000),
        ("delay_ns", "8us", 8_000),
        ("delay_ns", "1.5 ms", 1_500_000),
        ("stop_ns", "1_000s", 1_000_000_000_000),
        ("delay_ns", "0.5ns", 0.5),
        ("sru_bytes", "1.5MB", 1_500_000),
        ("bytes", "64KiB", 65_536),
        ("queue_capacity_pkts", "150pkt", 150),
        ("topology.rate_bps", "100M", 100_000_000),
        ("load", "30%", 0.3),
        ("delta_mbps", "10M", 10),
        ("delta_mbps", "1Gbps", 1_000),
        # No units: left to the schema.
        ("rate_bps", "25", None),
        ("name", "25G", None),
        ("title", "30%", None),
        ("kind", "8us", None),
        ("rate_bps", "G", None),
    ],
)
def test_units(field: str, text: str, number: float | None) -> None:
    assert parse(field, text) == number


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("rate_bps", "8us", "is a time; rate_bps expects a rate"),
        ("delay_ns", "25Gbps", "is a rate; delay_ns expects a time"),
        ("sru_bytes", "150pkt", "is a number of packets"),
        ("delay_ns", "8 parsecs", "'parsecs' is not a unit"),
    ],
)
def test_a_unit_of_something_else_is_refused(field: str, text: str, said: str) -> None:
    with pytest.raises(UnitError, match=said):
        parse(field, text)


@given(st.sampled_from(["rate_bps", "delay_ns", "bytes", "k_pkts", "load", "x"]), st.text(max_size=50))
def test_any_text_is_a_number_or_not(field: str, text: str) -> None:
    try:
        number = parse(field, text)
    except UnitError:
        return
    assert number is None or isinstance(number, int | float)


def test_a_scenario_with_units_is_the_scenario_without(tmp_path: Path) -> None:
    plain, units = scenario(stop_ns=500_000_000), scenario(stop_ns="500ms")
    plain["topology"] |= {"rate_bps": 10_000_000_000, "rtt_ns": 98_800}
    units["topology"] |= {"rate_bps": "10G", "rtt_ns": "98.8us", "queue_capacity_pkts": "100pkt"}
    units["traffic"]["sru_bytes"] = "20kB"
    folders = [tmp_path / "plain", tmp_path / "units"]
    for folder in folders:
        folder.mkdir()
    first, second = (run(folder, data) for folder, data in zip(folders, (plain, units), strict=True))
    assert first.bytes() == second.bytes()
    assert '"rate_bps": 10000000000' in (second.outcome.folder / "scenario.json").read_text(encoding="utf-8")


def test_swept_values_with_units_are_numbers_in_results(tmp_path: Path) -> None:
    ran = run(tmp_path, scenario(sweep={"topology.rate_bps": ["1G", "10G"]}))
    assert [one["rate_bps"] for one in ran.runs] == [1_000_000_000, 10_000_000_000]


def test_wrong_units_come_with_all_other_errors_of_a_file(tmp_path: Path) -> None:
    data = scenario(stop_ns="10Gbps", sedes=[1])
    data["topology"]["rate_bps"] = "8us"
    with pytest.raises(UserError) as refused:
        prepare(RunRequest(write(tmp_path, data)))
    text = str(refused.value)
    assert text.count("scenario.yaml:") == 3
    for part in ("$.stop_ns: '10Gbps' is a rate", "$.topology.rate_bps: '8us' is a time", "did you mean 'seeds'"):
        assert part in text


def test_what_has_no_unit_is_as_it_was() -> None:
    data = scenario()
    assert plain_numbers(data, []) == data
