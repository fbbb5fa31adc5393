"""`p4cc controller plan` through the command line: one link, a network by class of ports, what is chosen and why."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from controller.cli import app
from tests.command_line import p4cc

ROOT = Path(__file__).resolve().parents[2]
LEAF_SPINE = ["--topology", "leaf_spine", "--set", "leaves=2", "--set", "spines=2", "--set", "hosts_per_leaf=4"]


def plan(*arguments: str) -> Result:
    """The command on a terminal of 80 characters."""
    return CliRunner().invoke(app, ["plan", *arguments], env={"COLUMNS": "80"})


def plain(*arguments: str, code: int = 0) -> dict[str, Any]:
    """What `--json` prints."""
    result = plan(*arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def chosen(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The chosen reading of every setting."""
    return {one["name"]: one for one in found["settings"] if one["chosen"]}


def test_every_setting_of_a_link_in_packets_bytes_and_queue() -> None:
    """10 Gb/s, 100 us, 1500 B: 1.2 us a packet."""
    found = plain("--buffer-pkts", "150")
    of = chosen(found)
    assert len(of) == len([one for one in found["settings"] if one["chosen"]])
    sizes = {
        name: (one["size_pkts"], one["size_bytes"], one["queue_us"]) for name, one in of.items() if "queue_us" in one
    }
    assert sizes == {
        "k_dc": (65.0, 97_500, pytest.approx(78.0)),
        "k": (25.0, 37_500, pytest.approx(30.0)),
        # HPCC's settings for DCQCN: 100 and 400 kB for each 25 Gb/s.
        "k_min": (pytest.approx(26.667, abs=1e-3), 40_000.0, pytest.approx(32.0)),
        "k_max": (pytest.approx(106.667, abs=1e-3), 160_000.0, pytest.approx(128.0)),
        "w_init": (pytest.approx(83.333, abs=1e-3), 125_000.0, pytest.approx(100.0)),
        # 125000 B (1 - 0.95) / 25
        "w_ai": (pytest.approx(0.1667, abs=1e-3), 250.0, pytest.approx(0.2)),
    }
    numbers = {name: one["value"] for name, one in of.items() if "value" in one}
    assert numbers == {"p_max": 0.2, "eta": 0.95, "max_stage": 5, "base_rtt_ns": 100_000}
    for scheme, year in (("DCTCP", "SIGCOMM 2010"), ("DCQCN", "SIGCOMM 2019"), ("HPCC", "SIGCOMM 2019")):
        assert all(year in one["source"] for one in of.values() if one["scheme"] == scheme)
        assert found["why"][scheme]
    published = {one["name"]: one for one in found["settings"] if one["reading"] == "dcqcn"}
    assert "SIGCOMM 2015" in published["k_min"]["source"]
    assert (published["k_min"]["size_bytes"], published["k_max"]["size_bytes"]) == (1250.0, 50_000.0)
    (bound,) = (one for one in found["settings"] if one["reading"] == "bound")
    assert (bound["size_pkts"], bound["formula"]) == (12.0, "C RTT / 7")


def test_hpccs_step_is_the_papers_at_its_own_figures() -> None:
    """docs/algorithms/int.md#number-hpcc-int: 81 B at 100 Gb/s, 13 us and 100 flows."""
    found = plain("--rate-bps", "100000000000", "--rtt-ns", "13000", "--senders", "100", "--buffer-pkts", "1000")
    assert chosen(found)["w_ai"]["size_bytes"] == pytest.approx(81.25)


def test_a_hundred_gigabits_get_no_less_than_twenty_five() -> None:
    rates = [chosen(plain("--rate-bps", f"{rate}000000000", "--buffer-pkts", "1000")) for rate in (25, 100)]
    assert [one["k_dc"]["size_pkts"] for one in rates] == [162.0, 650.0]
    assert [one["k"]["size_pkts"] for one in rates] == [62.0, 250.0]


def test_what_people_read_fits_80_columns_marks_what_is_chosen_and_names_the_sources() -> None:
    result = plan()
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    assert "…" not in result.stdout
    marked = [line.split()[2] for line in lines if line.startswith("* ")]
    assert marked == ["k_dc", "k", "k_min", "k_max", "w_init", "w_ai"]
    assert any(line.startswith("* ") and "proportional" in line for line in lines)
    for text in ("halve_once", "unusable", "SIGCOMM 2010", "SIGCOMM 2015", "SIGCOMM 2019", "eta 0.95", "p_max 0.2"):
        assert text in result.stdout
    # An equation's number says nothing without its paper.
    assert all("GST paper" in line for line in lines if "equation" in line)


@pytest.mark.parametrize(("buffer_pkts", "k"), [("100", 8), ("150", 33)])
def test_a_rule_of_the_users_is_marked_and_explained(buffer_pkts: str, k: int) -> None:
    found = plain("--buffer-pkts", buffer_pkts, "--k-rule", "halve_once")
    assert (found["k_pkts"], found["k_rule"], chosen(found)["k"]["reading"]) == (k, "halve_once", "halve_once")
    assert "a faster link gets a smaller K, because" in found["why"]["GST"]


@pytest.mark.parametrize("k", ["65", "80"])
def test_k_that_is_not_below_k_dc_is_an_error(k: str) -> None:
    result = plan("--buffer-pkts", "150", "--k-rule", "fixed", "--k-pkts", k, "--k-dc-pkts", "65", "--json")
    assert result.exit_code == 1
    assert f"error: K {k} is not less than K_dc 65" in result.stderr
    assert "remedy: " in result.stderr
    found = json.loads(result.stdout)
    assert (found["k_pkts"], found["k_dc_pkts"], found["k_rule"]) == (int(k), 65, "fixed")
    assert any("level 1 never occurs" in warning for warning in found["warnings"])


def test_a_network_has_a_row_for_each_class_of_ports() -> None:
    result = plan(*LEAF_SPINE, "--set", "queue_capacity_pkts=1000")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert max(len(line.rstrip()) for line in result.stdout.splitlines()) <= 80
    for unit in ("packets", "bytes", "microseconds of queue"):
        assert f"thresholds in {unit}" in result.stdout
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("leaf* to spine*")]
    assert rows[0][3:] == ["4", "40", "1000", "100", "260", "107", "427"]
    assert rows[1][3:] == ["4", "40", "1500000", "150000", "390000", "160000", "640000"]
    assert rows[2][3:] == ["4", "40", "300.0", "30.0", "78.0", "32.0", "128.0"]
    found = plain(*LEAF_SPINE, "--set", "queue_capacity_pkts=1000")
    tiers = {one["tier"]: (one["ports"], one["rate_bps"], one["k_pkts"], one["k_dc_pkts"]) for one in found["tiers"]}
    assert tiers == {
        "leaf* to host": (8, 10_000_000_000, 25, 65),
        "leaf* to spine*": (4, 40_000_000_000, 100, 260),
        "spine* to leaf*": (4, 40_000_000_000, 100, 260),
    }
    # Twice 3 us of wire, and 1500 B on two links of 10 and two of 40 Gb/s.
    assert {one["rtt_ns"] for one in found["tiers"]} == {2 * 4_000 + 2 * 1_200 + 2 * 300}


def test_a_rule_by_which_faster_ports_get_less_is_warned_of() -> None:
    queues = ("--set", "queue_capacity_pkts=150")
    rule = (*queues, "--k-rule", "halve_once", "--rtt-ns", "30000", "--k-dc-pkts", "70")
    result = plan(*LEAF_SPINE, *rule)
    assert result.exit_code == 0
    assert "leaf* to spine* at 40 Gb/s is faster than leaf* to host at 10 Gb/s but has a smaller K (25 and 62" in (
        result.stderr
    )
    assert plain(*LEAF_SPINE, *rule)["warnings"]
    assert not plain(*LEAF_SPINE)["warnings"]


def test_the_network_of_a_scenario() -> None:
    command = ["controller", "plan", "--json"]
    scenario = ["--topology", "experiments/gst/incast.yaml", "--set", "topology.senders=3"]
    done = p4cc(*command, *scenario)
    assert done.returncode == 0, done.stderr
    (tier,) = json.loads(done.stdout)["tiers"]
    assert (tier["tier"], tier["ports"], tier["buffer_pkts"]) == ("s* to host", 4, 150)
    missing = p4cc(*command, "--topology", "nowhere.yaml")
    assert missing.returncode == 2
    assert "nowhere.yaml" in missing.stderr
    assert "Traceback" not in missing.stderr


def test_values_have_units() -> None:
    with_units = plain("--rate-bps", "25G", "--rtt-ns", "20us", "--buffer-pkts", "500pkt", "--packet-bytes", "1kB")
    numbers = plain("--rate-bps", "25000000000", "--rtt-ns", "20000", "--buffer-pkts", "500", "--packet-bytes", "1000")
    assert with_units == numbers
    assert (numbers["rate_bps"], numbers["rtt_ns"]) == (25_000_000_000, 20_000)
    tiers = plain(*LEAF_SPINE, "--set", "host_rate_bps=25G", "--set", "fabric_rate_bps=100Gbps")["tiers"]
    assert {one["rate_bps"] for one in tiers} == {25_000_000_000, 100_000_000_000}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--rate-bps", "25us"], "'25us' is a time; rate_bps expects a rate, such as 25G"),
        (["--rtt-ns", "fast"], "'fast' is not a number; time_ns expects a time"),
        (["--buffer-pkts", "1.5pkt"], "not a whole number"),
        ([*LEAF_SPINE, "--set", "host_rate_bps=8us"], "--set host_rate_bps=8us"),
    ],
)
def test_wrong_units_are_named(arguments: list[str], text: str) -> None:
    result = plan(*arguments)
    assert result.exit_code == 2
    assert text in " ".join(result.output.replace("\u2502", " ").split())
