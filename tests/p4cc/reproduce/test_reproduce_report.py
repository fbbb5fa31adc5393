"""`p4cc reproduce --report`: pages of small studies, on made-up records and end to end."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from markdown_it import MarkdownIt
from PIL import Image

from p4cc.errors import UserError
from p4cc.figures.chart_file import file_of, read_chart
from p4cc.reproduce.items import SourceItem, check, place
from p4cc.reproduce.markup import linked, plain, slug
from p4cc.reproduce.page import MARKER
from p4cc.reproduce.report import MAX_PIXELS_WIDE, draw_missing, write_pages
from p4cc.reproduce.results import read_results
from p4cc.reproduce.study import find_study
from p4cc.scenario.schema import ScenarioModel
from tests.command_line import p4cc
from tests.p4cc.reproduce.test_reproduce import CLAIMS, ROOT, study

if TYPE_CHECKING:
    from collections.abc import Callable

KNOWN = {"1": ["limit", "goodput"], "2": ["limit"], "headline": ["r"]}
HOSTILE = "<script>alert(1)</script> | **bold** `code` [link](http://x) &amp; _em_ <!-- --> $x$"


def made(folder: Path, items: list[dict[str, Any]] | None = None, **keys: Any) -> Path:
    """The file of the small study, with items of its source and other keys."""
    path = study(folder / "study")
    held = json.loads(path.read_text())
    path.write_text(json.dumps({**held, **({} if items is None else {"items": items}), **keys}, indent=1))
    return path


def cli(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Runs `p4cc reproduce` to the end."""
    return p4cc("reproduce", *arguments, folder=cwd)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the small study, figures that run on request left out."""
    folder = tmp_path_factory.mktemp("results")
    done = cli(str(made(folder)), "--json", "--out", str(folder / "out"))
    assert done.returncode == 0, done.stderr
    return folder / "out"


def page(path: Path, results: Path, folder: Path) -> str:
    """The text of the page that the study in this file has."""
    write_pages([read_results(find_study(str(path)), results)], folder)
    return (folder / "small.md").read_text()


ITEMS = [
    {"item": "abstract", "shows": "a ratio", "by": ["headline"]},
    {"item": "figure 1", "shows": "goodput over senders", "by": ["1"], "not_reproduced": "only one of its senders"},
    {"item": "figure 2", "shows": "nothing that a run could show", "not_reproduced": "its plot is lost"},
    {"item": "table 1", "shows": "limits", "by": ["2"]},
]


def test_the_items_stand_in_the_order_of_the_source(tmp_path: Path, results: Path) -> None:
    text = page(made(tmp_path, ITEMS), results, tmp_path / "pages")
    places = [text.index(f"\n### {name}\n") for name in ("Abstract", "Figure 1", "Figure 2", "Table 1")]
    assert places == sorted(places)
    # The page begins with the counts: figure 2 states no number, and no run of table 1 was made.
    counts = "| numbers of the source | within 10 % | within the band | outside | not comparable | absent |"
    assert text.split("\n\n")[2].splitlines() == [counts, "|---|---|---|---|---|---|", "| 2 | 1 | 1 | 1 | 0 | 0 |"]
    assert "**Not reproduced:** its plot is lost" in text
    assert f"(`{tmp_path.name}/study/small.yaml`)" in text
    assert "**Not reproduced in full:** only one of its senders" in text
    assert "## Our own" not in text
    # What runs on request was no part of these runs.
    assert "It runs on request: `p4cc reproduce small --only 2`." in text
    assert "| [table 1](#item-table-1) | limits | not part of these runs |" in text


def test_figures_on_request_stand_on_the_page_of_a_run_of_all(tmp_path: Path) -> None:
    path = made(tmp_path, ITEMS)
    done = cli(str(path), "--all", "--json", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert [one["figure"] for one in json.loads(done.stdout)] == ["1", "2", "headline"]
    text = page(path, tmp_path / "out", tmp_path / "pages")
    assert "p4cc reproduce small --all --report" in text
    assert "It runs on request" not in text
    assert "| [table 1](#item-table-1) | limits | 1 within |" in text


def test_a_number_outside_its_band_has_verdict_and_cause(tmp_path: Path, results: Path) -> None:
    text = page(made(tmp_path, ITEMS), results, tmp_path / "pages")
    records = json.loads((results / "reproduce.json").read_text())
    ours = f"{records[0]['measured']['goodput']:.4g} Gb/s"
    deviation = f"{100 * (records[0]['measured']['goodput'] / 15 - 1):+.1f}&nbsp;%"
    known = f"table 1; table | {ours} ({deviation})"
    assert f"| goodput | 15 Gb/s | {known} | 13.5 to 16.5 (table: 10 %) | **outside** |" in text
    assert f"- **Outside:** goodput = {ours}; a link carries no more than its rate" in text
    assert "| 1 within, **1 outside**; in part |" in text
    assert '"within": 1, "outside": 1, "not_comparable": 0, "absent": 0' in text.partition("\n")[0]
    assert "| r | " in text.partition("shown, not judged")[2]


def test_what_p4cc_expects_is_in_another_table(tmp_path: Path) -> None:
    path = made(tmp_path, ITEMS)
    expected = {"name": "e", "text": "at least one", "measure": CLAIMS[0]["measure"]}
    change = {"date": "2026-11-27", "before": "at least 2", "after": "at least 1", "why": "it is enough"}
    expected |= {"band": {"min": 1, "source": "our own"}, "history": [change]}
    scenario = path.parent / "small.yaml"
    data = json.loads(scenario.read_text())
    scenario.write_text(json.dumps({**data, "reproduces": {**data["reproduces"], "expectations": [expected]}}))
    done = cli(str(path), "--json", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    text = page(path, tmp_path / "out", tmp_path / "pages")
    assert "| p4cc expects | expected | ours |  |" in text
    assert "| at least one | ≥ 1 (our own) | 4 | met |" in text
    assert "Expectations of p4cc's own, in none of these sums: 1 met, 0 not met." in text
    assert "| 2 | 1 | 1 | 1 | 0 | 0 |" in text
    assert "| 2026-11-27 | 1.e | at least 2 | at least 1 | it is enough |" in text.partition("## What changed")[2]


def test_what_a_source_states_without_a_number_has_a_table_and_a_sum_of_its_own(tmp_path: Path, results: Path) -> None:
    said = {"name": "e", "text": "several", "measure": CLAIMS[0]["measure"], "at": "section 3: several"}
    said |= {"band": {"min": 5, "source": "several; the width is ours"}}
    path = changed(made(tmp_path, ITEMS), reproduces=claims(*CLAIMS, expectations=[said]))
    text = page(path, results, tmp_path / "pages")
    assert "| the source states, without a number or with a bound | where | as a band | ours |  |" in text
    assert "| several | section 3: several | ≥ 5 (several; the width is ours) | 4 | **not met** |" in text
    assert "What the source states without a number or with a bound, in none of these sums: 0 met, 1 not met." in text
    assert "Expectations of p4cc's own" not in text
    assert '"stated_met": 0, "stated_not_met": 1, "met": 0, "not_met": 0' in text.partition("\n")[0]


def test_a_statement_that_does_not_count_refers_to_the_line_that_does(tmp_path: Path, results: Path) -> None:
    said = {"name": "e", "text": "several", "measure": CLAIMS[0]["measure"], "at": "section 3: several"}
    said |= {"band": {"min": 5, "source": "several; the width is ours"}}
    other = {**said, "name": "f", "text": "more", "counted_by": "e", "band": {"min": 1, "source": "our own"}}
    path = changed(made(tmp_path, ITEMS), reproduces=claims(*CLAIMS, expectations=[said, other]))
    text = page(path, results, tmp_path / "pages")
    row = "| more; not counted: several counts instead | section 3: several | ≥ 1 (our own) | 4 | met |"
    assert row in text
    assert '"stated_met": 0, "stated_not_met": 1, "met": 0, "not_met": 0' in text.partition("\n")[0]
    for wrong in ("gone", "limit", "f"):
        refused = changed(path, reproduces=claims(*CLAIMS, expectations=[said, {**other, "counted_by": wrong}]))
        assert f"1.f: {wrong!r} is not a line of a statement that counts" in cli(str(refused), "--list").stderr


def test_a_number_that_is_shown_says_why_it_is_no_reading(tmp_path: Path, results: Path) -> None:
    """Readings were once run, shown and not judged."""
    shown = {"name": "few", "text": "few", "measure": {**CLAIMS[1]["measure"], "where": {"senders": {"max": 3}}}}
    whole = {**shown, "measure": CLAIMS[1]["measure"]}
    for number, refused in ((shown, False), (whole, True)):
        path = changed(made(tmp_path / str(refused), ITEMS), reproduces=claims(*CLAIMS, numbers=[number]))
        listed = cli(str(path), "--list")
        assert (listed.returncode == 2) == refused, listed.stderr
        if refused:
            assert "number 1.few is measured as the source's 1.goodput is, and has no verdict" in listed.stderr
    apart = [{"numbers": ["f*"], "why": "of another sender"}]
    path = changed(path, reproduces=claims(*CLAIMS, numbers=[whole], apart=apart))
    text = page(path, results, tmp_path / "pages")
    assert "| shown, not judged | ours | why no number of the source is compared with it |" in text
    assert "| of another sender |" in text
    path = changed(path, reproduces=claims(*CLAIMS, numbers=[whole], apart=[{"numbers": ["gone"], "why": "no"}]))
    assert "apart: no number 'gone' is shown" in cli(str(path), "--list").stderr


def test_what_a_source_has_and_no_run_measures_is_listed(tmp_path: Path, results: Path) -> None:
    absent = {"text": "its tail", "paper": 7, "unit": "ms", "why": "no run of it"}
    curve = {"text": "the curve", "why": "its plot is lost"}
    items = [
        {"item": "figure 1", "shows": "goodput", "by": ["1", "headline"], "absent": [absent, curve]},
        {"item": "formula 1", "shows": "w = 2w", "kept_by": "the sender, and its test"},
    ]
    text = page(made(tmp_path, items), results, tmp_path / "pages")
    numbers, others = text.split("| left out: no number of the source | why |")
    assert "| its tail | 7 ms | no run of it |" in numbers
    assert "| the curve |" not in numbers
    assert "| the curve | its plot is lost |" in others
    assert "**Kept by:** the sender, and its test" in text
    assert "| 3 | 1 | 1 | 1 | 0 | 1 |" in text


def test_what_no_item_names_is_our_own(tmp_path: Path, results: Path) -> None:
    items = [{"item": "figure 1", "shows": "a limit", "by": ["1.lim*"]}]
    text = page(made(tmp_path, items), results, tmp_path / "pages")
    item, own = text.split("## Our own")
    assert "| without a timeout |" in item
    assert "| goodput |" not in item.partition("### Figure 1")[2]
    assert "| goodput |" in own
    assert "See the picture [above](#item-figure-1)." in own
    assert "### Headline" in own
    without = page(made(tmp_path / "none"), results, tmp_path / "bare")
    assert "does not list what its source shows" in without
    assert "### Figure 1" in without


def github(text: str) -> str:
    """HTML by CommonMark with tables."""
    return MarkdownIt("commonmark").enable("table").render(text)


def site(text: str) -> str:
    """HTML as the site has it."""
    markdown = pytest.importorskip("markdown", reason="comes with the extra docs")
    return markdown.markdown(text, extensions=["tables", "toc"])


@pytest.mark.parametrize("render", [github, site])
def test_what_texts_hold_is_shown_and_is_no_markup(tmp_path: Path, results: Path, render: Callable[[str], str]) -> None:
    items = [{"item": f"figure {HOSTILE}"[:64], "shows": HOSTILE, "by": ["1"], "not_reproduced": HOSTILE}]
    path = made(tmp_path, items, title=HOSTILE, citation=HOSTILE, source=HOSTILE)
    text = page(path, results, tmp_path / "pages")
    index = (tmp_path / "pages" / "README.md").read_text()
    for one, times in ((text, 6), (index, 2)):
        shown = render(one)
        # The comment at the top is p4cc's own, and ends where it should.
        assert shown.startswith(MARKER)
        shown = shown.partition(" -->\n")[2]
        for sign in ("<script", "<!--", "<em>em", "<code>code", '"http://x"', "<strong>bold"):
            assert sign not in shown
        assert html.unescape(re.sub(r"<[^>]*>", "", shown)).count(HOSTILE) == times


def test_plain_texts_stay_readable() -> None:
    assert plain("DCTCP, K = 25: 5-95 % of gst_dctcp\nin one line") == "DCTCP, K = 25: 5-95 % of gst_dctcp in one line"
    assert slug("Figure 9a: é") == "figure-9a"
    assert slug("é") == "unnamed"


def test_documents_are_linked_where_they_stand(tmp_path: Path) -> None:
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "docs" / "deep" / "page.md").write_text("# Page\n")
    folder = tmp_path / "docs" / "pages"
    deep = folder.parent.name + "/deep"
    words = f"by {deep}/page.md#row-1, *not* {deep}/gone.md"
    assert linked(words, folder) == f"by [page.md#row-1](../deep/page.md#row-1), &#42;not&#42; {deep}/gone.md"
    assert linked(words, Path("/")) == words.replace("*", "&#42;")


def test_a_picture_has_the_size_of_a_page_and_its_chart_beside_it(tmp_path: Path, results: Path) -> None:
    folder = tmp_path / "pages"
    text = page(made(tmp_path, ITEMS), results, folder)
    assert "](small/small.png)" in text
    picture = folder / "small" / "small.png"
    drawn = picture.read_bytes()
    with Image.open(picture) as image:
        assert 0 < image.width <= MAX_PIXELS_WIDE
    # From the chart alone comes the same picture, and only where there is none of today.
    picture.unlink()
    draw_missing(folder)
    assert picture.read_bytes() == drawn
    picture.write_bytes(b"mine")
    draw_missing(folder)
    assert picture.read_bytes() == b"mine"
    # A picture that the next page does not show goes with its page.
    page(made(tmp_path / "next", [{"item": "all", "shows": "it", "by": ["1"], "pictures": []}]), results, folder)
    assert not picture.exists()
    assert not file_of(picture).exists()


def test_a_picture_has_the_source_s_numbers(tmp_path: Path, results: Path) -> None:
    folder = tmp_path / "pages"
    page(made(tmp_path, ITEMS), results, folder)
    chart = read_chart(file_of(folder / "small" / "small.png"))
    assert any("the source's number" in note for note in chart.notes)


def test_a_file_of_the_users_stays(tmp_path: Path, results: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "small.md").write_text("# Mine\n")
    with pytest.raises(UserError, match="p4cc did not write"):
        page(made(tmp_path, ITEMS), results, folder)
    assert (folder / "small.md").read_text() == "# Mine\n"


def changed(path: Path, **parts: Any) -> Path:
    """The study, of whose first scenario these parts are changed."""
    scenario = path.parent / "small.yaml"
    scenario.write_text(json.dumps({**json.loads(scenario.read_text()), **parts}))
    return path


def claims(*ours: dict[str, Any], **others: Any) -> dict[str, Any]:
    """What the scenario reproduces."""
    return {"figure": "1", "claims": list(ours), **others}


def test_results_of_other_scenarios_make_no_page(tmp_path: Path, results: Path) -> None:
    with pytest.raises(UserError, match="other settings"):
        page(changed(made(tmp_path, ITEMS), seeds=[1, 2]), results, tmp_path / "pages")
    renamed = changed(made(tmp_path / "renamed", over_all=[]), reproduces={**claims(*CLAIMS), "figure": "7"})
    with pytest.raises(UserError, match="figure 1 is none of the study's"):
        page(renamed, results, tmp_path / "pages")


def test_a_page_judges_what_ran_by_the_claims_of_today(tmp_path: Path, results: Path) -> None:
    records = json.loads((results / "reproduce.json").read_text())
    ours = records[0]["measured"]["goodput"]
    same = page(made(tmp_path, ITEMS), results, tmp_path / "pages")
    assert f"{ours:.4g} Gb/s" in same
    # The source's number was read anew, and a median over the seeds became their smallest: no run is needed.
    least = {**CLAIMS[1], "paper": ours, "measure": {**CLAIMS[1]["measure"], "seeds": "min"}}
    path = changed(made(tmp_path / "next", ITEMS), reproduces=claims(CLAIMS[0], least))
    text = page(path, results, tmp_path / "next-pages")
    assert f"| {ours:.4g} Gb/s | table 1; table | " in text
    assert "| 2 | 2 | 2 | 0 | 0 | 0 |" in text
    runs = json.loads((results / "small" / "summary.json").read_text())["runs"]
    of_point: dict[int, list[float]] = {}
    for run in runs:
        of_point.setdefault(run["senders"], []).append(run["goodput_bps"])
    mean = sum(map(min, of_point.values())) / len(of_point) * 1e-9
    assert f"| {mean:.4g} Gb/s (" in text


def test_readings_of_a_number_follow_it_and_count_once(tmp_path: Path, results: Path) -> None:
    reading = {**CLAIMS[0], "name": "other", "text": "read otherwise", "same_as": "limit"}
    reading["measure"] = {"kind": "limit", "variant": "Reno", "column": "goodput_bps", "at_least": 1e18}
    derived = {**CLAIMS[0], "name": "half", "text": "half of it", "paper": 2, "derived": "4 by 2"}
    path = changed(made(tmp_path, ITEMS), reproduces=claims(*CLAIMS, derived, reading))
    text = page(path, results, tmp_path / "pages")
    rows = [row for row in text.splitlines() if row.startswith(("| without", "| goodput", "| read", "| half"))]
    assert [row.split(" | ")[0] for row in rows] == [
        "| without a timeout; counts once with its other readings (1): outside",
        "| read otherwise; a reading of the same number",
        "| goodput",
        "| half of it; not counted: 4 by 2",
    ]
    assert [row.endswith("| within |") for row in rows] == [True, False, False, False]
    # Two numbers, as before: the first is outside now.
    assert "| 2 | 0 | 0 | 2 | 0 | 0 |" in text
    assert "| **2 outside**; in part |" in text


@pytest.mark.parametrize("wrong", [{"same_as": "gone"}, {"same_as": "goodput"}, {"same_as": "2.limit", "paper": 5}])
def test_a_reading_is_of_a_number_that_counts(tmp_path: Path, wrong: dict[str, Any]) -> None:
    path = changed(made(tmp_path), reproduces=claims(*CLAIMS, {**CLAIMS[0], "name": "other", **wrong}))
    listed = cli(str(path), "--list")
    assert listed.returncode == 2
    assert f"claim 1.other: {wrong['same_as']!r} is no claim of the same number that counts" in listed.stderr


def test_results_from_before_a_new_option_stay_good(tmp_path: Path, results: Path) -> None:
    older = tmp_path / "older"
    shutil.copytree(results, older)
    told = json.loads((older / "small" / "run.json").read_text())
    assert told["scenario"].pop("host_jitter_ns") == ScenarioModel.model_fields["host_jitter_ns"].default
    (older / "small" / "run.json").write_text(json.dumps(told))
    assert "### Table 1" in page(made(tmp_path, ITEMS), older, tmp_path / "pages")


def test_what_else_a_case_says_of_itself_is_no_point_of_the_sweep(tmp_path: Path, results: Path) -> None:
    """The headroom of lossless ports became a part of cases, and pages of their studies could not be made."""
    other = tmp_path / "other"
    shutil.copytree(results, other)
    told = json.loads((other / "small" / "run.json").read_text())
    for case in told["cases"]:
        case["headroom"] = {"ports": 1}
    (other / "small" / "run.json").write_text(json.dumps(told))
    ratio = {"kind": "smallest_ratio", "variant": "Reno", "to_variant": "Reno", "column": "goodput_bps"}
    shown = {"name": "ratio", "text": "to itself", "measure": ratio}
    path = changed(made(tmp_path, ITEMS), reproduces=claims(*CLAIMS, numbers=[shown]))
    assert "| to itself | 1 |" in page(path, other, tmp_path / "pages")


def test_an_item_needs_a_figure_or_a_reason() -> None:
    with pytest.raises(UserError, match="no figure serves this item"):
        SourceItem(item="figure 1", shows="something", not_reproduced=" ")


@pytest.mark.parametrize(
    ("items", "cause", "remedy"),
    [
        ([{"by": ["3"]}], "no figure '3'", "figures: 1, 2, headline"),
        ([{"by": ["1", "1.gone"]}], "figure 1 has no claim 'gone'", "claims: limit, goodput"),
        ([{"by": ["1"]}, {"by": ["2"]}], "has the anchor of an item before it", "its own name"),
    ],
)
def test_a_wrong_item_is_named_with_its_place(
    tmp_path: Path, items: list[dict[str, Any]], cause: str, remedy: str
) -> None:
    plain_items = [{"item": "figure 1", "shows": "something", **item} for item in items]
    path = made(tmp_path, plain_items)
    with pytest.raises(UserError) as error:
        check(path, [SourceItem.model_validate(item) for item in plain_items], KNOWN)
    assert cause in error.value.cause
    assert remedy in error.value.remedy
    assert error.value.place.startswith(f"{path}:")
    listed = cli(str(path), "--list")
    assert listed.returncode == 2
    assert cause in listed.stderr


def test_claims_of_one_figure_may_stand_with_several_items() -> None:
    items = [
        SourceItem(item="a", shows="a", by=["1.limit", "headline"]),
        SourceItem(item="b", shows="b", by=["1.*"]),
        SourceItem(item="c", shows="c", not_reproduced="no run"),
    ]
    placed, rest = place(items, KNOWN)
    assert [one.claims for one in placed] == [{"1": ["limit"], "headline": ["r"]}, {"1": ["limit", "goodput"]}, {}]
    assert rest == {"2": ["limit"]}


def test_the_command_writes_page_and_index(tmp_path: Path) -> None:
    path = made(tmp_path, ITEMS)
    pages = tmp_path / "pages"
    done = cli(str(path), "--report-to", str(pages), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert f"wrote {pages / 'small.md'}" in done.stdout
    assert (pages / "small" / "small.png").read_bytes().startswith(b"\x89PNG")
    assert "| [our own](small.md): small | 2 | 1 | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 |" in (pages / "README.md").read_text()
    assert "p4cc reproduce small --report\n" in (pages / "small.md").read_text()
    # Another time, from runs that are kept: the page is replaced.
    again = cli(str(path), "--json", "--report-to", str(pages), "--out", str(tmp_path / "out"))
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)


def test_without_a_study_pages_are_of_the_results_there(tmp_path: Path) -> None:
    none = cli("--report", cwd=tmp_path)
    assert none.returncode == 2
    assert "no study has results here" in none.stderr
    path = made(tmp_path / "experiments")
    ran = cli(str(path), "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    done = cli("--report", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "wrote results/reproduction/small.md" in done.stdout
    assert "no results of gst: p4cc reproduce gst --report" in done.stdout
    (tmp_path / "results" / "small" / "small" / "small.png").unlink()
    gone = cli("--report", cwd=tmp_path)
    assert gone.returncode == 2
    assert "a picture is missing" in gone.stderr
