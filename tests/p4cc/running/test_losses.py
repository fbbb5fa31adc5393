"""What a run says of packets that its programs dropped, and of those that reached the wrong host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.p4cc.running.test_program_state import NOTHING, PROGRAM
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path


def told(folder: Path, rule: str, **record: Any) -> tuple[list[str], list[str]]:
    """Warnings and notes of a run whose program ends with a rule of its own."""
    (folder / "odd.p4").write_text(PROGRAM.replace("dmac.apply();", f"dmac.apply();\n        {rule}"))
    data = scenario(switch={"program": "odd.p4"}, record={**NOTHING, **record}, stop_ns=5_000_000)
    outcome = run(folder, data).outcome
    return outcome.warnings, outcome.notes


def test_drops_of_the_program_are_said(tmp_path: Path) -> None:
    warnings, notes = told(tmp_path, "if (standard.ingress_port == 1) { mark_to_drop(standard); }")
    assert any("s1: " in note and "packets dropped by its program in ingress" in note for note in notes)
    assert not any("refused" in warning for warning in warnings)


@pytest.mark.parametrize(("record", "who"), [({}, "hosts refused"), ({"packets_received": {}}, "h2 refused")])
def test_packets_at_the_wrong_host_are_warned_of(tmp_path: Path, record: dict[str, Any], who: str) -> None:
    rule = "if (standard.ingress_port == 1) { standard.egress_spec = 2; }"
    warnings, notes = told(tmp_path, rule, **record)
    (said,) = [warning for warning in warnings if "refused" in warning]
    assert who in said
    assert "record.packets_received" in said
    assert not any("dropped" in note for note in notes)


def test_a_run_that_loses_nothing_says_nothing(tmp_path: Path) -> None:
    warnings, notes = told(tmp_path, "")
    assert not any("dropped" in one or "refused" in one for one in (*warnings, *notes))


def test_a_stall_is_a_warning_with_its_cause(tmp_path: Path) -> None:
    """Half of all packets are lost, and a paced sender without a timeout does not send the last ones again."""
    data = scenario(
        topology={"kind": "star", "senders": 2, "loss": 0.5},
        switch={"program": "p4src/v1model/ecn_red.p4", "ecn_profile": "rfc3168"},
        transport={"kind": "rdma"},
        variants=[{"name": "line rate", "rate_control": {"name": "fixed"}}],
    )
    ran = run(tmp_path, data)
    assert ran.runs[0]["outcome"] == "stalled"
    (text,) = (one for one in ran.outcome.warnings if "stalled" in one)
    assert text.startswith("case line rate seed 1: stalled: at ")
    assert "lost on links, and without rto_ns no sender repeats the last packets of a flow" in text


def test_warnings_of_a_plan_have_file_line_and_column(tmp_path: Path) -> None:
    ran = run(tmp_path, scenario(topology={"kind": "star", "senders": 4, "rtt_ns": 4}))
    (text,) = (one for one in ran.outcome.warnings if "rtt_ns" in one)
    path = tmp_path / "scenario.yaml"
    line = next(
        number for number, of in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if '"rtt_ns"' in of
    )
    assert text.startswith(f"{path}:{line}:")
    assert ": topology.rtt_ns 4 is 4 ns" in text
    given = run(tmp_path, scenario(), "topology.rtt_ns=8")
    assert any(one.startswith("--set topology.rtt_ns=8: topology.rtt_ns 8 is 8 ns") for one in given.outcome.warnings)
