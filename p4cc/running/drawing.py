"""Draws a scenario's figures into a results folder, and reuses figures whose inputs have not changed."""

from __future__ import annotations

import shutil
from contextlib import suppress
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any

import polars as pl

from p4cc.extras import draws_figures, remedy
from p4cc.running.call_cache import drawn_before, figure_key
from p4cc.running.result_folder import digest

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.running.call_cache import Call
    from p4cc.scenario.figures import Figure
    from p4cc.scenario.schema import ScenarioModel


class Drawing:
    """Draws the figures of a call; `drawn` records the inputs of each by name."""

    def __init__(self, scenario: ScenarioModel, results: Path, call: Call | None) -> None:
        """For a final folder `results`; with `call`, figures drawn before are reused."""
        self._scenario = scenario
        self._results = results
        self._call = call
        self.drawn: dict[str, str] = {}
        self._loading: Thread | None = None
        self.note: str | None = None
        """Why figures are missing although nothing is wrong."""

    def load(self) -> None:
        """Imports what drawing needs, in a thread: the engine does not hold the interpreter's lock meanwhile."""
        if self._scenario.figures and self._loading is None and draws_figures():
            # Not a daemon: an interpreter that ends amid the import of a C extension may crash.
            self._loading = Thread(target=_import_drawing, name="p4cc figures")
            self._loading.start()

    def draw(self, runs: list[dict[str, Any]], folder: Path) -> None:
        """Draws into `folder` from the runs and its tables; raises UserError if it cannot."""
        scenario, call = self._scenario, self._call
        if not scenario.figures:
            return
        if not draws_figures():
            self.note = f"figures are not drawn without matplotlib: {remedy('figures')}"
            return
        if self._loading is not None:
            # Two threads that import packages in circles at the same time may see unfinished modules.
            self._loading.join()
        before = {} if call is None else drawn_before(call, self._results)
        shared = [] if call is None else [_tables(folder), runs, scenario.model_dump(mode="json", exclude={"figures"})]
        frame: pl.DataFrame | None = None
        for figure in scenario.figures:
            key = "" if call is None else figure_key(call, [*shared, figure.model_dump(mode="json")])
            if call is not None and before.get(figure.file) == key:
                (folder / figure.file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self._results / figure.file, folder / figure.file)
            else:
                frame = pl.DataFrame(runs, infer_schema_length=None) if frame is None else frame
                draw_figure(figure, frame, folder, scenario)
            self.drawn[figure.file] = key


def draw_figure(figure: Figure, runs: pl.DataFrame, folder: Path, scenario: ScenarioModel) -> None:
    """Draws one figure; raises UserError."""
    # Importing the plotting library takes half a second.
    from p4cc.figures.draw import draw

    draw(figure, runs, folder, scenario)


def _import_drawing() -> None:
    # Drawing repeats a failed import and reports it.
    with suppress(Exception):
        for name in ("p4cc.figures.draw", "p4cc.figures.picture"):
            import_module(name)


def _tables(folder: Path) -> list[tuple[str, str]]:
    return [(path.name, digest(path)) for path in sorted(folder.glob("*.parquet"))]
