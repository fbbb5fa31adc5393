"""Columns are declared once, in the engine, and cross to Arrow with nulls in place of numbers that stand for none."""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import json

import pyarrow as pa

from p4cc import _engine
from p4cc.analysis.tables import ENGINE, TABLE_NAMES, table
from p4cc.running.result_writer import DERIVED_TABLES, arrow_table, engine_tables
from p4cc.running.run_schema import run_schemas

NOTHING = '{"switches": [], "hosts": [], "links": [], "stop_ns": 1, "limits": {"max_events": 1}}'
"""A network without nodes."""


def result() -> _engine.RunResult:
    return _engine.Network(NOTHING).fork(1).result()


def test_results_have_the_tables_and_columns_that_are_declared() -> None:
    assert result().tables == list(ENGINE)
    assert {name: found.schema for name, found in engine_tables(result()).items()} == {
        name: schema for name, schema in run_schemas().items() if name in ENGINE
    }
    assert {*ENGINE, *DERIVED_TABLES, "settings"} == {*TABLE_NAMES}


def test_a_text_says_what_each_column_is_and_what_its_null_means() -> None:
    for name, held in ENGINE.items():
        assert held.row
        assert len({column.name for column in held.columns}) == len(held.columns)
        for column in held.columns:
            assert column.text, f"{name}.{column.name}"
            # Whole numbers that may be missing are signed, as they always were in files.
            assert column.kind != "int64" or column.null, f"{name}.{column.name}"
            assert column.kind != "uint64" or not column.null, f"{name}.{column.name}"


def test_switches_stand_in_results_by_name() -> None:
    assert [column.name for column in table("queues").columns] == ["time_ns", "switch", "port", "peer", "depth_pkts"]
    assert [column.name for column in table("drops").columns][1:4] == ["switch", "port", "cause"]


def test_the_summary_has_nothing_in_place_of_numbers_for_none() -> None:
    summary = result().summary()
    assert (summary["finish_ns"], summary["stalled_ns"], summary["jain_index"]) == (None, None, None)


def test_numbers_cross_without_a_copy() -> None:
    description = json.loads(NOTHING)
    description["record"] = {"queue_histogram_interval_ns": 1}
    found = result().table("queue_histogram")
    first, second = pa.table(found), pa.table(found)
    assert first.equals(second)
    assert arrow_table(result().table("links")).schema.field("link").type == pa.string()
