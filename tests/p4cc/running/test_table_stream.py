"""Tables that come from another machine give the bytes of tables of this one, and what is no table is refused."""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import contextlib
import tempfile
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from p4cc.analysis.long_tables import ROW_GROUP_ROWS, LongTable
from p4cc.errors import UserError
from p4cc.running.result_writer import ResultWriter
from p4cc.running.table_stream import streamed_parts, table_stream

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from p4cc.analysis.long_tables import AnyTable

KEYS = {"variant": "a", "seed": 1}
EVENTS = pa.schema(
    [
        pa.field("time_ns", pa.uint64()),
        pa.field("flow_id", pa.uint64()),
        pa.field("event", pa.string()),
        pa.field("value", pa.float64()),
        pa.field("second_value", pa.float64()),
    ]
)
ROWS = st.lists(
    st.tuples(
        st.integers(0, 1 << 63),
        st.integers(1, 9),
        st.sampled_from(["", "timeout", "a longer text"]),
        st.floats(allow_nan=False) | st.none(),
        st.none(),
    ),
    min_size=1,
    max_size=20,
)


def events(rows: list[Any]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(EVENTS.names, row, strict=True)) for row in rows], schema=EVENTS)


def written(folder: Path, tables: Sequence[AnyTable]) -> bytes:
    """As a run of this machine is written."""
    with ResultWriter(folder / "here", {}) as writer:
        for one in tables:
            writer.add(KEYS, {"events": one})
    return (folder / "here" / "events.parquet").read_bytes()


def gathered(folder: Path, tables: Sequence[AnyTable]) -> bytes:
    """As those of others are."""
    with ResultWriter(folder / "there", {}) as writer:
        for one in tables:
            writer.add_parts(KEYS, "events", streamed_parts(table_stream(one), "there"))
    return (folder / "there" / "events.parquet").read_bytes()


@settings(max_examples=50, deadline=None)
@given(runs=st.lists(ROWS, min_size=1, max_size=20))
def test_streams_give_the_bytes_of_tables(tmp_path_factory: Any, runs: list[Any]) -> None:
    folder, tables = tmp_path_factory.mktemp("streams"), [events(rows) for rows in runs]
    assert gathered(folder, tables) == written(folder, tables)


def test_a_long_table_comes_by_its_row_groups(tmp_path: Path) -> None:
    rows = ROW_GROUP_ROWS + 5
    numbers = pa.array(range(rows), pa.uint64())
    with tempfile.TemporaryFile() as file:
        kind = pa.array(["timeout"] * rows)
        nothing = pa.nulls(rows, pa.float64())
        pq.write_table(pa.table([numbers, numbers, kind, nothing, nothing], schema=EVENTS), file)
        long = LongTable(file)
        parts = [part.num_rows for part in streamed_parts(table_stream(long), "there")]
        assert parts == [ROW_GROUP_ROWS, 5]
        assert gathered(tmp_path, [long]) == written(tmp_path, [long])


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_what_is_no_table_is_refused(data: st.DataObject) -> None:
    whole = table_stream(events([(1, 2, "timeout", 3.0, None)] * 3))
    if data.draw(st.booleans()):
        raw = whole[: data.draw(st.integers(0, len(whole) - 1))]
    else:
        place = data.draw(st.integers(0, len(whole) - 1))
        raw = whole[:place] + bytes([data.draw(st.integers(0, 255))]) + whole[place + 1 :]
    with contextlib.suppress(UserError):
        list(streamed_parts(raw, "there"))
