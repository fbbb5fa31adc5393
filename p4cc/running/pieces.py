"""Parquet files put together of files that were written elsewhere, without reading their rows.

A file of Parquet is pages, and behind them a description of where they lie: Thrift's compact protocol, a row group for
each piece that was written. Whoever makes a run writes its rows as a file of their own and takes the description apart
where it has positions; whoever gathers the files copies pages and moves the positions. What comes out is, byte by byte,
what one writer makes that is given the same rows one after the other.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAGIC = b"PAR1"
_END = len(_MAGIC) + 4
"""The description's length and the magic again."""

# Types of Thrift's compact protocol (its specification, "Struct encoding").
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_MAX_DEPTH = 16

# Fields of parquet.thrift: FileMetaData, RowGroup, ColumnChunk, ColumnMetaData.
_NUM_ROWS, _ROW_GROUPS = 3, 4
_COLUMNS, _GROUP_OFFSET, _ORDINAL = 1, 5, 7
_CHUNK_OFFSET, _META = 2, 3
_PAGE_OFFSETS = (9, 10, 11)
"""Of data, index and dictionary."""
_INDEX_OFFSETS = (4, 6)
_BLOOM_OFFSET = 14
_LAST_ORDINAL = (1 << 15) - 1


class NoPieceError(ValueError):
    """Bytes that are no Parquet file as p4cc writes one."""


@dataclass(frozen=True)
class Piece:
    """The rows of one table of one run, as they stand in a file."""

    before: bytes
    """The description in front of the number of rows, and with it the schema."""
    after: bytes
    """The description behind the row groups: texts of the schema, and who wrote it."""
    rows: int
    pages: bytes
    groups: tuple[Group, ...]

    def file(self) -> bytes:
        """The file that it was taken from."""
        out = io.BytesIO()
        file = PieceFile(out)
        file.add(self)
        file.end()
        return out.getvalue()


@dataclass(frozen=True)
class Group:
    """A row group's description, cut where it has a position or its place in the file."""

    parts: tuple[bytes, ...]
    """One more than there are cuts."""
    offsets: tuple[int, ...]
    """What stands in the cuts: positions from the first page on; -1 for the group's place in the file."""

    def at(self, shift: int, place: int) -> bytes:
        """The description of a group whose pages lie so much further on."""
        out = [self.parts[0]]
        for offset, part in zip(self.offsets, self.parts[1:], strict=True):
            out.append(_zigzag(place if offset < 0 else offset + shift))
            out.append(part)
        return b"".join(out)


def piece_of(file: bytes) -> Piece:
    """A file taken apart; raises NoPieceError."""
    try:
        return _piece_of(file)
    except IndexError as error:
        raise NoPieceError("ends too early") from error


def _piece_of(file: bytes) -> Piece:
    if len(file) < 2 * _END or file[:4] != _MAGIC or file[-4:] != _MAGIC:
        raise NoPieceError("is no Parquet file")
    begin = len(file) - _END - int.from_bytes(file[-_END:-4], "little")
    if begin < len(_MAGIC):
        raise NoPieceError("has a description longer than itself")
    reader = _Reader(file, begin, len(file) - _END)
    rows, groups, before, after = 0, list[Group](), b"", begin
    for field, kind, start in reader.fields(0):
        if field == _NUM_ROWS and kind == _I64:
            before, rows = file[begin:start], reader.zigzag()
        elif field == _ROW_GROUPS and kind == _LIST:
            count, inner = reader.list_header()
            if inner != _STRUCT:
                raise NoPieceError("has row groups that are none")
            groups = [reader.group() for _ in range(count)]
            after = reader.at
        else:
            reader.skip(kind, 0)
    if not before or after == begin:
        raise NoPieceError("has no row groups")
    return Piece(before, file[after : len(file) - _END], rows, file[len(_MAGIC) : begin], tuple(groups))


class PieceFile:
    """A file that pieces are added to; it is whole when it has its end."""

    def __init__(self, out: BinaryIO) -> None:
        """Writes into a file that is the caller's."""
        self._out = out
        self._out.write(_MAGIC)
        self._at = len(_MAGIC)
        self._rows = 0
        self._groups: list[bytes] = []
        self._first: Piece | None = None

    def takes(self, piece: Piece) -> bool:
        """Whether a piece has the schema of those before it."""
        return self._first is None or (self._first.before, self._first.after) == (piece.before, piece.after)

    def first(self) -> Piece:
        """The first piece; raises ValueError for a file without one."""
        if self._first is None:
            raise ValueError("no piece")
        return self._first

    def add(self, piece: Piece) -> None:
        """Appends a piece that it takes."""
        if not self.takes(piece):
            raise ValueError("a piece of another schema")
        self._first = self._first or piece
        self._out.write(piece.pages)
        shift = self._at - len(_MAGIC)
        for group in piece.groups:
            self._groups.append(group.at(shift, min(len(self._groups), _LAST_ORDINAL)))
        self._at += len(piece.pages)
        self._rows += piece.rows

    def end(self) -> None:
        """Writes the description."""
        first, count = self.first(), len(self._groups)
        header = bytes([count << 4 | _STRUCT]) if count < 15 else bytes([0xF0 | _STRUCT]) + _varint(count)
        # The field behind that of the rows, in the protocol's short form.
        groups = [bytes([1 << 4 | _LIST]), header, *self._groups]
        description = b"".join([first.before, _zigzag(self._rows), *groups, first.after])
        self._out.write(description + len(description).to_bytes(4, "little") + _MAGIC)


class _Reader:
    """Walks through a description."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data = data
        self._end = end
        self.at = at
        self._cut_at = at
        self._parts: list[bytes] = []
        self._offsets: list[int] = []

    def fields(self, depth: int) -> Iterator[tuple[int, int, int]]:
        """Fields of a struct with their types and where each value begins; whoever asks reads or skips the value."""
        if depth > _MAX_DEPTH:
            raise NoPieceError("nests too deeply")
        field = 0
        while (head := self.byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self.zigzag()
            yield field, head & 15, self.at

    def group(self) -> Group:
        """A row group, cut at its positions."""
        self._parts, self._offsets, self._cut_at = [], [], self.at
        for field, kind, _ in self.fields(1):
            if field == _COLUMNS and kind == _LIST:
                count, inner = self.list_header()
                for _ in range(count):
                    self._column() if inner == _STRUCT else self.skip(inner, 1)
            elif field == _GROUP_OFFSET:
                self._cut(self.at)
            elif field == _ORDINAL:
                self._cut(self.at, is_place=True)
            else:
                self.skip(kind, 1)
        return Group((*self._parts, self._data[self._cut_at : self.at]), tuple(self._offsets))

    def _column(self) -> None:
        for field, kind, _ in self.fields(2):
            if field == _META and kind == _STRUCT:
                for inner, inner_kind, _ in self.fields(3):
                    if inner in _PAGE_OFFSETS:
                        self._cut(self.at)
                    elif inner == _BLOOM_OFFSET:
                        raise NoPieceError("has filters, which p4cc writes none of")
                    else:
                        self.skip(inner_kind, 3)
            elif field in _INDEX_OFFSETS:
                raise NoPieceError("has an index of pages, which p4cc writes none of")
            elif field == _CHUNK_OFFSET:
                self._cut(self.at)
            else:
                self.skip(kind, 2)

    def _cut(self, at: int, *, is_place: bool = False) -> None:
        value = self.zigzag()
        if value == 0 and not is_place:
            # A position that is said to be none.
            return
        self._parts.append(self._data[self._cut_at : at])
        self._offsets.append(-1 if is_place else value)
        self._cut_at = self.at

    def byte(self) -> int:
        """The next byte."""
        if self.at >= self._end:
            raise NoPieceError("ends too early")
        self.at += 1
        return self._data[self.at - 1]

    def varint(self) -> int:
        """An unsigned number."""
        found = shift = 0
        while True:
            one = self.byte()
            found |= (one & 0x7F) << shift
            shift += 7
            if one < 0x80:
                return found
            if shift > 63:
                raise NoPieceError("has a number of more than 64 bits")

    def zigzag(self) -> int:
        """A signed number."""
        found = self.varint()
        return found >> 1 ^ -(found & 1)

    def list_header(self) -> tuple[int, int]:
        """How many elements a list has, and their type."""
        head = self.byte()
        count = head >> 4
        return (self.varint() if count == 15 else count), head & 15

    def skip(self, kind: int, depth: int) -> None:
        """Passes over a value."""
        if kind in (_I16, _I32, _I64):
            self.varint()
        elif kind == _BYTE:
            self.byte()
        elif kind == _DOUBLE:
            self.at += 8
        elif kind == _BINARY:
            length = self.varint()
            self.at += length
        elif kind in (_LIST, _SET):
            count, inner = self.list_header()
            for _ in range(count):
                # A truth value is a byte of its own in a list.
                self.skip(_BYTE if inner in (_TRUE, _FALSE) else inner, depth + 1)
        elif kind == _STRUCT:
            for _, inner, _ in self.fields(depth + 1):
                self.skip(inner, depth + 1)
        elif kind not in (_TRUE, _FALSE):
            raise NoPieceError("has what no description has")


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _zigzag(value: int) -> bytes:
    return _varint(value << 1)
