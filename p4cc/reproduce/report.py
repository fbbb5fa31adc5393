"""Pages of studies in a folder, with their pictures at the size of the web and an index: `p4cc reproduce --report`.

Beside each picture is its chart, from which the site draws it: the repository holds no picture of a run.
"""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from PIL import Image

from p4cc import figures
from p4cc.analysis.recorded import read_results, read_table
from p4cc.errors import UserError
from p4cc.figures.chart_file import charts_below, file_of, read_chart, write_chart
from p4cc.figures.draw import chart_of
from p4cc.files import read_text
from p4cc.reproduce.markup import plain, table
from p4cc.reproduce.page import MARKER, study_page
from p4cc.reproduce.sums import COLUMNS, EXPECTED, STATED, SUMS, total

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p4cc.figures.chart import Chart
    from p4cc.json_data import JsonObject, JsonValue
    from p4cc.reproduce.results import StudyResults

DEFAULT_FOLDER = Path("results") / "reproduction"
INDEX = "README.md"
MAX_PIXELS_WIDE = 1_200
COLOURS = 256
"""Of a picture: a palette makes a third of the size."""

_PICTURE = re.compile(r"\]\(([a-z0-9_]+/[a-z0-9-]+\.(?:png|svg|pdf))\)")
_INDEX_HEAD = """# Reproduction

Each page follows one source in its order and sets our result next to each figure, table, formula and number.
`p4cc reproduce STUDY --report` makes a page from the runs of a study. The sums count each number of the source once.
Two sums are apart from these: what a source states without a number or with a bound, and what p4cc expects of itself.

p4cc's repository holds charts, such as `fig6.png.json`, instead of pictures, so its pages show none on GitHub or in a
fresh checkout. `make docs` draws them.
"""
_INDEX_FOOT = """<a id="rules"></a>
## Rules of a verdict

The band of a source's number is two-sided and follows from the source alone; nobody types it:

| how the number is known | band |
|---|---|
| the source gives error bars | these |
| stated in its text or in a table | 10 % each way |
| read off a figure | 20 % each way, or half a step of the figure's grid if that is more |
| a tail percentile of few samples | half to twice the number |

Of a share and of an index whose greatest value is 1, the band is a share of what is missing to the whole where that is
less than the number, but at least half of the last digit that the source prints: 10 % of 0.953 would hold every value
up to 1.

Where a source leaves something open, its number has several readings. Every reading that ran is judged, and the number
counts once: within only if each of them that can be compared is within. Of a sweep over many readings the one farthest
from the source's number is judged, of those that their sweep decides. The table of what is shown says why a number that
is measured like one of the source's is not a reading of it. A limit at the end of its sweep, or below its first point,
is not comparable, unless it lies beyond the band; so is what is combined of it. A statement that only the horizon of
our run decides is not judged, nor one on a percentile of too few values, nor one that the end of a sweep leaves open.

A number that the source states counts, even where it follows from others that it states (85 times is 6800 by 79,
nearly 13 times is 1490 by 116). A table counts cell by cell, without the empty ones. A number that only follows from
others, such as a difference of two, or that only a public quote has, is judged and does not count.

What a source states without a number, as a bound or as a range (no timeout, an order, nearly equal, within 50 ms, 3 to
5 times) is met or not, and has its own sum: its band is as wide as the statement, and where we chose the width it says
so. Words have one width in all sources: similar, close to, nearly or roughly equal, the same, little different,
constant and unchanged are 10 % each way, as wide as the band of a stated number; faster, above, growing and less than
are strict. Each end of a range is judged by itself. A statement that only repeats numbers that count is an expectation
of our own. A statement about one run, such as a timeout, is judged by our median run: the source shows one run of each
point. A statement that is judged twice counts once, in the reading that the source supports: over the whole run where
it names no span of time. The other line is judged and refers to the one that counts.

| verdict | meaning |
|---|---|
| within | ours lies in the band |
| outside | it does not; the page has the cause, as far as it is known |
| not comparable | ours is not the same number, or an input, or of no or too few values; the page has the reason |
| absent | a number of the source that no run of ours measures; the page has the reason in its place |

What has no number and no run, such as a lost curve or a proposal, is left out of all sums, and its page says why.

Within 10 % counts comparable numbers of ours that are so close to the source's, whatever their band: 10 % of the number
itself, of a share too. A combination is of both numbers over the same points, and a claim leaves out points only where
the source does, which it cites. A band, measure, grid or base that changed after a run is listed in the page's last
table.
"""


def write_pages(studies: Iterable[StudyResults], folder: Path) -> list[Path]:
    """Writes a page for each study, its pictures, and the index of all pages there; returns the pages.

    Raises UserError where a file is in the way that p4cc did not write.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = [_write_page(results, folder) for results in studies]
        index = folder / INDEX
        _may_replace(index)
        index.write_text(index_of(folder), encoding="utf-8")
    except OSError as error:
        place = str(error.filename or folder)
        cause = f"cannot write the report: {error.strerror or error}"
        raise UserError(cause, place=place, remedy="give another folder with --report-to") from error
    return [*written, index]


def _write_page(results: StudyResults, folder: Path) -> Path:
    path = folder / f"{results.study.study.name}.md"
    before = _may_replace(path)
    page = study_page(results, folder)
    charts = _charts(results) if page.pictures else {}
    for name, drawn in page.pictures.items():
        (folder / name).parent.mkdir(exist_ok=True)
        draw_picture(write_chart(charts[drawn], folder / name), folder / name)
    path.write_text(page.text, encoding="utf-8")
    # Pictures of the page before this one, which nothing shows any more.
    for name in set(_PICTURE.findall(before)) - set(page.pictures):
        (folder / name).unlink(missing_ok=True)
        file_of(folder / name).unlink(missing_ok=True)
    return path


def _charts(results: StudyResults) -> dict[Path, Chart]:
    """What the pictures of a study show, by the file that its runs drew."""
    charts: dict[Path, Chart] = {}
    for name, drawn in results.pictures.items():
        scenario = results.figures[name].scenario
        for path, figure in zip(drawn, scenario.figures, strict=True):
            runs = pl.DataFrame(read_results(path.parent).runs, infer_schema_length=None)
            charts[path] = chart_of(figure, runs, partial(read_table, path.parent), scenario)
    return charts


def draw_missing(folder: Path) -> None:
    """Draws the pictures of the charts below a folder, except those that are newer than chart and code."""
    code = max(path.stat().st_mtime for path in Path(figures.__file__).parent.glob("*.py"))
    for chart in charts_below(folder):
        picture = chart.with_suffix("")
        if not picture.exists() or picture.stat().st_mtime < max(chart.stat().st_mtime, code):
            draw_picture(read_chart(chart), picture)


def _may_replace(path: Path) -> str:
    """The present text of a page; raises UserError where p4cc did not write it."""
    if not path.exists():
        return ""
    text = read_text(path, "page")
    if not text.startswith(MARKER):
        cause = "a file is in the way that p4cc did not write"
        raise UserError(cause, place=str(path), remedy="move it, or give another folder with --report-to")
    return text


def draw_picture(chart: Chart, path: Path) -> None:
    """A picture of points is as wide as a page and has a palette."""
    # Plotting takes half a second to import.
    from p4cc.figures.picture import write

    write(chart, path)
    if path.suffix != ".png":
        return
    with Image.open(path) as picture:
        made = picture.convert("RGB")
    if made.width > MAX_PIXELS_WIDE:
        height = round(made.height * MAX_PIXELS_WIDE / made.width)
        made = made.resize((MAX_PIXELS_WIDE, height), Image.Resampling.LANCZOS)
    made.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)


def index_of(folder: Path) -> str:
    """The index of the pages that p4cc wrote there."""
    rows: list[tuple[str, ...]] = []
    every: list[JsonObject] = []
    for path in sorted(folder.glob("*.md")):
        facts = _facts(path)
        if facts is not None and path.name == f"{facts.get('study')}.md":
            every.append(facts)
            link = f"[{plain(str(facts.get('source')))}]({path.name}): {plain(str(facts.get('title')))}"
            rows.append((link, *(plain(str(facts.get(name, ""))) for name in SUMS)))
    sums = total(every)
    rows.append(("all", *(f"**{sums[name]}**" for name in SUMS)))
    headings = ("source", *COLUMNS.values(), *STATED.values(), *EXPECTED.values())
    lines = [f'{MARKER}{{"index": true}} -->', "", _INDEX_HEAD, *table(headings, rows), "", _INDEX_FOOT]
    return "\n".join(lines)


def _facts(path: Path) -> JsonObject | None:
    """The facts in a page's first line; None for a file that p4cc did not write."""
    first = read_text(path, "page").partition("\n")[0]
    if not first.startswith(MARKER) or not first.endswith(" -->"):
        return None
    try:
        facts: JsonValue = json.loads(first.removeprefix(MARKER).removesuffix(" -->"))
    except (ValueError, RecursionError):
        return None
    return facts if isinstance(facts, dict) else None
