"""A folder of results as frames: `result.flows`, units, plots."""

# pyarrow's stubs leave some types open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import polars as pl
import pyarrow.parquet as pq

from p4cc.analysis.recorded import read_ran
from p4cc.analysis.tables import KEYS, TABLE_NAMES, table
from p4cc.api.plot import Plot
from p4cc.errors import UserError

if TYPE_CHECKING:
    from os import PathLike


class TableOf:
    """An attribute that is a table of the results."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Takes the attribute's name for the table's."""
        self._name = name
        self.__doc__ = f"One row per {table(name).row}; no rows where the scenario does not ask for it."

    @overload
    def __get__(self, result: None, owner: type) -> TableOf: ...
    @overload
    def __get__(self, result: Result, owner: type) -> pl.DataFrame: ...
    def __get__(self, result: Result | None, owner: type) -> TableOf | pl.DataFrame:
        """The table as a frame, read once."""
        return self if result is None else result.table(self._name)


class Result:
    """What a run left in its folder.

    Tables are polars frames (`result.flows`, `result.queues`, ...); `to_pandas()` of a frame needs pandas.
    `units` and `describe` say what columns hold. A table without rows is a frame without rows.

    Raises UserError, when it is made, for a folder that p4cc did not write or that is not whole.
    """

    flows = TableOf()
    traffic = TableOf()
    rounds = TableOf()
    collectives = TableOf()
    collective_steps = TableOf()
    windows = TableOf()
    algorithm_state = TableOf()
    queues = TableOf()
    queue_stats = TableOf()
    queue_histogram = TableOf()
    events = TableOf()
    checkpoints = TableOf()
    rtts = TableOf()
    goodput = TableOf()
    slowdown = TableOf()
    ports = TableOf()
    port_queues = TableOf()
    counters = TableOf()
    control = TableOf()
    links = TableOf()
    link_bytes = TableOf()
    pauses = TableOf()
    pause_frames = TableOf()
    deadlocks = TableOf()
    packets_sent = TableOf()
    packets_received = TableOf()
    headers = TableOf()
    hosts = TableOf()
    captures = TableOf()
    program_counters = TableOf()
    program_registers = TableOf()
    program_meters = TableOf()
    program_tables = TableOf()
    drops = TableOf()
    program_digests = TableOf()
    program_log = TableOf()
    pod_pairs = TableOf()
    settings = TableOf()

    def __init__(self, folder: str | PathLike[str]) -> None:
        """Reads what was run and what came of each run; tables are read when they are asked for."""
        self.folder = Path(folder)
        """Where the files are."""
        self._ran = read_ran(self.folder)
        self._tables: dict[str, pl.DataFrame] = {}

    @property
    def name(self) -> str:
        """The scenario's."""
        return self._ran.told.scenario.name

    @property
    def runs(self) -> pl.DataFrame:
        """One row per run (variant, point of the sweep, seed) with its numbers, as in summary.json."""
        plain = [
            {key: value for key, value in row.items() if not isinstance(value, list | dict)} for row in self._ran.runs
        ]
        return pl.DataFrame(plain, infer_schema_length=None)

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario as it was run, defaults filled in."""
        return self._ran.told.scenario.model_dump()

    @property
    def plot(self) -> Plot:
        """Figures as matplotlib axes."""
        return Plot(self.table)

    def table(self, name: str) -> pl.DataFrame:
        """A table by name (docs/reference/results.md), without rows if the run left none; raises UserError."""
        if name not in TABLE_NAMES:
            raise UserError(
                f"there is no table {name!r}", place="Result.table", remedy=f"tables: {', '.join(TABLE_NAMES)}"
            )
        if name not in self._tables:
            path = self._path(name)
            columns = {one.name: pl.Null for one in (*KEYS, *table(name).columns)}
            self._tables[name] = pl.read_parquet(path) if path.exists() else pl.DataFrame(schema=columns)
        return self._tables[name]

    @property
    def tables(self) -> list[str]:
        """Names of the tables that have rows."""
        return [name for name in TABLE_NAMES if self._path(name).exists()]

    def units(self, name: str) -> dict[str, str]:
        """Units of a table's columns; columns without one are left out. Raises UserError for an unknown table."""
        return {row["column"]: row["unit"] for row in self.describe(name).iter_rows(named=True) if row["unit"]}

    def describe(self, name: str) -> pl.DataFrame:
        """What the columns of a table hold: `column`, `unit`, `description`, `null` (what null means)."""
        self.table(name)
        path = self._path(name)
        rows: list[tuple[str, ...]]
        if path.exists():
            told: list[tuple[str, dict[bytes, bytes]]] = [
                (one.name, one.metadata or {}) for one in pq.read_schema(path)
            ]
            rows = [(column, *(held.get(key.encode(), b"").decode() for key in _TOLD)) for column, held in told]
        else:
            rows = [(one.name, one.unit or "", one.text, one.null or "") for one in (*KEYS, *table(name).columns)]
        return pl.DataFrame(rows, schema=dict.fromkeys(("column", *_TOLD), pl.String), orient="row")

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.parquet"

    def __repr__(self) -> str:
        """The scenario, its runs and the folder."""
        return f"Result({self.name}: {len(self._ran.runs)} runs, {len(self.tables)} tables, {self.folder})"

    def _repr_html_(self) -> str:
        """For notebooks: where it is, and the runs as a table."""
        shown = self.runs
        kept = [name for name in _SHOWN if name in shown.columns]
        told = html.escape(repr(self))
        return f"<p>{told}</p>{shown.select(kept)._repr_html_()}"  # pyright: ignore[reportPrivateUsage]


_TOLD = ("unit", "description", "null")
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
    """Reads a folder that `p4cc run` or `p4cc.run` wrote; raises UserError for another.

    For example `p4cc.load("results/gst-incast").flows`.
    """
    return Result(folder)
