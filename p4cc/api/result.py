"""A results folder: the record of the runs, and their tables as frames."""

# pyarrow's stubs leave some types open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import html
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow.parquet as pq

from p4cc.analysis.all_tables import all_tables, runs_frame, statistics_frame, write_csv
from p4cc.analysis.recorded import read_results
from p4cc.analysis.tables import TABLE_NAMES
from p4cc.api.tables import Tables, shown
from p4cc.errors import UserError

if TYPE_CHECKING:
    from os import PathLike

    import pyarrow as pa

    from p4cc.analysis.intervals import Interval


class Result(Tables):
    """The results of a run in a folder: its tables as polars frames (`result.flows`, `result.queues`, ...).

    `to_csv(folder)` writes all of them, `to_pandas()` returns them; pandas must be installed. `units` and `describe`
    explain the columns. A table without rows is an empty frame.

    Raises UserError for a folder that p4cc did not write, or that is incomplete.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        """Reads run.json and summary.json; tables are read on first use."""
        super().__init__()
        self.folder = Path(folder)
        """The folder of the files."""
        self._results = read_results(self.folder)

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self._results.run.scenario.name

    @property
    def runs(self) -> pl.DataFrame:
        """One row per run (variant, point of the sweep, seed) with its numbers, as in summary.json."""
        return runs_frame(self._results)

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario as run, with all defaults."""
        return self._results.run.scenario.model_dump()

    @property
    def tables(self) -> list[str]:
        """Names of the non-empty tables."""
        return [name for name in TABLE_NAMES if self._path(name).exists()]

    def statistics(self, interval: Interval | None = None) -> pl.DataFrame:
        """Each number of the runs over the seeds, a row for each variant, point of the sweep and number.

        Columns: the keys of the runs, `metric`, `seeds`, `values` (seeds with one), `mean`, `low`, `high`, `median`,
        `interval`. `interval` is `t` or `bootstrap` (95 % confidence intervals of the mean) or `range` (smallest and
        largest value); it defaults to the scenario's.
        """
        return statistics_frame(self._results, interval)

    def to_csv(self, folder: str | PathLike[str]) -> list[Path]:
        """Writes `runs.csv`, `statistics.csv` and a file for each non-empty table to a folder, created if absent.

        Returns the files. Null is an empty field. Raises UserError if it cannot write them.
        """
        return list(write_csv(all_tables(self._results), folder))

    def to_pandas(self) -> dict[str, Any]:
        """`runs`, `statistics` and every non-empty table as pandas frames, by name.

        Raises UserError if pandas is not installed.
        """
        try:
            importlib.import_module("pandas")
        except ImportError as error:
            remedy = "pip install pandas"
            raise UserError("pandas is not installed", place="Result.to_pandas", remedy=remedy) from error
        return {name: frame.to_pandas() for name, frame in all_tables(self._results)}

    def _frame(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self._path(name))

    def _schema(self, name: str) -> pa.Schema:
        return pq.read_schema(self._path(name))

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.parquet"

    def __repr__(self) -> str:
        """The scenario, its runs and the folder."""
        return f"Result({self.name}: {len(self._results.runs)} runs, {len(self.tables)} tables, {self.folder})"

    def _repr_html_(self) -> str:
        """For notebooks: the folder, and the runs as a table."""
        runs = self.runs
        kept = [name for name in _SHOWN if name in runs.columns]
        heading = html.escape(repr(self))
        return f"<p>{heading}</p>{shown(runs.select(kept))}"


_SHOWN = (
    "variant",
    "algorithm",
    "senders",
    "seed",
    "outcome",
    "finish_ns",
    "goodput_bps",
    "drops",
    "timeouts",
    "peak_queue_pkts",
)


def load(folder: str | PathLike[str]) -> Result:
    """Reads a folder that `p4cc run` or `p4cc.run` wrote; raises UserError for any other.

    For example `p4cc.load("results/gst-incast").flows`.
    """
    return Result(folder)
