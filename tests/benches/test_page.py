"""The table of docs/reference/performance.md: one run of one build, whose commit, day and profile it states."""

from __future__ import annotations

import tomllib

import pytest

from benches.page import BEGIN, END, PAGE, Build, build_of_today, page_with, profile_of
from benches.row import Row
from benches.table_writes import ROOT

BUILD = Build("0123abcd", "2026-11-29", "lto off", "a machine")


def test_rows_replace_the_table_and_nothing_else() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = [Row("a run", 7.5, "s", 60), Row("a rate", 3.5, "packet-hops/s", 5, more_is_better=True)]
    page = page_with(text, rows, BUILD, lambda row: f"{row.figure:g}")
    table = page.partition(BEGIN)[2].partition(END)[0]
    assert table.strip().splitlines() == [
        "One run of one build: commit 0123abcd, 2026-11-29, `make setup` (lto off), on a machine.",
        "",
        "| what | value | goal | |",
        "|---|---|---|---|",
        "| a run | 7.5 s | 60 s | met |",
        "| a rate | 3.5 packet-hops/s | 5 packet-hops/s | MISSED |",
    ]
    assert page.partition(BEGIN)[0] == text.partition(BEGIN)[0]
    assert page.partition(END)[2] == text.partition(END)[2] != ""
    assert page_with(page, rows, BUILD, lambda row: f"{row.figure:g}") == page


def test_the_profile_is_that_of_the_release_build() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    assert profile_of(cargo) == "opt-level 2, 3 in 9 crates, lto off, 16 units of code, one in 6 crates, debug false"


def test_a_busy_machine_gives_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (3.0, 1.0, 1.0))
    with pytest.raises(SystemExit, match="the machine is busy"):
        build_of_today("a machine")
