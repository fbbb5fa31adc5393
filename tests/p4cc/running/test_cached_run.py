"""A run as one file is the same run, and what is not it is refused by name."""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from p4cc.analysis.long_tables import LongTable
from p4cc.errors import UserError
from p4cc.running import cached_run
from p4cc.running.cache import RunCache, run_keys
from p4cc.running.cached_run import HEAD_BYTES, SEAL, SeedRun, is_head_of, packed, unpacked
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

KEY = next(iter(run_keys(["a plan"], [1]).values()))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> SeedRun:
    """A run as the cache has it, with a capture."""
    folder: Path = tmp_path_factory.mktemp("run")
    run(folder, scenario(record={"pcap": ["s1:1"]}, stop_ns=20_000_000))
    (file,) = folder.glob(".p4cc-cache/??/*.zip")
    found = RunCache(folder / ".p4cc-cache").load(file.parent.name + file.stem)
    assert found is not None
    assert found.captures
    return found


def test_a_run_comes_back_as_it_was(kept: SeedRun) -> None:
    data = packed(KEY, kept)
    assert is_head_of(KEY, data[:HEAD_BYTES])
    back = unpacked(KEY, data, "here")
    assert back.summary == kept.summary
    assert back.captures == kept.captures
    assert list(back.tables) == list(kept.tables)
    for name, table in kept.tables.items():
        assert back.tables[name].equals(table), name
        assert back.tables[name].schema.equals(table.schema, check_metadata=True), name
        # Pieces would show in the bytes of result files.
        assert all(column.num_chunks <= 1 for column in back.tables[name].columns)


def test_a_long_table_comes_back_in_memory(kept: SeedRun) -> None:
    table = kept.tables["flows"]
    with tempfile.TemporaryFile() as file:
        pq.write_table(table, file, row_group_size=1)
        rest = {name: one for name, one in kept.tables.items() if name != "flows"}
        long = replace(kept, tables=rest, long_tables={"flows": LongTable(file)})
        back = unpacked(KEY, packed(KEY, long), "here")
    assert list(back.tables) == list(kept.tables)
    assert back.tables["flows"].equals(table)
    assert not back.long_tables


def test_the_tables_are_parquet_in_a_zip(kept: SeedRun) -> None:
    with zipfile.ZipFile(io.BytesIO(packed(KEY, kept))) as archive:
        flows = pq.read_table(io.BytesIO(archive.read("flows.parquet")))
    assert flows.num_rows == kept.tables["flows"].num_rows


def refused(data: bytes, key: str = KEY) -> str:
    with pytest.raises(UserError) as caught:
        unpacked(key, data, "s3://studies/runs/ab")
    assert caught.value.place == "s3://studies/runs/ab"
    assert "remove this object" in caught.value.remedy
    return caught.value.cause


def test_other_bytes_than_were_written_are_refused(kept: SeedRun) -> None:
    data = packed(KEY, kept)
    changed = bytearray(data)
    changed[len(data) // 2] ^= 1
    assert "SHA-256 differs" in refused(bytes(changed))
    assert "SHA-256 differs" in refused(data[:-1])
    assert "is not a run" in refused(b"<html>")
    assert "is not a run" in refused(b"")
    assert "another run" in refused(data, "0" * 64)


def again(kept: SeedRun, **changed: bytes) -> bytes:
    """The run with members changed and the hash made right: what somebody writes who means harm."""
    with zipfile.ZipFile(io.BytesIO(packed(KEY, kept))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members.update(changed)
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return SEAL.sealed(KEY, body.getvalue())


def parquet(columns: dict[str, Any]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "cause"),
    [
        ("../../../etc/cron.d/x.pcapng", b"x", "not the name of a port"),
        ("..pcapng", b"x", "not the name of a port"),
        ("run.sh", b"x", "which no run has"),
        ("secrets.parquet", parquet({"a": [1]}), "which no run has"),
        ("flows.parquet", b"PAR1", "cannot be read"),
        ("flows.parquet", parquet({"a": [[1]]}), "has a column 'a' of flows"),
        ("flows.parquet", parquet({"../a": [1]}), "has a column '../a' of flows"),
        ("summary.json", b"[1]", "cannot be read"),
        ("summary.json", b"{", "cannot be read"),
        ("summary.json", json.dumps({"seed": "1", "summary": {}}).encode(), "has no seed"),
        ("summary.json", json.dumps({"seed": 1, "summary": {}}).encode(), "has no number of packet_hops"),
        ("summary.json", json.dumps({"seed": 1, "summary": {"x": [1]}}).encode(), "no plain value"),
        ("summary.json", b"[" * 100_000, "cannot be read"),
        ("summary.json", b" " * (cached_run.MAX_SUMMARY_BYTES + 1), "a summary of more than"),
        ("tables.json", b"{}", "has no table"),
        ("tables.json", b"[]", "a list where names belong"),
        ("tables.json", json.dumps({"flows": [1]}).encode(), "how many rows"),
        ("tables.json", json.dumps({"flows": {"rows": "1"}}).encode(), "how many rows"),
    ],
)
def test_what_no_run_holds_is_refused(kept: SeedRun, name: str, data: bytes, cause: str) -> None:
    assert cause in refused(again(kept, **{name: data}))


@pytest.mark.parametrize("name", ["flows", "ports", "counters", "windows"])
def test_other_columns_than_the_engine_has_are_refused(kept: SeedRun, name: str) -> None:
    table = kept.tables[name]
    column = table.column_names[-1]
    other = pa.array(["x"] * table.num_rows, pa.string())
    if table.schema.field(column).type == pa.string():
        other = pa.array([1] * table.num_rows, pa.int64())
    changes = {
        f"has column {column!r} of {name} as {other.type}, and runs have it as {table.schema.field(column).type}": (
            table.set_column(table.num_columns - 1, column, other)
        ),
        f"lacks column {column!r} of {name}": table.drop_columns([column]),
        f"has a column 'mine' of {name}, which no run has": table.append_column("mine", other),
        f"has the columns of {name} in another order": table.select(table.column_names[::-1]),
    }
    for cause, changed in changes.items():
        sink = io.BytesIO()
        pq.write_table(changed, sink)
        assert cause in refused(again(kept, **{f"{name}.parquet": sink.getvalue()}))


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ({"rows": 0, "columns": [["mine", "int64"]]}, "'mine'"),
        ({"rows": 0, "columns": [["x", "struct"]]}, "cannot be read"),
        ({"rows": 0}, "cannot be read"),
        ({"rows": 7}, "cannot be read"),
    ],
)
def test_an_empty_table_with_other_columns_is_refused(kept: SeedRun, told: dict[str, Any], cause: str) -> None:
    listed = tables_of(kept)
    name = next(name for name, one in listed.items() if not one["rows"])
    assert cause in refused(again(kept, **{"tables.json": json.dumps({**listed, name: told}).encode()}))


def test_a_table_with_other_rows_than_were_written_is_refused(kept: SeedRun) -> None:
    listed = tables_of(kept)
    rows = listed["flows"]["rows"]
    told = json.dumps({**listed, "flows": {"rows": rows + 1}}).encode()
    assert f"has {rows} rows of flows, where {rows + 1} were written" in refused(again(kept, **{"tables.json": told}))


def tables_of(kept: SeedRun) -> dict[str, Any]:
    """What a kept run says of its tables."""
    with zipfile.ZipFile(io.BytesIO(packed(KEY, kept))) as archive:
        return json.loads(archive.read("tables.json"))


def test_what_grows_too_large_is_refused(kept: SeedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    data = again(kept, **{"s1-9.pcapng": bytes(1 << 20)})
    assert len(data) < 1 << 20
    assert "s1-9" in unpacked(KEY, data, "here").captures
    monkeypatch.setattr(cached_run, "MAX_BYTES", 1 << 20)
    assert "more than a run can" in refused(data)
