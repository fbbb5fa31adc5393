"""Values that nobody means are warned of, with the value as understood; no experiment of the project has such ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from p4cc.planning import plausible
from p4cc.running.prepared import prepare
from p4cc.running.request import RunRequest
from p4cc.scenario.load import validate
from p4cc.scenario.schema import Variant
from p4cc.scenario.yaml import read_document
from tests.command_line import BARE, p4cc
from tests.p4cc.scenarios import ROOT, run, scenario, write

if TYPE_CHECKING:
    from p4cc.running.outcome import RunOutcome

EXPERIMENTS = sorted(path for path in (ROOT / "experiments").glob("*/*.yaml") if path.name != "reproduce.yaml")
POISSON = {"kind": "poisson", "size": {"kind": "fixed", "bytes": 1_000}, "end_ns": 10_000}
PRAGUE: dict[str, Any] = {"name": "Prague", "congestion_avoidance": {"name": "prague"}}
RDMA = {"transport": {"kind": "rdma"}, "variants": [{"name": "DCQCN", "rate_control": {"name": "dcqcn"}}]}


def warned(folder: Path, data: dict[str, Any]) -> RunOutcome:
    return run(folder, data).outcome


def star(**changes: Any) -> dict[str, Any]:
    """A small incast on a network with these properties, which ends soon whatever they are."""
    return scenario(
        topology={"kind": "star", "senders": 2, "queue_capacity_pkts": 100, **changes},
        switch={"thresholds": {"k_rule": "never"}},
        transport={"rto_min_ns": 200_000_000},
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (star(rate_bps=25), "topology.rate_bps 25 is 25 bit/s"),
        (star(rate_bps=25_000), "topology.rate_bps 25000 is 25 kbit/s"),
        (star(rate_bps=10**13), "topology.rate_bps 10000000000000 is 10 Tbit/s"),
        (star(rtt_ns=32_000_000_000), "topology.rtt_ns 32000000000 is 32 s"),
        (star(rtt_ns=8), "topology.rtt_ns 8 is 8 ns"),
        (
            star(link_changes=[{"a": "h1", "delay_ns": 8_000_000_000}]),
            "topology.link_changes[0].delay_ns 8000000000 is 8 s",
        ),
        (star(link_changes=[{"a": "h1", "delay_ns": 8}]), "delay_ns 8 is 8 ns, the propagation delay of 1.6 m"),
        (scenario(traffic={**POISSON, "load": 3}), "traffic.load 3 is 300 %"),
        (scenario(traffic=[{**POISSON, "load": 1.5}]), "traffic[0].load 1.5 is 150 %"),
        (
            scenario(transport={"rto_min_ns": 2_000, "rto_init_ns": 2_000_000}),
            "transport.rto_min_ns 2000 is 2 us, less than the longest round-trip time of the empty network, 100 us",
        ),
        (
            scenario(
                variants=[{"name": "x", "congestion_avoidance": {"name": "reno"}, "transport": {"rto_min_ns": 9}}]
            ),
            "variant x: transport.rto_min_ns 9 is 9 ns",
        ),
        (scenario(**(RDMA | {"transport": {"kind": "rdma", "rto_ns": 50}})), "transport.rto_ns 50 is 50 ns"),
        (
            scenario(
                switch={
                    "thresholds": {"k_rule": "fixed", "k_pkts": 20},
                    "buffer": {"bytes": 1_000, "lossless_priorities": []},
                }
            ),
            "switch.buffer.bytes 1000 is 1 kB, less than one packet of 1500 B",
        ),
        (
            scenario(topology={"kind": "star", "senders": 1, "rate_bps": 4 * 10**11, "rtt_ns": 10**8}, transport={}),
            "one flow reaches 22 % of the line",
        ),
        (
            star(rate_bps=10**11, rtt_ns=100_000)
            | {"switch": {"thresholds": {"k_rule": "fixed", "k_pkts": 20}, "ecn_profile": "rfc3168"}}
            | {"variants": [PRAGUE]},
            "variant Prague: rtt_virt_ns is 25 ms, 250 times the longest round-trip time, 100 us: prague grows",
        ),
        (scenario(stop_ns=50_000), "stop_ns 50000 is 50 us, less than one round-trip time"),
    ],
)
def test_a_value_that_nobody_means_is_a_warning(tmp_path: Path, data: dict[str, Any], said: str) -> None:
    outcome = warned(tmp_path, {**data, "stop_ns": min(data["stop_ns"], 200_000_000)})
    assert [said in warning for warning in outcome.warnings].count(True) == 1
    told = json.loads((outcome.folder / "run.json").read_text(encoding="utf-8"))
    assert told["warnings"] == outcome.warnings == outcome.summary["warnings"]


@pytest.mark.parametrize(
    ("variant", "line_bps", "rtt_ns", "packet_bytes", "said"),
    [
        ({"name": "HPCC", "rate_control": {"name": "hpcc"}}, 300 * 10**9, 10_000, 1_500, ["takes 40 ns at 300 Gbit/s"]),
        ({"name": "HPCC", "rate_control": {"name": "hpcc"}}, 400 * 10**9, 10_000, 1_500, ["takes 30 ns at 400 Gbit/s"]),
        ({"name": "HPCC", "rate_control": {"name": "hpcc"}}, 400 * 10**9, 10_000, 4_100, []),
        ({"name": "HPCC", "rate_control": {"name": "hpcc"}}, 100 * 10**9, 10_000, 1_500, []),
        ({"name": "DCQCN", "rate_control": {"name": "dcqcn"}}, 400 * 10**9, 10_000, 1_500, []),
        ({"name": "paced", "rate_control": {"name": "prague_paced"}}, 10**10, 100_000, 1_500, ["rtt_virt_ns is 25 ms"]),
        # As far as the Internet's, or a line that two segments fill.
        (PRAGUE, 10**10, 5_000_000, 1_500, []),
        (PRAGUE, 10**9, 10_000, 1_500, []),
        (
            {"name": "own", "congestion_avoidance": {"name": "prague", "rtt_virt_ns": 100_000}},
            10**10,
            100_000,
            1_500,
            [],
        ),
        ({"name": "Reno", "congestion_avoidance": {"name": "reno"}}, 4 * 10**11, 10_000, 1_500, []),
    ],
)
def test_a_sender_below_its_line_is_warned_of(
    variant: dict[str, Any], line_bps: int, rtt_ns: int, packet_bytes: int, said: list[str]
) -> None:
    found = list(plausible.of_sender(Variant.model_validate(variant), line_bps, rtt_ns, packet_bytes))
    assert len(found) == len(said)
    for warning, text in zip(found, said, strict=True):
        assert warning.startswith(f"variant {variant['name']}: ")
        assert text in warning


def test_what_is_refused_for_such_a_value_names_it_too(tmp_path: Path) -> None:
    data = star(rtt_ns=32_000_000_000) | {"switch": {"thresholds": {"k_rule": "halve_once"}}}
    with pytest.raises(UserError) as refused:
        run(tmp_path, data)
    assert "topology.rtt_ns 32000000000 is 32 s" in refused.value.remedy


def test_a_warning_goes_to_stderr_once(tmp_path: Path) -> None:
    two = [{"name": name, "congestion_avoidance": {"name": "reno"}} for name in ("a", "b")]
    write(tmp_path, {**star(rate_bps=25_000), "variants": two, "seeds": [1, 2], "stop_ns": 1_000_000})
    done = p4cc("run", "scenario.yaml", "--out", "out", folder=tmp_path, env=BARE)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("topology.rate_bps 25000 is 25 kbit/s") == 1
    assert "kbit/s" not in done.stdout


@pytest.mark.parametrize("data", [star(), star(rate_bps=50_000_000, rtt_ns=20_000_000), star(rtt_ns=0)])
def test_what_is_usual_is_run_without_a_word(tmp_path: Path, data: dict[str, Any]) -> None:
    assert warned(tmp_path, data).warnings == []


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_experiment_has_odd_links_or_loads(path: Path) -> None:
    document = read_document(path)
    assert list(plausible.of_scenario(validate(document, document.plain()))) == []


def test_a_swept_value_is_looked_at_too(tmp_path: Path) -> None:
    data = {**star(), "sweep": {"topology.rate_bps": [10_000_000_000, 25]}}
    cases = prepare(RunRequest(write(tmp_path, data))).cases
    assert [len(list(plausible.of_scenario(case.scenario))) for case in cases] == [0, 1]
