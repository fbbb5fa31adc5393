"""Traces of packets as one HTML file without scripts or external references."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from p4cc.packet_way.lines import Line, in_words, lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, packets: Sequence[Mapping[str, Any]], problems: Sequence[Sequence[Any]]) -> str:
    """A page of packets; every name and value of the program is escaped."""
    refused = (f'<p class="problem">line {line}: {escape(text)}</p>' for line, text in problems)
    return document(title, (*refused, *ways(packets)))


def ways(packets: Sequence[Mapping[str, Any]], *, shown: bool = True) -> Iterator[str]:
    """The ways of packets, each to fold away."""
    return (part for packet in packets for part in _packet(packet, shown))


def document(title: str, body: Iterable[str]) -> str:
    """A page without scripts around a body of HTML."""
    style = (files("p4cc.packet_way") / "page.css").read_text(encoding="utf-8")
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="generator" content="p4cc trace-packet">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape(title)} - p4cc</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        f"<h1>{escape(title)}</h1>",
        *body,
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _packet(packet: Mapping[str, Any], shown: bool) -> Iterator[str]:
    size = len(packet["bytes"]) // 2
    yield "<details open>" if shown else "<details>"
    yield f"<summary>Line {packet['line']}: {size} bytes into port {packet['port']}</summary>"
    yield f'<p class="bytes">{escape(in_words(packet["bytes"]))}</p>'
    yield "<ol>"
    yield from (_line(line) for line in lines(packet))
    yield "</ol>"
    yield "</details>"


def _line(line: Line) -> str:
    place = f' <span class="place">{escape(line.place)}</span>' if line.place else ""
    return f'<li class="depth{line.depth} {line.kind}">{escape(line.text.strip())}{place}</li>'
