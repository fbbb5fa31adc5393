"""Files put together of pieces have the bytes of one writer, and what is no piece is refused."""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p4cc.running.pieces import NoPieceError, PieceFile, piece_of

if TYPE_CHECKING:
    from pathlib import Path

ROWS = st.lists(
    st.tuples(
        st.integers(0, 1 << 63) | st.none(),
        st.floats(allow_nan=False) | st.none(),
        st.sampled_from(["", "h1", "h2", "a longer text"]) | st.none(),
        st.booleans(),
    ),
    min_size=1,
    max_size=20,
)
SCHEMA = pa.schema(
    [
        pa.field("a", pa.uint64(), metadata={"unit": "bytes"}),
        pa.field("b", pa.float64()),
        pa.field("c", pa.string()),
        pa.field("d", pa.bool_()),
    ],
    {"description": "one row per row"},
)


def table(rows: list[Any]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip("abcd", row, strict=True)) for row in rows], schema=SCHEMA)


def written(tables: list[pa.Table]) -> bytes:
    """As one writer writes them."""
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, tables[0].schema, compression="zstd", version="2.6") as writer:
        for one in tables:
            writer.write_table(one)
    return sink.getvalue()


def together(path: Path, tables: list[pa.Table]) -> bytes:
    with path.open("wb") as out:
        file = PieceFile(out)
        for one in tables:
            file.add(piece_of(written([one])))
        file.end()
    return path.read_bytes()


@settings(max_examples=50, deadline=None)
@given(runs=st.lists(ROWS, min_size=1, max_size=20))
def test_pieces_give_the_bytes_of_one_writer(tmp_path_factory: pytest.TempPathFactory, runs: list[Any]) -> None:
    tables = [table(rows) for rows in runs]
    assert together(tmp_path_factory.mktemp("pieces") / "t.parquet", tables) == written(tables)


def test_a_piece_of_several_row_groups(tmp_path: Path) -> None:
    large = pa.table({"a": pa.array(range(1_100_000), pa.int64())})
    assert len(piece_of(written([large])).groups) == 2
    assert together(tmp_path / "t.parquet", [large, large]) == written([large, large])


def test_more_row_groups_than_their_number_has_bits(tmp_path: Path) -> None:
    one = pa.table({"a": [1]})
    assert together(tmp_path / "t.parquet", [one] * 33_000) == written([one] * 33_000)


def test_a_piece_of_another_schema_is_not_taken() -> None:
    file = PieceFile(io.BytesIO())
    file.add(piece_of(written([pa.table({"a": [1]})])))
    other = piece_of(written([pa.table({"a": [1.0]})]))
    assert not file.takes(other)
    assert other.file() == written([pa.table({"a": [1.0]})])
    with pytest.raises(ValueError, match="another schema"):
        file.add(other)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_what_is_no_piece_is_refused(data: st.DataObject) -> None:
    whole = written([table([(1, 2.0, "x", True)] * 3)])
    kind = data.draw(st.sampled_from(["cut", "changed", "any"]))
    if kind == "cut":
        raw = whole[: data.draw(st.integers(0, len(whole) - 1))] + data.draw(
            st.sampled_from([b"", whole[-8:], b"PAR1"])
        )
    elif kind == "changed":
        place = data.draw(st.integers(0, len(whole) - 1))
        raw = whole[:place] + bytes([data.draw(st.integers(0, 255))]) + whole[place + 1 :]
    else:
        raw = data.draw(st.binary(max_size=200))
    with contextlib.suppress(NoPieceError):
        piece_of(raw)
