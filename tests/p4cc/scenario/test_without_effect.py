"""Options of the paced transport without effect are refused with the cause; those that some sender uses are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from p4cc.running.prepared import prepare
from p4cc.running.request import RunRequest
from tests.p4cc.scenarios import scenario, write

if TYPE_CHECKING:
    from pathlib import Path


def check(folder: Path, transport: dict[str, Any], *own: dict[str, Any]) -> None:
    """Reads a scenario whose variants have these transports of their own."""
    variants = [
        {"name": f"v{number}", "rate_control": {"name": "fixed"}, "transport": one}
        for number, one in enumerate(own or ({},))
    ]
    paced = {"kind": "rdma", **transport}
    prepare(RunRequest(write(folder, scenario(transport=paced, variants=variants, own_transports=True))))


SPRAYED = {"recovery": "selective_repeat"}
READS = {"reads": True, "segment_bytes": 16_000}


@pytest.mark.parametrize(
    ("transport", "own", "place", "cause"),
    [
        ({"cnp_processing_ns": 5}, {}, "transport.cnp_processing_ns", "no card sends a CNP"),
        ({}, {"cnp_processing_ns": 5}, r"variants\[0\].transport.cnp_processing_ns", "no card sends a CNP"),
        ({**READS, "ack_processing_ns": 5}, {}, "transport.ack_processing_ns", "there are no ACKs"),
        ({**READS, "ack_bytes": 5_000}, {}, "transport.ack_bytes", "there are no ACKs"),
        ({"ack_bytes": 5_000}, READS, "transport.ack_bytes", "there are no ACKs"),
        ({**SPRAYED, "entropy_values": 64}, {}, "transport.entropy_values", "each flow keeps one path"),
        (
            {**SPRAYED, "entropy": "reps", "entropy_values": 64},
            {"entropy": "flow"},
            "transport.entropy_values",
            "each flow keeps one path",
        ),
        ({"base_rtt": "pair"}, {"base_rtt_ns": 9_000}, r"variants\[0\].transport.base_rtt_ns", "each pair's own time"),
    ],
)
def test_what_has_no_effect_is_refused(
    tmp_path: Path, transport: dict[str, Any], own: dict[str, Any], place: str, cause: str
) -> None:
    with pytest.raises(UserError, match=f"{place}: [a-z_]+ has no effect: .*{cause}"):
        check(tmp_path, transport, own)


USED: list[tuple[dict[str, Any], tuple[dict[str, Any], ...]]] = [
    ({"cnp_processing_ns": 5}, ({"notification": "packet"}, {})),
    ({"cnp_processing_ns": 0, "ack_processing_ns": 5, "ack_bytes": 5_000}, ({},)),
    ({"ack_bytes": 5_000}, ({}, READS)),
    ({**SPRAYED, "entropy": "reps", "entropy_values": 64}, ({"entropy": "flow"}, {})),
    ({}, ({"base_rtt_ns": 9_000},)),
    ({"base_rtt": "pair"}, ({},)),
]


@pytest.mark.parametrize(("transport", "own"), USED)
def test_what_some_sender_uses_is_accepted(
    tmp_path: Path, transport: dict[str, Any], own: tuple[dict[str, Any], ...]
) -> None:
    check(tmp_path, transport, *own)
