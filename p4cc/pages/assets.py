"""What pages carry of others' libraries: plotly.js for figures, DataTables for tables, as their packages ship them."""

from __future__ import annotations

import base64
import gzip
from functools import cache
from importlib.resources import files
from importlib.util import find_spec

for _package in ("plotly", "itables"):
    # Both take a while to import, so a missing one is noticed here and not when a page is written.
    if find_spec(_package) is None:
        raise ModuleNotFoundError(f"No module named {_package!r}", name=_package)


@cache
def plotly_js() -> str:
    """plotly.js as a script that sets `window.Plotly`."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


@cache
def datatables_js() -> str:
    """DataTables as an ES module: its default export is the class, `jQuery` is there too."""
    return (files("itables") / "html" / "dt_bundle.js").read_text(encoding="utf-8")


@cache
def datatables_css() -> str:
    """The style of DataTables."""
    return (files("itables") / "html" / "dt_bundle.css").read_text(encoding="utf-8")


def packed(text: str) -> str:
    """A text as base64 of gzip, for `DecompressionStream` of a browser; the same text gives the same bytes."""
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=9, mtime=0)).decode("ascii")
