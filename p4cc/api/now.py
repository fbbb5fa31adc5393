"""Results of a run in progress: the tables up to now, in memory."""

# pyarrow's stubs leave some types open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import polars as pl

from p4cc.analysis.long_tables import whole
from p4cc.analysis.metrics import derive
from p4cc.analysis.tables import TABLE_NAMES, described
from p4cc.api.tables import Tables
from p4cc.running.derived_run import keys_of, measures_of
from p4cc.running.result_writer import engine_tables, with_keys

if TYPE_CHECKING:
    import pyarrow as pa

    from p4cc.running.step_driver import StepDriver


class Snapshot(Tables):
    """A run's results up to an instant, with the tables and columns of a `Result`; later steps do not change them.

    `net.result().flows`, `net.result().plot.queue("s1", "h9")`.
    """

    def __init__(self, run: StepDriver) -> None:
        """Reads the run; `Network.result` makes it."""
        super().__init__()
        planned = run.planned
        left = run.counters()
        result = run.network.result()
        summary, tables = derive(
            measures_of(planned.case, planned.plan),
            {**result.summary(), **left.summary},
            {**engine_tables(result), **left.tables},
        )
        keys = {**keys_of(planned.case), "seed": run.seed}
        self.summary: dict[str, Any] = {**keys, **summary}
        """Summary numbers of the run, as in a row of summary.json; the end of each key is the unit."""
        self._label = run.label
        self._now_ns = run.network.now_ns
        swept = planned.case.columns()
        self._arrow: dict[str, pa.Table] = {}
        for name, table in tables.items():
            if table.num_rows:
                keyed = with_keys(keys, whole(table))
                self._arrow[name] = keyed.cast(described(name, keyed, swept))

    @property
    def tables(self) -> list[str]:
        """Names of the non-empty tables."""
        return [name for name in TABLE_NAMES if name in self._arrow]

    def _frame(self, name: str) -> pl.DataFrame:
        return frame_of(self._arrow[name])

    def _schema(self, name: str) -> pa.Schema:
        return self._arrow[name].schema

    def __repr__(self) -> str:
        """The run, its progress, and the number of non-empty tables."""
        return f"Snapshot({self._label} at {self._now_ns} ns: {len(self.tables)} tables)"


def frame_of(table: pa.Table) -> pl.DataFrame:
    """A table as a polars frame."""
    return cast("pl.DataFrame", pl.from_arrow(table))
