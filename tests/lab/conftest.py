"""Which labs this machine can run: said plainly, as the reason of a skip."""

from __future__ import annotations

import fcntl
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from p4cc.errors import UserError
from p4cc.lab import tools
from p4cc.lab.switches import kind_named
from topos import TopologyError
from topos import mininet as builder

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = Path(__file__).parent / "files"


def _missing(kind: str) -> str:
    try:
        tools.check([*kind_named(kind).missing(), *tools.debian(tools.IN_HOSTS)], [])
        builder.load()
    except (UserError, TopologyError) as error:
        return str(error)
    return ""


@pytest.fixture
def lab_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Records of labs that only this test has; the labs of other workers, whose interfaces have equal names, wait."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("P4CC_LAB_STATE", str(folder))
    with (Path(tempfile.gettempdir()) / "p4cc-test-labs.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


@pytest.fixture(params=["p4cc", "bmv2"])
def kind(request: pytest.FixtureRequest, lab_state: Path) -> str:
    """Every kind of switch that this machine has."""
    del lab_state
    if why := _missing(str(request.param)):
        pytest.skip(f"no lab with {request.param}: {why}")
    return str(request.param)


@pytest.fixture
def own(lab_state: Path) -> str:
    """Our own switch."""
    del lab_state
    if why := _missing("p4cc"):
        pytest.skip(f"no lab: {why}")
    return "p4cc"
