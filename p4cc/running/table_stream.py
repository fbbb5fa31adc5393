"""Tables in transit between machines: Arrow's stream format, one batch of rows per part."""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import pyarrow as pa

from p4cc.analysis.long_tables import parts_of
from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p4cc.analysis.long_tables import AnyTable


def table_stream(table: AnyTable) -> bytes:
    """A table with rows, compressed."""
    parts = parts_of(table)
    first = next(parts)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, first.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
        for part in chain((first,), parts):
            # A batch has no chunks, which would change the bytes of result files.
            stream.write_table(part.combine_chunks())
    return sink.getvalue().to_pybytes()


def streamed_parts(data: bytes, place: str) -> Iterator[pa.Table]:
    """The parts of a table, one in memory at a time; raises UserError for malformed bytes from `place`."""
    try:
        with pa.ipc.open_stream(data, options=pa.ipc.IpcReadOptions(use_threads=False)) as stream:
            for batch in stream:
                # Full validation: readers would follow a wrong offset.
                batch.validate(full=True)
                yield pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError) as error:
        cause = f"a worker's table cannot be read: {type(error).__name__}"
        raise UserError(cause, place=place, remedy="give the workers this very p4cc, and run again") from error
