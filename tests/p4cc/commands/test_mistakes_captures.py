"""What people get wrong with captures; the table of mistakes of test_mistakes.py goes on here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.p4cc.commands.test_mistakes import RUN, Mistake, ends_as_said

if TYPE_CHECKING:
    from pathlib import Path

MISTAKES = (
    Mistake(
        "capture of nobody",
        RUN,
        (
            "case Reno: record.pcap",
            "no link end matches 's2:1'",
            "remedy: name a switch, SWITCH:PORT or a host",
            "s1, h1",
        ),
        changes={"record": {"pcap": ["h1", "s2:1"]}},
    ),
    Mistake(
        "capture of a port by name",
        RUN,
        ("$.record.pcap[0]",),
        changes={"record": {"pcap": ["s1:eth0"]}},
    ),
    Mistake("capture of nothing", RUN, ("$.record.pcap_snap_bytes", "1"), changes={"record": {"pcap_snap_bytes": 0}}),
    Mistake("a small file", RUN, ("$.record.pcap_max_bytes", "100000"), changes={"record": {"pcap_max_bytes": 10_000}}),
    Mistake(
        "captures larger than memory",
        RUN,
        ("record.pcap.max_bytes", "10 captures may take 10000000000 bytes", "remedy: capture fewer ends or bytes"),
        changes={"record": {"pcap": "*", "pcap_max_bytes": 1_000_000_000}},
    ),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.name for mistake in MISTAKES])
def test_mistakes_of_captures(tmp_path: Path, mistake: Mistake) -> None:
    ends_as_said(tmp_path, mistake)
