"""A scenario of `p4cc init` fills its line with one flow of each sender, or the page says why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.p4cc.networks.line_rate import ENOUGH, PAGE, RATES, RTTS, SENDERS, Cell, known, page_of, share

if TYPE_CHECKING:
    from pathlib import Path

FAST = (("2us", "1G"), ("10us", "100G"), ("100us", "10G"))
TOLERANCE = 0.01


@pytest.mark.parametrize("sender", SENDERS)
@pytest.mark.parametrize(("rtt", "rate"), FAST)
def test_a_flow_fills_the_line(tmp_path: Path, sender: str, rtt: str, rate: str) -> None:
    held = known()["1"][sender][rtt][rate]
    assert held is not None
    assert share(Cell(sender, rtt, rate), tmp_path) == pytest.approx(held, abs=TOLERANCE)


def test_the_grid_is_whole_and_the_page_has_it() -> None:
    shares = known()["1"]
    assert tuple(shares) == tuple(known()["2"]) == SENDERS
    assert all(list(by_rtt) == list(RTTS) for by_rtt in shares.values())
    assert all(list(by_rate) == list(RATES) for by_rtt in shares.values() for by_rate in by_rtt.values())
    text = PAGE.read_text(encoding="utf-8")
    assert page_of(text, known()) == text, "python tests/p4cc/networks/line_rate.py --page"


@pytest.mark.parametrize("flows", ["1", "2"])
def test_the_page_gives_a_reason_for_every_sender_that_does_not(flows: str) -> None:
    heading = {"1": "## Why not", "2": "## Why two flows do not"}[flows]
    reasons = PAGE.read_text(encoding="utf-8").partition(heading + "\n")[2].partition("\n## ")[0]
    for sender, by_rtt in known()[flows].items():
        below = [one for by_rate in by_rtt.values() for one in by_rate.values() if one is not None and one < ENOUGH]
        assert not below or f"`{sender}`" in reasons, f"{sender}: {below}"
