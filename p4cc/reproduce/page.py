"""A study's page: the items of its source in order, each with our results. Pure: results in, text out."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p4cc.reproduce.items import place
from p4cc.reproduce.league import leagues_of
from p4cc.reproduce.markup import code, linked, plain, slug, table
from p4cc.reproduce.run import claims_of
from p4cc.reproduce.table import HEADINGS, cells_of, few_text, league_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from p4cc.reproduce.items import ClaimsByFigure, Placed, SourceItem
    from p4cc.reproduce.results import Cost, StudyResults
    from p4cc.reproduce.verdict import ClaimRecord

MARKER = "<!-- Written by p4cc reproduce --report. "
"""The beginning of a page's first line; a summary follows as JSON."""

WITHIN, OUTSIDE, REPORTED = "within", "outside", "reported"
_VERDICT = {True: WITHIN, False: OUTSIDE, None: REPORTED}


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
        _marker(results, placed),
        "",
        f"# {_capital(plain(study.source))}",
        "",
        f"{maker.words(study.title)}. {maker.words(study.citation or study.source)}",
        "",
        *_in_short(maker, placed),
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
        lines += ["", "## Our own", "", "What p4cc shows beside what the source does."]
        for name, claims in rest.items():
            heading = f'<a id="own-{slug(name)}"></a>\n### {_capital(plain(_called(name)))}'
            lines += ["", heading, "", *_figure(maker, name, claims, None, f"own-{slug(name)}")]
    return Page("\n".join(lines) + "\n", maker.pictures)


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


def counts(claims: Iterable[ClaimRecord]) -> Counter[str]:
    """How many claims are within their bands, outside, or reported without a band."""
    return Counter(_VERDICT[claim["within_band"]] for claim in claims)


def _marker(results: StudyResults, placed: Sequence[Placed]) -> str:
    every = counts(claim for record in results.records.values() for claim in record["claims"])
    study = results.study.study
    facts = {
        "study": study.name,
        "source": study.source,
        "title": study.title,
        "items": len(placed),
        "not_reproduced": sum(not one.claims for one in placed),
        **{verdict: every[verdict] for verdict in (WITHIN, OUTSIDE, REPORTED)},
    }
    # A comment ends at the first `-->`.
    text = json.dumps(facts).replace(">", "\\u003e")
    return f"{MARKER}{text} -->"


def _in_short(maker: _Maker, placed: Sequence[Placed]) -> list[str]:
    records = maker.results.records.values()
    every = counts(claim for record in records for claim in record["claims"])
    numbers = (
        f"{every[WITHIN]} numbers lie within their band, {every[OUTSIDE]} outside, {every[REPORTED]} have no band."
    )
    if not placed:
        return [f"The study does not list what its source shows; its figures stand in the study's order. {numbers}"]
    without = sum(not one.claims for one in placed)
    return [
        f"The source has {len(placed)} figures, tables and headline numbers: ours stands beside {len(placed) - without}"
        f" of them, {without} {'is' if without == 1 else 'are'} not reproduced, with the reason in"
        f" {'its' if without == 1 else 'their'} place. {numbers}"
    ]


def _repeat(results: StudyResults) -> Iterator[str]:
    """How to repeat the page, and what it costs."""
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
    return f"{len(cost.runs)} runs, {events / 1e6:,.0f} million events, {seconds} s of one processor"


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
        return f"not reproduced: {maker.words(item.not_reproduced)}"
    found = counts(claim for name, chosen in claims.items() for claim in _claims(maker, name, chosen))
    if not found:
        return "not part of these runs"
    parts = [f"{found[verdict]} {verdict}" for verdict in (WITHIN, OUTSIDE, REPORTED) if found[verdict]]
    text = ", ".join(f"**{part}**" if part.endswith(OUTSIDE) else part for part in parts)
    return f"{text}; in part" if item.not_reproduced else text


def _item(maker: _Maker, item: SourceItem, claims: ClaimsByFigure) -> Iterator[str]:
    anchor = _anchor(item)
    yield f'<a id="{anchor}"></a>\n### {_capital(plain(item.item))}'
    yield from ("", f"**The source:** {maker.words(item.shows)}")
    if item.not_reproduced:
        what = "Not reproduced in full" if claims else "Not reproduced"
        yield from ("", f"**{what}:** {maker.words(item.not_reproduced)}")
    for name, chosen in claims.items():
        yield from ("", *_figure(maker, name, chosen, item.pictures, anchor))


def _figure(
    maker: _Maker, name: str, claims: Sequence[str], pictures: Sequence[str] | None, anchor: str
) -> Iterator[str]:
    """Ours: title, pictures, the table of claims and the causes of what lies outside."""
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
    if listed:
        yield ""
        yield from table(
            ("claim", "paper", "ours", "band", "verdict"), (_row(maker, cells_of(record, one)) for one in listed)
        )
    texts = [
        f"- {_said(maker, claim, cells_of(record, claim))}"
        for claim in chosen
        if claim["note"] or claim["within_band"] is False
    ]
    if star := few_text(listed):
        texts.append(f"- {maker.words(star)}")
    if texts:
        yield from ("", *texts)


def _row(maker: _Maker, cells: Sequence[str]) -> list[str]:
    """A claim's row; the figure is above the table, and the deviation follows our number."""
    of = dict(zip(HEADINGS, map(maker.words, cells), strict=True))
    deviation = of["deviation"].replace(" ", "&nbsp;")
    ours = f"{of['ours']} ({deviation})" if deviation else of["ours"]
    verdict = f"**{of['verdict']}**" if of["verdict"] == OUTSIDE else of["verdict"]
    return [of["claim"], of["paper"], ours, of["band"], verdict]


def _said(maker: _Maker, claim: ClaimRecord, cells: Sequence[str]) -> str:
    """What there is to say of a claim; of one outside its band the number and the cause."""
    if claim["within_band"] is not False:
        return f"{maker.words(claim['text'])}: {maker.words(claim['note'])}"
    ours = cells[HEADINGS.index("ours")]
    number = maker.words(f"{claim['text'].rstrip(' =')} = {ours}")
    return f"**Outside:** {number}; {maker.words(claim['note'] or 'no cause is known')}"


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
                yield from ("", f"Its picture stands [above](#{before}).")
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
    when = "It runs on request" if figure is not None and figure.entry.on_request else "It is no part of these runs"
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
