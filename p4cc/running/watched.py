"""A run that somebody watches on its way: what runs need to know of the watcher."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from controller.pipeline import Pipeline
    from p4cc import _engine
    from p4cc.control.load import ControllerClass
    from p4cc.planning.network import NetworkPlan
    from p4cc.running.controlled import Left
    from p4cc.running.progress import Runs
    from p4cc.running.runner import Prepared
    from p4cc.scenario.expand import Case


class Watcher(Protocol):
    """Who watches the one run of a call, leads its time, and may change its tables."""

    def begin(self, prepared: Prepared) -> None:
        """Is told what will run; raises UserError."""
        ...

    async def run(
        self,
        networks: tuple[_engine.Network, _engine.Network],
        planned: tuple[Case, NetworkPlan, Mapping[str, Pipeline]],
        chosen: ControllerClass | None,
        progress: tuple[str, Runs],
    ) -> Left:
        """Runs a fork (the second network) of an installed network to its end; raises UserError, ControllerError."""
        ...

    def as_run(self, prepared: Prepared) -> Prepared:
        """What was run in the end, with what was changed on the way: it repeats the run."""
        ...

    def kept(self) -> str:
        """What a call leaves that was interrupted, for people; empty for nothing."""
        ...

    def folder(self, results: Path, name: str) -> Path:
        """Where the results of a watched run of this scenario go, in the folder of all results."""
        ...
