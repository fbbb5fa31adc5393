"""A document as one HTML file without external references.

Only scripts with known hashes may run, and a name from a scenario is always text: escaped in HTML, packed in the
data, and escaped by the page's script before Plotly reads it. The same document gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from p4cc.pages.assets import datatables_css, datatables_js, packed, plotly_js
from p4cc.report.document import DRAWN, Code, Facts, Image, Text, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p4cc.report.document import Block, Document

GENERATOR = '<meta name="generator" content="p4cc report">'
"""Near the beginning of every report, to recognise p4cc's files."""
_SCRIPTS = ("numbers.js", "state.js", "charts.js", "figures.js", "maps.js", "topology.js", "tables.js", "page.js")
_TONES = {"plain": "", "warning": "Warning: ", "note": "Note: ", "why": ""}


def render(document: Document) -> str:
    """The file's text."""
    script = "\n".join(_static(name) for name in _SCRIPTS)
    data = json.dumps(plain(document), separators=(",", ":"), allow_nan=False, default=vars)
    policy = (
        "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; "
        f"script-src blob: {_hash(script)} {_hash(plotly_js())}"
    )
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        GENERATOR,
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape(document.title)} - p4cc</title>",
        f"<style>{datatables_css()}</style>",
        f"<style>{_static('page.css')}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#main">To the results</a>',
        *_head(document),
        *_controls(document),
        '<main id="main" tabindex="-1">',
        "<noscript><p>Figures and tables need JavaScript; the numbers are in the Parquet files too.</p></noscript>",
        *_sections(document),
        "</main>",
        "<footer><p>Made by p4cc report. Columns and units: docs/reference/results.md.</p></footer>",
        *(
            f'<script type="text/plain" id="{name}">{packed(text)}</script>'
            for name, text in (("held", data), ("plotly", plotly_js()), ("datatables", datatables_js()))
        ),
        f'<script type="module">{script}</script>',
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _static(name: str) -> str:
    return (files("p4cc.report") / "static" / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """A script's hash in the page's security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}'"


def _head(document: Document) -> Iterator[str]:
    yield "<header>"
    yield f'<h1>{escape(document.title)}</h1><p class="subtitle">{escape(document.subtitle)}</p>'
    yield '<nav aria-label="Sections"><ul>'
    for section in document.sections:
        yield f'<li><a href="#{section.name}">{escape(section.title)}</a></li>'
    yield "</ul></nav></header>"


def _controls(document: Document) -> Iterator[str]:
    """Controls of all figures; empty lists are omitted."""
    drawn = any(isinstance(block, DRAWN) for section in document.sections for block in section.blocks)
    yield f'<form id="controls" aria-label="What figures and tables show"{"" if drawn else " hidden"}>'
    yield '<fieldset id="series"><legend>Variants</legend></fieldset>'
    yield '<fieldset id="seeds"><legend>Seeds</legend></fieldset>'
    yield '<label id="point-label">Point <select id="point"></select></label>'
    yield (
        '<label>Axes <select id="axes"><option value="own">as drawn</option><option value="log">logarithmic</option>'
        '<option value="linear">linear</option></select></label>'
    )
    yield '<button type="button" id="theme" aria-pressed="false">Dark</button></form>'


def _sections(document: Document) -> Iterator[str]:
    number = 0
    for section in document.sections:
        yield f'<section id="{section.name}" aria-labelledby="{section.name}-title">'
        yield f'<h2 id="{section.name}-title">{escape(section.title)}</h2>'
        for block in section.blocks:
            if isinstance(block, DRAWN):
                yield f'<div class="drawn" data-block="{number}"><h3>{escape(block.title)}</h3></div>'
                number += 1
            else:
                yield from _block(block)
        yield "</section>"


def _block(block: Block) -> Iterator[str]:
    """HTML of blocks that need no script."""
    match block:
        case Text():
            yield f'<p class="{block.tone}">{escape(_TONES[block.tone])}{escape(block.text)}</p>'
        case Facts():
            rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in block.rows)
            yield f"<dl>{rows}</dl>"
        case Code() if block.folded:
            inner = f'<pre tabindex="0">{escape(block.text)}</pre>'
            yield f"<details><summary>{escape(block.title)}</summary>{inner}</details>"
        case Code():
            yield f'<h3>{escape(block.title)}</h3><pre tabindex="0">{escape(block.text)}</pre>'
        case Image():
            description = escape(f"{block.title}. {block.caption}", quote=True)
            yield f'<figure><h3>{escape(block.title)}</h3><img alt="{description}" src="{block.address}">'
            yield f"<figcaption>{escape(block.caption)}</figcaption></figure>"
        case _:
            raise AssertionError(block)
