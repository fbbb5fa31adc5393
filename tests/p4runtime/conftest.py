from __future__ import annotations

from collections.abc import Iterator

import pytest

from p4cc import _engine
from tests.p4runtime.session import Program, network_json


@pytest.fixture(scope="session")
def program() -> Program:
    return Program()


@pytest.fixture
def address() -> Iterator[str]:
    """A server over two fresh switches, devices 1 and 2."""
    network = _engine.Network(network_json())
    yield network.serve()
    network.stop_server()
