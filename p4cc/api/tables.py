"""Results as polars frames: `tables.flows`, units, plots; from a folder, or from a run in progress."""

# pyarrow's stubs leave some types open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, overload

import polars as pl

from p4cc.analysis.tables import KEYS, TABLE_NAMES, table
from p4cc.errors import UserError
from p4cc.extras import needs

if TYPE_CHECKING:
    import pyarrow as pa

    from p4cc.api.plot import Plot

_TOLD = ("unit", "description", "null")


class TableOf:
    """An attribute that is a table of the results."""

    def __set_name__(self, owner: type, name: str) -> None:
        """The attribute's name is that of the table."""
        self._name = name
        self.__doc__ = f"One row per {table(name).row}; empty unless the scenario records it."

    @overload
    def __get__(self, held: None, owner: type) -> TableOf: ...
    @overload
    def __get__(self, held: Tables, owner: type) -> pl.DataFrame: ...
    def __get__(self, held: Tables | None, owner: type) -> TableOf | pl.DataFrame:
        """The table as a frame, read once."""
        return self if held is None else held.table(self._name)


class Tables(ABC):
    """The tables of results as polars frames (`.flows`, `.queues`, ...); `to_pandas()` of a frame needs pandas.

    `units` and `describe` explain the columns. A table without rows is an empty frame.
    """

    flows = TableOf()
    traffic = TableOf()
    rounds = TableOf()
    collectives = TableOf()
    collective_steps = TableOf()
    jobs = TableOf()
    operations = TableOf()
    coflows = TableOf()
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
    watchdog = TableOf()
    slow_receivers = TableOf()
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

    def __init__(self) -> None:
        """Initially, no table is read."""
        self._read: dict[str, pl.DataFrame] = {}

    @abstractmethod
    def _frame(self, name: str) -> pl.DataFrame:
        """A non-empty table."""

    @abstractmethod
    def _schema(self, name: str) -> pa.Schema:
        """Its columns, with texts and units in the metadata."""

    @property
    @abstractmethod
    def tables(self) -> list[str]:
        """Names of the non-empty tables."""

    @property
    def plot(self) -> Plot:
        """Figures as matplotlib axes; raises UserError without the extra `figures`."""
        with needs("plot", "figures"):
            from p4cc.api.plot import Plot

        return Plot(self.table)

    def table(self, name: str) -> pl.DataFrame:
        """A table by name (docs/reference/results.md), empty if the run left none; raises UserError."""
        if name not in TABLE_NAMES:
            kind = type(self).__name__
            raise UserError(
                f"there is no table {name!r}", place=f"{kind}.table", remedy=f"tables: {', '.join(TABLE_NAMES)}"
            )
        if name not in self._read:
            columns = {one.name: pl.Null for one in (*KEYS, *table(name).columns)}
            self._read[name] = self._frame(name) if name in self.tables else pl.DataFrame(schema=columns)
        return self._read[name]

    def units(self, name: str) -> dict[str, str]:
        """Units of a table's columns that have one. Raises UserError for an unknown table."""
        return {row["column"]: row["unit"] for row in self.describe(name).iter_rows(named=True) if row["unit"]}

    def describe(self, name: str) -> pl.DataFrame:
        """The columns of a table: `column`, `unit`, `description`, `null` (the meaning of null).

        Raises UserError for an unknown table.
        """
        self.table(name)
        rows: list[tuple[str, ...]]
        if name in self.tables:
            described: list[tuple[str, dict[bytes, bytes]]] = [
                (one.name, one.metadata or {}) for one in self._schema(name)
            ]
            rows = [(column, *(held.get(key.encode(), b"").decode() for key in _TOLD)) for column, held in described]
        else:
            rows = [(one.name, one.unit or "", one.text, one.null or "") for one in (*KEYS, *table(name).columns)]
        return pl.DataFrame(rows, schema=dict.fromkeys(("column", *_TOLD), pl.String), orient="row")


def shown(frame: pl.DataFrame) -> str:
    """A frame as HTML for notebooks, with escaped values."""
    return str(frame._repr_html_())  # pyright: ignore[reportPrivateUsage]
