"""Tables of flows in CSV and Parquet: what is read, and that a fault is one error with its line."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc.errors import UserError
from p4cc.planning.flow_table import COLUMNS, read_flow_table
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "src,dst,size_bytes,start_ns\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "flows.csv"
    path.write_bytes(text.encode())
    return path


def test_columns_in_any_order_and_optional_values(tmp_path: Path) -> None:
    text = "dst,src,start_ns,class,size_bytes,priority,deadline_ns\n\nh1,h0,0,query,5000,3,900\n"
    text += 'h0,"h1", 10 ,,7000,,\n\n'
    table = read_flow_table(written(tmp_path, text))
    assert tuple(table.columns) == COLUMNS
    assert table.rows() == [("h0", "h1", 5_000, 0, 3, "query", 900), ("h1", "h0", 7_000, 10, None, None, None)]


def test_parquet_is_the_same_table_in_any_whole_type(tmp_path: Path) -> None:
    rows = {"src": ["h0", "h1"], "dst": ["h1", "h0"], "size_bytes": [5_000.0, 7_000.0], "start_ns": [0, 10]}
    path = tmp_path / "flows.table"
    pl.DataFrame(rows, schema_overrides={"start_ns": pl.UInt32}).write_parquet(path)
    expected = read_flow_table(written(tmp_path, HEAD + "h0,h1,5000,0\nh1,h0,7000,10\n"))
    assert read_flow_table(path).equals(expected)
    pl.DataFrame({**rows, "size_bytes": [5_000.0, 0.5]}).write_parquet(path)
    with pytest.raises(UserError, match=r"size_bytes is '0\.5'") as caught:
        read_flow_table(path)
    assert caught.value.place == f"{path} row 1"


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pl.List(pl.String()), ["h0"]),
        (pl.Struct({"x": pl.String()}), {"x": "h0"}),
        (pl.Binary(), b"h0"),
        (pl.Boolean(), True),
        (pl.Date(), date(2020, 1, 1)),
    ],
)
def test_columns_of_other_types_are_refused(tmp_path: Path, name: str, kind: pl.DataType, value: object) -> None:
    rows = {"src": "h0", "dst": "h1", "size_bytes": 1, "start_ns": 0, "priority": 0, "class": "a", "deadline_ns": 1}
    table = pl.DataFrame({column: [one] for column, one in rows.items()})
    made = pl.Series(name, [value], dtype=kind)
    path = tmp_path / "flows.parquet"
    table.with_columns(made).write_parquet(path)
    with pytest.raises(UserError, match=f"{name} is") as caught:
        read_flow_table(path)
    assert (caught.value.place or "").startswith(str(path))


@pytest.mark.parametrize("kind", [pl.Categorical(), pl.Enum(["h0", "h1"]), pl.Int64()])
def test_names_may_be_categories_or_numbers(tmp_path: Path, kind: pl.DataType) -> None:
    names = ["0", "1"] if kind == pl.Int64() else ["h0", "h1"]
    ends = [pl.Series(name, [end]).cast(kind) for name, end in zip(("src", "dst"), names, strict=True)]
    path = tmp_path / "flows.parquet"
    pl.DataFrame([*ends, pl.Series("size_bytes", [1]), pl.Series("start_ns", [0])]).write_parquet(path)
    assert read_flow_table(path, names).select("src", "dst").rows() == [tuple(names)]


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ("", None, "cannot read the table"),
        (HEAD, None, "the table has no flow"),
        ("src,dst,bytes,start_ns\nh0,h1,1,0\n", 1, "there is no column 'bytes'"),
        ("src,dst,start_ns\nh0,h1,0\n", 1, "the table has no column size_bytes"),
        ("src,src,size_bytes,start_ns\nh0,h1,1,0\n", 1, "there is no column 'src_duplicated_0'"),
        (HEAD + "h0,h1,1,0\nh0,h1,1,0,9\n", 3, "the row has 5 fields, the header 4"),
        (HEAD + "h0,h1,1,0\n\nh0,h1,x,0\n", 4, "size_bytes is 'x'"),
        (HEAD + "h0,h1,0,0\n", 2, "size_bytes is '0'"),
        (HEAD + "h0,h1,1.5,0\n", 2, "size_bytes is '1.5'"),
        (HEAD + f"h0,h1,{'9' * 40},0\n", 2, "size_bytes is"),
        (HEAD + "h0,h1,1,-1\n", 2, "start_ns is '-1'"),
        (HEAD + "h0,h1,1\n", 2, "start_ns is empty"),
        (HEAD + ",h1,1,0\n", 2, "src is empty"),
        (HEAD + f"h0,h1,1,0\n{'9' * 5_000},h1,1,0\n", 3, "src is '999"),
        (HEAD + "h0,h0,1,0\n", 2, "'h0' would send to itself"),
        (HEAD + "h0,h1,1,0\nh0,h9,1,0\n", 3, "there is no host 'h9'"),
        ("src,dst,size_bytes,start_ns,priority\nh0,h1,1,0,8\n", 2, "priority is '8'"),
        ("src,dst,size_bytes,start_ns,deadline_ns\nh0,h1,1,0,0\n", 2, "deadline_ns is '0'"),
        ("src,dst,size_bytes,start_ns,class\nh0,h1,1,0,a b\n", 2, "class is 'a b'"),
    ],
)
def test_faults_are_one_error_with_its_line(tmp_path: Path, text: str, line: int | None, cause: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        read_flow_table(file, ("h0", "h1"))
    assert caught.value.place == (str(file) if line is None else f"{file}:{line}")
    assert cause in caught.value.cause


def test_a_table_runs_with_its_classes_priorities_and_deadlines(tmp_path: Path) -> None:
    text = "src,dst,size_bytes,start_ns,class,priority,deadline_ns\ns1,r1,30000,0,query,3,1000000\n"
    file = written(tmp_path, text + "s2,r1,20000,5000,,,1\n")
    traffic: dict[str, Any] = {"kind": "flows", "file": str(file), "start_ns": 1_000}
    names = {"s1": "s1", "s2": "s2"}
    topology = {
        "kind": "custom",
        "hosts": [{"name": name} for name in (*names, "r1")],
        "switches": [{"name": "w"}],
        "links": [
            {"a": name, "b": "w", "rate_bps": 10**10, "delay_ns": 1_000, "queue_capacity_pkts": 500}
            for name in (*names, "r1")
        ],
    }
    flows = run(tmp_path, scenario(topology=topology, traffic=traffic)).table("flows").sort("start_ns")
    assert flows.select("src", "dst", "size_bytes", "start_ns", "class").rows() == [
        ("s1", "r1", 30_000, 1_000, "flows-query"),
        ("s2", "r1", 20_000, 6_000, "flows"),
    ]
    assert flows["deadline_met"].to_list() == [True, False]
    with pytest.raises(UserError, match="the table has priority"):
        run(tmp_path, scenario(topology=topology, traffic={**traffic, "priority": 2}))


def test_a_million_rows_are_read_as_columns(tmp_path: Path) -> None:
    count = 1_000_000
    table = pl.select(pl.int_range(count).alias("n")).select(
        src="h" + (pl.col("n") % 64).cast(pl.String),
        dst="h" + ((pl.col("n") + 1) % 64).cast(pl.String),
        size_bytes=pl.col("n") + 1,
        start_ns=pl.col("n") * 10,
    )
    path = tmp_path / "flows.csv"
    table.write_csv(path)
    read = read_flow_table(path, [f"h{host}" for host in range(64)])
    assert read.select(table.columns).equals(table)
    pl.concat([table, table.head(1)]).write_csv(path)
    with pytest.raises(UserError, match="the table has 1000001 rows"):
        read_flow_table(path)
