"""What pages carry of others: plotly.js for figures, DataTables for tables (`make scripts` copies both anew)."""

from __future__ import annotations

import base64
import gzip
from functools import cache
from importlib.resources import files

_SCRIPTS = files("p4cc.pages") / "scripts"


@cache
def plotly_js() -> str:
    """plotly.js for figures on two axes, as a script that sets `window.Plotly`."""
    return (_SCRIPTS / "plotly.min.js").read_text(encoding="utf-8")


@cache
def datatables_js() -> str:
    """DataTables as an ES module: its default export is the class."""
    return (_SCRIPTS / "datatables.min.mjs").read_text(encoding="utf-8")


@cache
def datatables_css() -> str:
    """The style of DataTables."""
    return (_SCRIPTS / "datatables.min.css").read_text(encoding="utf-8")


def packed(text: str) -> str:
    """A text as base64 of gzip, for `DecompressionStream` of a browser; the same text gives the same bytes."""
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=9, mtime=0)).decode("ascii")
