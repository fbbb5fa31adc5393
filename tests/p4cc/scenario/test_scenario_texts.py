"""The reader of scenarios on changed files: it gives a scenario or its own error, whatever it reads."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from p4cc.errors import UserError
from p4cc.scenario.load import validate
from p4cc.scenario.yaml import read_document

ROOT = Path(__file__).resolve().parents[3]
TEXTS = [(ROOT / "experiments" / name).read_text(encoding="utf-8") for name in ("gst/base.yaml", "lab/incast.yaml")]
WORDS = [
    "",
    "null",
    "-1",
    "1e99",
    "[]",
    "{}",
    ": ",
    "- ",
    "&a ",
    "*a",
    "!!x ",
    "'",
    '"',
    "\n",
    "\t",
    "\x00",
    "é",
    "~",
    "0x1",
    ".nan",
]


@st.composite
def changed(draw: st.DrawFn) -> str:
    """A scenario's text with up to four stretches replaced by a word or by another stretch of it."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        other = draw(st.integers(0, len(text)))
        words = st.one_of(st.sampled_from(WORDS), st.just(text[other : other + draw(st.integers(0, 40))]))
        text = text[:start] + draw(words) + text[end:]
    return text


@settings(max_examples=150, derandomize=True)
@given(changed())
def test_changed_scenarios_are_read_or_refused(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.yaml"
        path.write_text(text, encoding="utf-8")
        message = "read"
        try:
            document = read_document(path)
            validate(document, document.plain())
        except UserError as error:
            message = str(error).strip()
        assert message
