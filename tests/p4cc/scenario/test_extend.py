"""`extends`: what a scenario takes over from another, what it changes, and where mistakes are said to be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from p4cc.errors import UserError
from p4cc.scenario.extend import lay_over
from p4cc.scenario.load import validate
from p4cc.scenario.yaml import read_document

BASE: dict[str, Any] = {
    "topology": {"kind": "star", "senders": 4},
    "traffic": {"kind": "incast", "sru_bytes": 1},
    "variants": [
        {"name": "A", "congestion_avoidance": {"name": "dctcp", "g": 0.5}},
        {"name": "B", "congestion_avoidance": {"name": "reno"}},
    ],
    "seeds": [1, 2],
    "reproduces": {"figure": "1"},
}


@pytest.mark.parametrize(
    ("own", "key", "want"),
    [
        ({}, "seeds", [1, 2]),
        ({"seeds": [3]}, "seeds", [3]),
        ({"topology": {"senders": 9}}, "topology", {"kind": "star", "senders": 9}),
        # Another kind has other keys.
        ({"traffic": {"kind": "bulk"}}, "traffic", {"kind": "bulk"}),
        ({"traffic": [{"kind": "bulk"}]}, "traffic", [{"kind": "bulk"}]),
        # What a scenario says of itself.
        ({}, "reproduces", None),
        ({"variants": ["B"]}, "variants", [BASE["variants"][1]]),
        (
            {"variants": [{"like": "A", "name": "C", "congestion_avoidance": {"g": 0.25}, "transport": {"iw": 2}}]},
            "variants",
            [{"name": "C", "congestion_avoidance": {"name": "dctcp", "g": 0.25}, "transport": {"iw": 2}}],
        ),
        (
            {"variants": [{"like": "A", "congestion_avoidance": {"name": "reno"}}]},
            "variants",
            [{"name": "A", "congestion_avoidance": {"name": "reno"}}],
        ),
        # A class of the user's in place of the engine's algorithm.
        (
            {"variants": [{"like": "A", "congestion_avoidance": {"python": "mine.py:Mine"}}]},
            "variants",
            [{"name": "A", "congestion_avoidance": {"python": "mine.py:Mine"}}],
        ),
    ],
)
def test_what_is_taken_over(own: dict[str, Any], key: str, want: Any) -> None:
    assert lay_over(BASE, own, "here").get(key) == want


def test_the_extended_data_stay_as_they_are() -> None:
    merged: dict[str, Any] = lay_over(
        BASE, {"topology": {"senders": 5}, "variants": [{"like": "A", "name": "C"}]}, "here"
    )
    assert merged["topology"]["senders"] == 5
    assert BASE["topology"]["senders"] == 4
    assert BASE["variants"][0]["name"] == "A"


def test_an_unknown_variant_is_named() -> None:
    with pytest.raises(UserError, match="no variant 'C'") as caught:
        lay_over(BASE, {"variants": ["C"]}, "file:3:1")
    assert caught.value.place == "file:3:1"
    assert "A, B" in caught.value.remedy


def _write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder / "top.yaml"


def test_a_mistake_is_shown_in_the_file_that_makes_it(tmp_path: Path) -> None:
    base = "name: base\ntopology:\n  kind: star\n  senderz: 4\n"
    document = read_document(_write(tmp_path, base=base, top="extends: base.yaml\nname: Top\n"))
    with pytest.raises(UserError) as caught:
        validate(document, document.plain())
    text = str(caught.value)
    assert f"{tmp_path / 'base.yaml'}:4:3: $.topology.senderz: unknown key" in text
    assert f"{tmp_path / 'top.yaml'}:2:1: $.name" in text


@pytest.mark.parametrize(
    ("files", "cause"),
    [
        ({"top": "extends: nothing.yaml\n"}, "the file 'nothing.yaml' to extend does not exist"),
        ({"top": "extends: [base.yaml]\n"}, "extends must name one file"),
        ({"top": "extends: top.yaml\n"}, "extends this file, which makes a cycle"),
        ({"top": "extends: base.yaml\n", "base": "extends: top.yaml\n"}, "extends this file, which makes a cycle"),
    ],
)
def test_what_cannot_be_extended(tmp_path: Path, files: dict[str, str], cause: str) -> None:
    with pytest.raises(UserError, match=cause) as caught:
        read_document(_write(tmp_path, **files))
    assert caught.value.place.endswith(".yaml:1:1")
