"""A run that somebody watches on its way: what a case needs to know of whoever does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.pipeline import Pipeline
    from p4cc import _engine
    from p4cc.control.load import ControllerClass
    from p4cc.planning.network import NetworkPlan
    from p4cc.running.controller_run import ControlOutcome
    from p4cc.running.progress import Runs
    from p4cc.scenario.expand import Case


class LiveRun(Protocol):
    """Leads the time of the one run of a call, and may change its tables."""

    async def run(
        self,
        networks: tuple[_engine.Network, _engine.Network],
        planned: tuple[Case, NetworkPlan, Mapping[str, Pipeline]],
        chosen: ControllerClass | None,
        progress: tuple[str, Runs],
    ) -> ControlOutcome:
        """Runs a fork (the second network) of an installed network to its end; raises UserError, ControllerError."""
        ...
