"""YAML as scenarios are written: values of YAML 1.2, places, and what is refused at its place."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from p4cc.errors import UserError
from p4cc.scenario.load import validate
from p4cc.scenario.nodes import MAX_DEPTH, YamlError, parse
from p4cc.scenario.yaml import MAX_SCENARIO_BYTES, document_of, parse_value, read_document
from tests.p4cc.scenarios import scenario, write

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("25", 25),
        ("-7", -7),
        ("200_000", 200_000),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b101", 5),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("5e-324", 5e-324),
        (".5", 0.5),
        ("'25'", "25"),
        ("25G", "25G"),
        ("__", "__"),
        ("0x_", "0x_"),
        ("yes", "yes"),
        ("true", True),
        ("null", None),
        ("~", None),
        ("", None),
        ("2026-11-27", "2026-11-27"),
        ("12:30", "12:30"),
        ("!!str 25", "25"),
        ("[1, [2, a], {b: 3}]", [1, [2, "a"], {"b": 3}]),
        ("{1: a, true: b}", {"1": "a", "true": "b"}),
    ],
)
def test_values(text: str, value: Any) -> None:
    found = parse_value(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "cause", "place"),
    [
        ("a: *x", "aliases", (0, 3)),
        ("a: !mine 1", "tags (!mine)", (0, 3)),
        ("a: 1\nb: 2\na: 3", "duplicate key 'a', first given in line 1", (2, 0)),
        ("? [a]\n: 1", "a key must be a string", (0, 2)),
        ("a: 1\n---\nb: 2", "a second YAML document", (1, 0)),
        ("a: 1e999", "1e999 is too large", (0, 3)),
        ("a:\n  - 0x" + "f" * 5_000, "with 5002 characters is too large", (1, 4)),
        ("a: " + "9" * 5_000, "with 5000 characters is too large", (0, 3)),
        ("a: 0." + "1" * 5_000, "is too large", (0, 3)),
        ("a: .nan", ".nan is not a valid number", (0, 3)),
        ("a: -.inf", "-.inf is not a valid number", (0, 3)),
        ("a: " + "[" * 40_000, "the YAML is nested more than 32 levels deep", (0, 2 + MAX_DEPTH)),
        ("- " * 40_000, "the YAML is nested more than 32 levels deep", (0, 2 * MAX_DEPTH)),
        ("a: {" * 10_000, "the YAML is nested more than 32 levels deep", (0, 4 * (MAX_DEPTH - 1) + 3)),
        ("a: 'b", "not YAML", (0, 5)),
        ("a: \x01", "not YAML", (-1, -1)),
    ],
)
def test_what_is_refused_has_its_place(text: str, cause: str, place: tuple[int, int]) -> None:
    with pytest.raises(YamlError) as caught:
        parse(text)
    assert cause in caught.value.cause
    assert (caught.value.line, caught.value.column) == place
    assert caught.value.remedy


def test_experiments_are_read_as_another_reader_reads_them() -> None:
    """The other one is ruamel.yaml, which p4cc writes with."""
    paths = sorted((ROOT / "experiments").rglob("*.yaml"))
    assert len(paths) > 50
    for path in paths[::7]:
        text = path.read_text(encoding="utf-8")
        other: Any = YAML(typ="safe", pure=True)
        assert parse(text).plain() == other.load(text), path


def test_a_place_is_that_of_the_key_or_of_the_item() -> None:
    document = document_of("a:\n  b: [1,\n    2]\nc: 3", Path("x.yaml"))
    assert document.place(("a",)) == "x.yaml:1:1"
    assert document.place(("a", "b")) == "x.yaml:2:3"
    assert document.place(("a", "b", 1)) == "x.yaml:3:5"
    assert document.place(("a", "b", 7)) == "x.yaml:2:3"
    assert document.place(("c",)) == "x.yaml:4:1"


def test_reading_takes_time_by_the_length_of_the_text(tmp_path: Path) -> None:
    """A second of processor time for the longest scenario; it was ten seconds and more."""
    row = "  - {at_ns: 1000, switch: s1, table: t, match: {port: 1}, action: a, params: {x: 1}}\n"
    text = "changes:\n" + row * ((MAX_SCENARIO_BYTES - 100) // len(row))
    path = tmp_path / "long.yaml"
    path.write_text(text, encoding="utf-8")
    before = time.process_time()
    said: dict[str, Any] = read_document(path).plain()
    assert len(said["changes"]) > 10_000
    assert time.process_time() - before < 10


def test_a_great_many_findings_are_not_all_told(tmp_path: Path) -> None:
    data = scenario(changes=[{"at_ns": 1, "switch": "s1", "wrong": number} for number in range(5_000)])
    path = write(tmp_path, data)
    document = read_document(path)
    with pytest.raises(UserError) as caught:
        validate(document, document.plain())
    lines = str(caught.value).splitlines()
    assert len(lines) < 120
    assert lines[-1].startswith("and ")
    assert lines[-1].endswith(" more of this kind")
