"""The tables people read: the source's numbers next to ours, then what p4cc expects, then what it only shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from p4cc.reproduce.verdict import MET, NOT_COMPARABLE, NOT_MET, OUTSIDE, WITHIN, why_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from p4cc.reproduce.league import League
    from p4cc.reproduce.verdict import ClaimRecord, Record

HEADINGS = ("figure", "claim", "paper", "band", "ours", "deviation", "verdict")
_STYLES = {WITHIN: "green", MET: "green", OUTSIDE: "red", NOT_MET: "red", NOT_COMPARABLE: "yellow", None: "dim"}
FEW = "* in some run, fewer values than the percentile needs"
"""The meaning of the star in a league table."""


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
            style = _STYLES[claim["verdict"]]
            cells = [escape(cell) for cell in cells_of(record, claim)]
            cells[0] = cells[0] if place == 0 else ""
            cells[-1] = f"[{style}]{cells[-1]}[/{style}]" if cells[-1] else ""
            out.add_row(*cells, end_section=place == len(record["claims"]) - 1)
    return out


def causes(records: Sequence[Record]) -> Iterator[str]:
    """A line for each number that is not as stated or expected, with the likely cause, and for what others add."""
    for record in records:
        for claim in record["claims"]:
            off = claim["verdict"] in (OUTSIDE, NOT_COMPARABLE, NOT_MET)
            if off or claim["note"]:
                verdict = f"{claim['verdict']}: " if off else ""
                yield f"figure {record['figure']}, {claim['text']}: {verdict}{why_of(claim) if off else claim['note']}"


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
    """A league table in Markdown; the best value of a column is bold. `words` makes Markdown of a text."""
    headings = ["", *(words(column.heading) for column in league.columns)]
    lines = [f"| {' | '.join(headings)} |", f"|---|{'--:|' * len(league.columns)}"]
    for variant, row in zip(league.variants, league.cells, strict=True):
        cells = [words(variant)]
        for column, claim in zip(league.columns, row, strict=True):
            cells.append(f"**{_cell(claim)}**" if variant in column.leaders else _cell(claim))
        lines.append(f"| {' | '.join(cells)} |")
    has_few = any(_cell(claim).endswith("*") for row in league.cells for claim in row)
    return [*lines, "", words(FEW)] if has_few else lines


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")


def _cell(claim: ClaimRecord | None) -> str:
    if claim is None:
        return ""
    return number(claim["measured"]) + ("*" if claim["reason"] and claim["measured"] is not None else "")


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
        number(claim["measured"]) + ("" if claim["measured"] is None else unit),
        deviation,
        claim["verdict"] or "",
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
