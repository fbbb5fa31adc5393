"""What people get wrong with entries and records of what programs do; the table of test_mistakes.py goes on here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.p4cc.commands.test_mistakes import RUN, Mistake, ends_as_said

if TYPE_CHECKING:
    from pathlib import Path

TOPOLOGY = """{"hosts": {"h1": {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11"},
"h2": {"ip": "10.0.1.2/24", "mac": "08:00:00:00:01:22"}},
"switches": {"s1": {}}, "links": [["h1", "s1-p1"], ["h2", "s1-p2"]]}"""
MISTAKES = (
    Mistake(
        "entries of a topology file that names none",
        RUN,
        (
            "mine.yaml at topology.entries",
            "topology.json does not name an entry file",
            "remedy: remove topology.entries",
        ),
        changes={
            "topology": {"kind": "import", "file": "topology.json", "entries": True},
            "traffic": {"kind": "bulk", "sources": ["h1"], "destinations": ["h2"], "size_bytes": 1000},
        },
        files={"topology.json": TOPOLOGY},
    ),
    Mistake(
        "no such table",
        RUN,
        ("record.tables.names", "no table of these switches matches ipv4_lmp", "remedy: tables: "),
        changes={"record": {"tables": {"names": ["ipv4_lmp"]}}},
    ),
    Mistake(
        "no such meter",
        RUN,
        ("record.meters.names", "no meter of these switches matches rate", "remedy: meters: none"),
        changes={"record": {"meters": {"names": ["rate"]}}},
    ),
    Mistake(
        "no such digest",
        RUN,
        ("record.digests.names", "no digest of these switches matches learn_t", "remedy: digests: none"),
        changes={"record": {"digests": {"names": ["learn_t"]}}},
    ),
    Mistake(
        "drops of no switch",
        RUN,
        ("record.drops.switches", "no switch matches leaf*", "remedy: switches: s1"),
        changes={"record": {"drops": {"switches": ["leaf*"]}}},
    ),
    Mistake(
        "lines of no switch",
        RUN,
        ("record.log_msg.switches", "no switch matches s9", "remedy: switches: s1"),
        changes={"record": {"log_msg": {"switches": ["s9"]}}},
    ),
    Mistake(
        "no time between drops",
        RUN,
        ("$.record.drops.interval_ns", "1"),
        changes={"record": {"drops": {"interval_ns": 0}}},
    ),
    Mistake(
        "too many lines",
        RUN,
        ("$.record.log_msg.max_lines", "1000000"),
        changes={"record": {"log_msg": {"max_lines": 10_000_000}}},
    ),
    Mistake(
        "too many messages",
        RUN,
        ("$.record.digests.max_messages", "1000000"),
        changes={"record": {"digests": {"max_messages": 10_000_000}}},
    ),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.name for mistake in MISTAKES])
def test_mistakes_of_records(tmp_path: Path, mistake: Mistake) -> None:
    ends_as_said(tmp_path, mistake)
