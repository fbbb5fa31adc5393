"""The ways in which a switch under test moves packets."""

from __future__ import annotations

import pytest

from tests.switchd.namespaces import IO, needs_af_xdp


@pytest.fixture(params=["packet", "af_xdp"])
def io(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The way that every switch of a lab takes in this test."""
    if request.param == "af_xdp":
        needs_af_xdp()
    monkeypatch.setitem(IO, "way", request.param)
    return request.param
