"""A study's page: the items of its source in order, each with our results. Pure: results in, text out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from p4cc.reproduce.items import place
from p4cc.reproduce.league import leagues_of
from p4cc.reproduce.markup import code, linked, plain, slug, table
from p4cc.reproduce.run import claims_of
from p4cc.reproduce.sums import COLUMNS, EXPECTED, STATED, sums_of
from p4cc.reproduce.table import HEADINGS, cells_of, league_lines, number
from p4cc.reproduce.verdict import (
    MET,
    NOT_COMPARABLE,
    NOT_MET,
    OUTSIDE,
    WITHIN,
    by_number,
    counts,
    expected,
    of_readings,
    why_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from p4cc.reproduce.items import ClaimsByFigure, Placed, SourceItem
    from p4cc.reproduce.results import Cost, StudyResults
    from p4cc.reproduce.sums import Sums
    from p4cc.reproduce.verdict import ClaimRecord, Record

MARKER = "<!-- Written by p4cc reproduce --report. "
"""The beginning of a page's first line; a summary follows as JSON."""

_LENGTH = 12
"""Of a digest, in hexadecimal digits."""
_OFF = (OUTSIDE, NOT_COMPARABLE, NOT_MET)
_READINGS = {"error_bars": "error bars", "tail": "tail percentile"}


@dataclass
class Page:
    """The text of a page, and the pictures that it shows."""

    text: str
    pictures: dict[str, Path]
    """Names relative to the page's folder, to the files that the runs drew."""


@dataclass
class _Maker:
    """A page under way."""

    results: StudyResults
    folder: Path
    """The page's folder, to which links are relative."""
    pictures: dict[str, Path] = field(default_factory=dict[str, "Path"])
    shown: dict[Path, str] = field(default_factory=dict["Path", str])
    """Pictures that the page shows already, to the anchor of the item that shows them."""
    held: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Figures and names of claims that a league table shows."""

    @cached_property
    def readings(self) -> dict[str, list[ClaimRecord]]:
        """The numbers of the source that count, to their claims."""
        return by_number(claim for record in self.results.records.values() for claim in record["claims"])

    @cached_property
    def texts(self) -> dict[str, str]:
        """FIGURE.NAME of each claim to its text."""
        records = self.results.records.items()
        return {f"{name}.{claim['name']}": claim["text"] for name, record in records for claim in record["claims"]}

    def words(self, text: str) -> str:
        """A text of the study as Markdown."""
        return linked(text, self.folder)

    def picture(self, scenario: str, drawn: Path) -> str:
        """The name under which the page shows a picture of a scenario."""
        stem = slug(drawn.stem if slug(drawn.stem) == slug(scenario) else f"{scenario}-{drawn.stem}")
        number = 1
        while True:
            more = f"-{number}" if number > 1 else ""
            name = f"{self.results.study.study.name}/{stem}{more}{drawn.suffix}"
            if self.pictures.setdefault(name, drawn) == drawn:
                return name
            number += 1


def study_page(results: StudyResults, folder: Path) -> Page:
    """The page of a study, for `folder`."""
    maker = _Maker(results, folder)
    study = results.study.study
    placed, rest = place(study.items, claims_of(results.study, results.figures.values()))
    lines = [
        "",
        f"# {_capital(plain(study.source))}",
        "",
        *_in_short(maker, placed),
        "",
        f"{maker.words(study.title)}. {maker.words(study.citation or study.source)}",
        "",
        *_repeat(results),
        *_leagues(maker),
    ]
    if placed:
        lines += ["", "## The source's figures, tables and numbers", "", *_overview(maker, placed)]
    for one in placed:
        if one.item is not None:
            lines += ["", *_item(maker, one.item, one.claims)]
    if rest:
        lines += ["", "## Our own", "", "What p4cc shows in addition to the source."]
        for name, claims in rest.items():
            heading = f'<a id="own-{slug(name)}"></a>\n### {_capital(plain(_called(name)))}'
            lines += ["", heading, "", *_figure(maker, name, claims, None, f"own-{slug(name)}")]
    lines += _histories(maker)
    body = "\n".join(lines) + "\n"
    return Page(f"{_marker(results, placed, body)}\n{body}", maker.pictures)


def digest_of_body(body: str) -> str:
    """Digest of a page below its first line, which states it: a page that somebody edited has another one."""
    return hashlib.sha256(body.encode()).hexdigest()[:_LENGTH]


def _leagues(maker: _Maker) -> list[str]:
    """The study's league tables, the only place of their claims."""
    results = maker.results
    lines: list[str] = []
    for league in leagues_of(results.study.study, list(results.figures.values()), results.records):
        maker.held |= league.holds
        lines += ["", f"## {_capital(plain(league.title))}", ""]
        if league.note:
            lines += [maker.words(league.note), ""]
        lines += league_lines(league, maker.words)
    return lines


def _marker(results: StudyResults, placed: Sequence[Placed], body: str) -> str:
    study = results.study.study
    facts = {
        "study": study.name,
        "source": study.source,
        "title": study.title,
        "items": len(placed),
        **_sums(results).facts(),
        "digest": digest_of_body(body),
    }
    # A comment ends at the first `-->`.
    text = json.dumps(facts).replace(">", "\\u003e")
    return f"{MARKER}{text} -->"


def _sums(results: StudyResults) -> Sums:
    claims = (claim for record in results.records.values() for claim in record["claims"])
    return sums_of(claims, results.study.study.items)


def _in_short(maker: _Maker, placed: Sequence[Placed]) -> list[str]:
    """The counts, which every page begins with."""
    facts = _sums(maker.results).facts()
    lines = table(tuple(COLUMNS.values()), [tuple(str(facts[name]) for name in COLUMNS)])
    if not facts["numbers"]:
        lines = ["No number of this source is judged by itself."]
    for names, what in (
        (STATED, "What the source states without a number or with a bound"),
        (EXPECTED, "Expectations of p4cc's own"),
    ):
        met, not_met = (facts[name] for name in names)
        if met or not_met:
            lines += ["", f"{what}, in none of these sums: {met} met, {not_met} not met."]
    if not placed:
        lines += ["", "The study does not list what its source shows; its figures are in the study's order."]
    return lines


def _repeat(results: StudyResults) -> Iterator[str]:
    """The command that repeats the page, and its cost."""
    study, cost = results.study.study, results.cost
    on_request = any(figure.entry.on_request and name in results.records for name, figure in results.figures.items())
    how = " --full" if results.full else " --all" if on_request else ""
    yield from ("```sh", f"p4cc reproduce {study.name}{how} --report", "```", "")
    yield (
        f"Made by p4cc {', '.join(map(plain, cost.versions))}, commit {', '.join(map(_commit, cost.commits))}, "
        f"on {', '.join(map(plain, cost.days))}: {_cost(cost)}. Seeds: {_seeds(cost)}."
    )
    readme = results.study.path.parent / "README.md"
    if readme.is_file():
        yield from ("", f"Readings, traces and what else was run: {code(_place(readme))}.")


def _commit(name: str) -> str:
    commit, dirty, _ = name.partition("-dirty")
    return code(commit[:12]) + (" with changes" if dirty else "")


def _cost(cost: Cost) -> str:
    events = sum(run.events for run in cost.runs.values())
    wall_s = sum(run.wall_s for run in cost.runs.values())
    seconds = f"{wall_s:,.0f}" if wall_s > 10 else f"{wall_s:.1f}"
    return f"{len(cost.runs)} runs, {events / 1e6:,.0f} million events, {seconds} s summed over the runs"


def _seeds(cost: Cost) -> str:
    parts = [
        f"{count} in {scenarios} scenario{'' if scenarios == 1 else 's'}"
        for count, scenarios in sorted(cost.seeds.items())
    ]
    return ", ".join(parts)


def _overview(maker: _Maker, placed: Sequence[Placed]) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for one in placed:
        if one.item is not None:
            link = f"[{plain(one.item.item)}](#{_anchor(one.item)})"
            rows.append((link, maker.words(one.item.shows), _verdict(maker, one.item, one.claims)))
    return table(("source", "what it shows", "ours"), rows)


def _verdict(maker: _Maker, item: SourceItem, claims: ClaimsByFigure) -> str:
    if not claims:
        if item.kept_by:
            return f"kept by {maker.words(item.kept_by)}"
        missing = f"{item.absences} absent: " if item.absences else "left out: "
        return missing + maker.words(item.not_reproduced)
    every = [claim for name, chosen in claims.items() for claim in _claims(maker, name, chosen)]
    if not every:
        return "not part of these runs"
    found = counts(every)
    parts = [f"{found[verdict]} {verdict}" for verdict in (WITHIN, OUTSIDE, NOT_COMPARABLE) if found[verdict]]
    parts += [f"{item.absences} absent"] if item.absences else []
    for of_source, what in ((True, "statements"), (False, "own expectations")):
        of_kind = expected(every, of_source=of_source)
        several = [f"{of_kind[verdict]} {verdict}" for verdict in (MET, NOT_MET) if of_kind[verdict]]
        parts += [f"{what}: {several[0]}", *several[1:]] if several else []
    text = ", ".join(f"**{part}**" if part.endswith((OUTSIDE, NOT_MET)) else part for part in parts)
    text = text or "numbers of ours only"
    return f"{text}; in part" if item.not_reproduced else text


def _item(maker: _Maker, item: SourceItem, claims: ClaimsByFigure) -> Iterator[str]:
    anchor = _anchor(item)
    yield f'<a id="{anchor}"></a>\n### {_capital(plain(item.item))}'
    yield from ("", f"**The source:** {maker.words(item.shows)}")
    if item.not_reproduced:
        what = "Not reproduced in full" if claims else "Not reproduced"
        yield from ("", f"**{what}:** {maker.words(item.not_reproduced)}")
    if item.kept_by:
        yield from ("", f"**Kept by:** {maker.words(item.kept_by)}")
    numbers = [
        (maker.words(one.text), f"{number(one.paper)} {plain(one.unit)}".strip(), maker.words(one.why))
        for one in item.absent
        if one.paper is not None
    ]
    if numbers:
        yield from ("", *table(("absent", "source", "why no run of ours measures it"), numbers))
    others = [(maker.words(one.text), maker.words(one.why)) for one in item.absent if one.paper is None]
    if others:
        yield from ("", *table(("left out: no number of the source", "why"), others))
    for name, chosen in claims.items():
        yield from ("", *_figure(maker, name, chosen, item.pictures, anchor))


def _figure(
    maker: _Maker, name: str, claims: Sequence[str], pictures: Sequence[str] | None, anchor: str
) -> Iterator[str]:
    """Ours: title, pictures, the table of claims and the causes of numbers outside."""
    figure = maker.results.figures.get(name)
    note = maker.words(_note(maker, name))
    if figure is None:
        yield f"**Ours, {plain(_called(name))}:** {note or 'claims over several figures'}"
    else:
        file = code(_place(figure.path))
        yield f"**Ours, {plain(_called(name))}:** {maker.words(figure.scenario.title)} ({file})"
        if note:
            yield from ("", f"Note: {note}")
    if name not in maker.results.records:
        yield from ("", _absent(maker, name))
        return
    yield from _pictures(maker, name, pictures, anchor)
    record = maker.results.records[name]
    chosen = _claims(maker, name, claims)
    listed = [one for one in chosen if (name, one["name"]) not in maker.held]
    yield from _tables(maker, record, listed)
    texts = [f"- {_said(maker, claim, cells_of(record, claim))}" for claim in chosen if _has_more(claim)]
    if texts:
        yield from ("", *texts)


def _tables(maker: _Maker, record: Record, listed: Sequence[ClaimRecord]) -> Iterator[str]:
    """The source's numbers, what it states otherwise, then what p4cc expects, then what it only shows."""
    stated = [one for one in listed if one["paper"] is not None]
    judged = [one for one in listed if one["verdict"] in (MET, NOT_MET)]
    shown = [one for one in listed if one["verdict"] is None]
    if stated:
        headings = ("claim", "source", "where, and how it is known", "ours", "band", "verdict")
        yield from ("", *table(headings, (_stated_row(maker, record, one) for one in _below_their_heads(stated))))
    if said := [one for one in judged if one["at"]]:
        headings = ("the source states, without a number or with a bound", "where", "as a band", "ours", "")
        yield from ("", *table(headings, (_said_row(maker, record, one) for one in said)))
    if own := [one for one in judged if not one["at"]]:
        rows = (_row(maker, record, one, ("claim", "band", "ours", "verdict")) for one in own)
        yield from ("", *table(("p4cc expects", "expected", "ours", ""), rows))
    if shown:
        headings, columns = ("shown, not judged", "ours"), ("claim", "ours")
        rows = [_row(maker, record, one, columns) for one in shown]
        if any(one["apart"] for one in shown):
            headings = (*headings, "why no number of the source is compared with it")
            rows = [[*row, maker.words(one["apart"])] for row, one in zip(rows, shown, strict=True)]
        yield from ("", *table(headings, rows))


def _below_their_heads(stated: Sequence[ClaimRecord]) -> list[ClaimRecord]:
    """Readings of a number follow the first of them that is here."""
    first: dict[str, int] = {}
    for at, claim in enumerate(stated):
        first.setdefault(claim["counts_as"] or claim["name"], at)
    return sorted(stated, key=lambda claim: first[claim["counts_as"] or claim["name"]])


def _stated_row(maker: _Maker, record: Record, claim: ClaimRecord) -> list[str]:
    """A source's number; the deviation follows ours."""
    wanted = ("claim", "paper", "band", "ours", "deviation", "verdict")
    name, paper, band, ours, deviation, verdict = _row(maker, record, claim, wanted)
    deviation = deviation.replace(" ", "&nbsp;")
    known = f"{maker.words(claim['at'])}; {_READINGS.get(claim['reading'], claim['reading'])}"
    changed = len(claim["history"])
    name = f"{name} ([{changed} change{'s' if changed > 1 else ''}](#history))" if changed else name
    name += _how_it_counts(maker, record, claim)
    return [name, paper, known, f"{ours} ({deviation})" if deviation else ours, band, verdict]


def _said_row(maker: _Maker, record: Record, claim: ClaimRecord) -> list[str]:
    """A statement or a bound of the source."""
    name, band, ours, verdict = _row(maker, record, claim, ("claim", "band", "ours", "verdict"))
    changed = len(claim["history"])
    name = f"{name} ([{changed} change{'s' if changed > 1 else ''}](#history))" if changed else name
    if claim["counts_as"]:
        counting = maker.texts.get(claim["counts_as"], claim["counts_as"])
        name += f"; not counted: {maker.words(counting)} counts instead"
    return [name, maker.words(claim["at"]), band, ours, verdict]


def _how_it_counts(maker: _Maker, record: Record, claim: ClaimRecord) -> str:
    """The remark on a number that is not one of its own in the sums."""
    if claim["derived"]:
        return f"; not counted: {maker.words(claim['derived'])}"
    readings = maker.readings[claim["counts_as"]]
    if claim["counts_as"] != f"{record['figure']}.{claim['name']}":
        figure, _, _ = claim["counts_as"].partition(".")
        where = "" if figure == record["figure"] else f" of {plain(_called(figure))}"
        return f"; a reading of the same number{where}"
    if len(readings) == 1:
        return ""
    return f"; counts once with its other readings ({len(readings) - 1}): {of_readings(readings)}"


def _row(maker: _Maker, record: Record, claim: ClaimRecord, columns: Sequence[str]) -> list[str]:
    of = dict(zip(HEADINGS, map(maker.words, cells_of(record, claim)), strict=True))
    if claim["verdict"] in (OUTSIDE, NOT_MET):
        of["verdict"] = f"**{of['verdict']}**"
    return [of[column] for column in HEADINGS if column in columns]


def _has_more(claim: ClaimRecord) -> bool:
    return bool(claim["note"]) or claim["verdict"] in _OFF


def _said(maker: _Maker, claim: ClaimRecord, cells: Sequence[str]) -> str:
    """The remark on a number: its cause if it is not as stated or expected."""
    if claim["verdict"] not in _OFF:
        return f"{maker.words(claim['text'])}: {maker.words(claim['note'])}"
    ours = cells[HEADINGS.index("ours")]
    words = maker.words(f"{claim['text'].rstrip(' =')} = {ours}")
    return f"**{_capital(claim['verdict'] or '')}:** {words}; {maker.words(why_of(claim))}"


def _histories(maker: _Maker) -> list[str]:
    """Changes after a run, claim by claim: equal changes share a row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for record in maker.results.records.values():
        for claim in record["claims"]:
            for one in claim["history"]:
                key = (one["date"], one["before"], one["after"], one["why"])
                rows.setdefault(key, []).append(f"{record['figure']}.{claim['name']}")
    if not rows:
        return []
    cells = [
        (date, maker.words(", ".join(names)), maker.words(before), maker.words(after), maker.words(why))
        for (date, before, after, why), names in sorted(rows.items(), key=lambda row: row[0][0])
    ]
    said = "Bands, measures, grids, bases and numbers of the source that changed after a run had shown ours."
    heading = '<a id="history"></a>\n## What changed after a run'
    return ["", heading, "", said, "", *table(("date", "numbers", "before", "after", "why"), cells)]


def _pictures(maker: _Maker, name: str, wanted: Sequence[str] | None, anchor: str) -> Iterator[str]:
    figure = maker.results.figures.get(name)
    drawn = maker.results.pictures.get(name, [])
    if figure is None:
        return
    for path in drawn:
        if wanted is not None and path.name not in wanted:
            continue
        before = maker.shown.get(path)
        if before is not None and wanted is None:
            if before != anchor:
                yield from ("", f"See the picture [above](#{before}).")
            continue
        target = maker.picture(figure.path.stem, path)
        maker.shown[path] = anchor
        title = next((one.title for one in figure.scenario.figures if one.file == path.name), "")
        described = plain(title or figure.scenario.title)
        # A picture of pages and not of lines is given to the reader's own viewer.
        sign = "" if path.suffix == ".pdf" else "!"
        yield from ("", f"{sign}[{described}]({target})")


def _absent(maker: _Maker, name: str) -> str:
    study = maker.results.study.study
    figure = maker.results.figures.get(name)
    when = "It runs on request" if figure is not None and figure.entry.on_request else "These runs do not include it"
    option = f'"{name}"' if " " in name else name
    return f"{when}: {code(f'p4cc reproduce {study.name} --only {option}')}."


def _claims(maker: _Maker, name: str, chosen: Sequence[str]) -> list[ClaimRecord]:
    record = maker.results.records.get(name)
    return [] if record is None else [claim for claim in record["claims"] if claim["name"] in chosen]


def _note(maker: _Maker, name: str) -> str:
    figure = maker.results.figures.get(name)
    if figure is not None:
        return figure.reproduction.note
    return next((one.note for one in maker.results.study.study.over_all if one.figure == name), "")


def _place(path: Path) -> str:
    """A file with its study's folder, such as experiments/gst/fig1.yaml."""
    whole = path.resolve()
    return str(whole.relative_to(whole.parents[min(2, len(whole.parents) - 1)]))


def _anchor(item: SourceItem) -> str:
    return f"item-{slug(item.item)}"


def _called(name: str) -> str:
    """A figure by its name, such as figure 9a; names that begin with a word stay as they are."""
    return f"figure {name}" if name[:1].isdigit() else name


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
