"""The senders and slow starts that a lab asks `p4cc-hosts` for are those that it can load."""

from __future__ import annotations

import re

import pytest

from p4cc.lab import linux_senders
from tests.switchd.namespaces import ROOT

PARAMS = ROOT / "host_agents/linux/src/params.rs"


@pytest.mark.parametrize(
    ("constant", "known"), [("SENDERS", linux_senders.SENDERS), ("SLOW_STARTS", linux_senders.SLOW_STARTS)]
)
def test_the_lab_knows_what_the_loader_loads(constant: str, known: tuple[str, ...]) -> None:
    declared = re.search(rf"^pub const {constant}: .* = \[(.*)\];$", PARAMS.read_text(encoding="utf-8"), re.MULTILINE)
    assert declared is not None
    assert tuple(re.findall(r'"(\w+)"', declared[1])) == known
