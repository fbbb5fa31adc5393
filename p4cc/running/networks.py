"""The engine's network of a plan: built, copied for a seed, served over P4Runtime; its errors become UserErrors."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from controller import ControllerError
from p4cc import _engine
from p4cc.errors import UserError
from p4cc.running.in_process import server_at
from p4cc.user_algorithms.failed import failed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from controller.install import Server
    from p4cc.planning.execution import Exec
    from p4cc.planning.network import NetworkPlan
    from p4cc.running.packet_trace import TraceRequest


def build_network(
    plan: NetworkPlan, label: str, tracing: TraceRequest | None = None, back_end: Exec | None = None
) -> _engine.Network:
    """Builds the network of a plan, without entries; raises UserError. `label` names the case for people."""
    spec_json = plan.spec_json
    if tracing is not None:
        tracing.check_hosts(plan.topology)
        spec_json = tracing.into(spec_json)
    with _refusals(f"case {label}", tracing):
        network = _engine.Network(spec_json, own=[one.for_engine() for one in plan.user_algorithms])
    if back_end is not None:
        network.set_exec(back_end.value)
    return network


def fork_network(
    network: _engine.Network, seed: int, label: str, tracing: TraceRequest | None = None
) -> _engine.Network:
    """Prepares the run of a seed: draws its traffic, which may exceed the engine's limits; raises UserError."""
    with _refusals(f"case {label} seed {seed}", tracing):
        return network.fork(seed)


def serve(network: _engine.Network, beside: _engine.Network | None = None) -> str:
    """Starts the P4Runtime server of a network and returns its address; raises UserError.

    It knows the programs that were pushed to the server of the network `beside`.
    """
    try:
        return network.serve(beside=beside)
    except _engine.ServerError as error:
        raise UserError(error.cause, place="P4Runtime server", remedy=error.remedy) from error


@asynccontextmanager
async def served(network: _engine.Network) -> AsyncGenerator[Server]:
    """Connects to the network's P4Runtime server for one exchange; errors of the controller become UserErrors."""
    address = serve(network)
    try:
        with users_errors():
            yield server_at(address, network)
    finally:
        network.stop_server()


@contextmanager
def run_errors(label: str) -> Generator[None]:
    """Errors that end a run of the engine become UserErrors; `label` names the run for people."""
    try:
        yield
    except _engine.AlgorithmError as error:
        raise failed(error, f"case {label}") from error
    except _engine.RunError as error:
        raise UserError(error.cause, place=f"case {label}", remedy=error.remedy) from error


@contextmanager
def users_errors() -> Generator[None]:
    """Errors of p4cc's controller become UserErrors."""
    try:
        yield
    except ControllerError as error:
        raise UserError(error.cause, place=error.place, remedy=error.remedy) from error


@contextmanager
def _refusals(of: str, tracing: TraceRequest | None) -> Generator[None]:
    """A rejection by the engine as a UserError."""
    try:
        yield
    except _engine.AlgorithmError as error:
        raise failed(error, of) from error
    except _engine.SpecError as error:
        of_trace = None if tracing is None else tracing.refused_by(error)
        raise of_trace or UserError(error.cause, place=f"{of}: {error.place}", remedy=error.remedy) from error
