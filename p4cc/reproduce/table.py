"""The table people read: figure, claim, the paper's number, the band, ours, the deviation, the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from p4cc.analysis.percentiles import of_few_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from p4cc.reproduce.league import League
    from p4cc.reproduce.verdict import ClaimRecord, Record

HEADINGS = ("figure", "claim", "paper", "band", "ours", "deviation", "verdict")
_VERDICTS = {True: "within", False: "outside", None: "reported"}
_STYLES = {True: "green", False: "red", None: "dim"}


def rich_tables(title: str, records: Sequence[Record], leagues: Sequence[League] = ()) -> Iterator[Table]:
    """For the terminal: league tables, then the claims that they do not hold."""
    for league in leagues:
        out = Table(title=escape(league.title), title_justify="left")
        out.add_column("")
        for column in league.columns:
            out.add_column(escape(column.heading), justify="right")
        for variant, row in zip(league.variants, league.cells, strict=True):
            leads = [variant in column.leaders for column in league.columns]
            cells = [_cell(claim) for claim in row]
            shown = (f"[bold green]{cell}[/]" if lead else cell for cell, lead in zip(cells, leads, strict=True))
            out.add_row(escape(variant), *shown)
        yield out
    if rest := _rest(records, leagues):
        yield _claims_table(title, rest)


def _rest(records: Sequence[Record], leagues: Sequence[League]) -> list[Record]:
    """Records without the claims that league tables hold."""
    values = {one for league in leagues for one in league.holds}
    left = [record.copy() for record in records]
    for record in left:
        record["claims"] = [one for one in record["claims"] if (record["figure"], one["name"]) not in values]
    return [record for record in left if record["claims"]]


def _claims_table(title: str, records: Sequence[Record]) -> Table:
    """Emphasises values outside their bands; their likely causes are below the table."""
    out = Table(title=title, title_justify="left", show_lines=False)
    for heading in HEADINGS:
        out.add_column(heading, justify="right" if heading in ("paper", "ours", "deviation") else "left")
    for record in records:
        for place, claim in enumerate(record["claims"]):
            style = _STYLES[claim["within_band"]]
            cells = [escape(cell) for cell in cells_of(record, claim)]
            cells[0] = cells[0] if place == 0 else ""
            cells[-1] = f"[{style}]{cells[-1]}[/{style}]"
            out.add_row(*cells, end_section=place == len(record["claims"]) - 1)
    return out


def causes(records: Sequence[Record]) -> Iterator[str]:
    """A line for each claim outside its band, with the likely cause, and for what claims have to add."""
    for record in records:
        for claim in record["claims"]:
            if claim["within_band"] is False or claim["note"]:
                verdict = "outside its band: " if claim["within_band"] is False else ""
                yield f"figure {record['figure']}, {claim['text']}: {verdict}{claim['note'] or 'no cause is known'}"
    if star := few_text(claim for record in records for claim in record["claims"]):
        yield star


def few_text(claims: Iterable[ClaimRecord]) -> str:
    """What the star at numbers means; nothing where none has one."""
    percents = [claim["few"] for claim in claims if claim["few"] is not None]
    return f"* of {of_few_text(percents)} in a run" if percents else ""


def markdown(records: Sequence[Record], leagues: Sequence[League] = ()) -> str:
    """The same for a README: league tables, a table of the other claims, then the causes."""
    lines: list[str] = []
    for league in leagues:
        lines += [f"**{league.title}**", "", *league_lines(league, _escaped), ""]
    if rest := _rest(records, leagues):
        lines += [f"| {' | '.join(HEADINGS)} |", f"|{'---|' * len(HEADINGS)}"]
    for record in rest:
        for claim in record["claims"]:
            lines.append(f"| {' | '.join(_escaped(cell) for cell in cells_of(record, claim))} |")
    result = [f"- {line}" for line in causes(records)]
    return "\n".join([*lines, "", *result] if result else lines) + "\n"


def league_lines(league: League, words: Callable[[str], str]) -> list[str]:
    """A league table in Markdown; what leads a column is bold. `words` makes Markdown of a text."""
    headings = ["", *(words(column.heading) for column in league.columns)]
    lines = [f"| {' | '.join(headings)} |", f"|---|{'--:|' * len(league.columns)}"]
    for variant, row in zip(league.variants, league.cells, strict=True):
        cells = [words(variant)]
        for column, claim in zip(league.columns, row, strict=True):
            cells.append(f"**{_cell(claim)}**" if variant in column.leaders else _cell(claim))
        lines.append(f"| {' | '.join(cells)} |")
    star = few_text(claim for row in league.cells for claim in row if claim is not None)
    return [*lines, "", words(star)] if star else lines


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")


def _cell(claim: ClaimRecord | None) -> str:
    return "" if claim is None else number(claim["measured"]) + _star(claim)


def _star(claim: ClaimRecord) -> str:
    """The mark of a percentile of few values."""
    return "" if claim["few"] is None or claim["measured"] is None else "*"


def number(value: float | None) -> str:
    """Four digits, whole numbers whole."""
    if value is None:
        return "-"
    return f"{int(value)}" if float(value).is_integer() and abs(value) < 1e9 else f"{value:.4g}"


def cells_of(record: Record, claim: ClaimRecord) -> list[str]:
    """A claim's cells, in the order of `HEADINGS`."""
    unit = f" {claim['unit']}" if claim["unit"] else ""
    deviation = "" if claim["deviation"] is None else f"{100 * claim['deviation']:+.1f} %"
    return [
        record["figure"],
        claim["text"],
        "" if claim["paper"] is None else number(claim["paper"]) + unit,
        _band(claim),
        number(claim["measured"]) + _star(claim) + ("" if claim["measured"] is None else unit),
        deviation,
        _VERDICTS[claim["within_band"]],
    ]


def _band(claim: ClaimRecord) -> str:
    band = claim["band"]
    if band is None:
        return ""
    low, high = band["min"], band["max"]
    if low is None:
        span = f"≤ {number(high)}"
    elif high is None:
        span = f"≥ {number(low)}"
    else:
        span = number(low) if low == high else f"{number(low)} to {number(high)}"
    return f"{span} ({band['source']})"
