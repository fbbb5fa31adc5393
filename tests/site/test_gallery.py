"""The gallery holds every experiment, its commands are such as p4cc takes, and what it shows is not read as markup."""

from __future__ import annotations

import re
import shlex
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from PIL import Image

from docs._site import gallery
from p4cc.cli import whole_command
from p4cc.figures.chart_file import file_of
from p4cc.reproduce.run import listing
from p4cc.reproduce.study import find_study

ROOT = Path(__file__).resolve().parents[2]
NO_SCENARIO = {"reproduce.yaml"}


@pytest.fixture(scope="module")
def page() -> str:
    return gallery.page()


def commands(text: str) -> list[list[str]]:
    """The commands of the cards, each in its words, without `sudo p4cc`."""
    found = [shlex.split(unescape(one)) for one in re.findall(r"<pre><code>(.*?)</code></pre>", text)]
    return [words[words.index("p4cc") + 1 :] for words in found]


@cache
def figures_of(study: str) -> set[str]:
    """What `--only` may name; reads every scenario of the study."""
    return {one["figure"] for one in listing(find_study(study))["figures"]}


def experiments() -> set[str]:
    files = ROOT.glob("experiments/*/*.yaml")
    return {str(path.relative_to(ROOT)) for path in files if path.name not in NO_SCENARIO}


def test_every_experiment_has_a_card_or_is_named_as_a_base(page: str) -> None:
    anchors = set(re.findall(r'<h3 id="([^"]+)">', page))
    bases = set(re.findall(r"^- `(experiments/\S+)`: ", page, re.MULTILINE))
    cards = {one for one in experiments() if one.removeprefix("experiments/")[:-5].translate(DASHES) in anchors}
    assert cards | bases == experiments()
    assert not cards & bases
    assert len(anchors) == len(cards)
    # A base is one by what it lacks, so few may be.
    assert all(Path(one).stem.endswith("base") for one in bases)


DASHES = str.maketrans("_/", "--")


def test_every_command_is_one_that_p4cc_takes(page: str) -> None:
    p4cc_command = whole_command()
    found = commands(page)
    assert len(found) == page.count('<li class="p4cc-card">')
    for name, *arguments in found:
        given = p4cc_command.commands[name].make_context(name, list(arguments)).params
        if name == "reproduce":
            assert set(given["only"]) <= figures_of(given["study"]), arguments
        else:
            # Each of them loads: tests/p4cc/scenario/test_scenario.py.
            assert arguments[0] in experiments(), arguments


def test_every_committed_picture_of_a_scenario_is_shown(page: str) -> None:
    shown = {unescape(one) for one in re.findall(r'<img src="([^"]+)"', page)}
    text = (ROOT / "docs" / "reproduction" / "gst.md").read_text(encoding="utf-8")
    drawn = {f"reproduction/{one}" for one in re.findall(r"!\[[^\]]*\]\((gst/[^)]+)\)", text)}
    assert len(drawn) > 10
    assert drawn <= shown
    assert {"images/incast.png", "images/lab.png"} <= shown


def test_every_picture_is_there(page: str, tmp_path: Path) -> None:
    shown = {unescape(one) for one in re.findall(r'<img src="([^"]+)"', page)}
    networks = gallery.networks()
    beside = gallery.pictures()
    # The site draws pictures of charts.
    files = {one: beside.get(one) or ROOT / "docs" / one for one in shown - set(networks)}
    assert {one for one, file in files.items() if not (file.is_file() or file_of(file).is_file())} == set()
    assert {*networks, *beside} <= shown, "a picture that no card shows"
    # tests/site/test_site.py sees that every one of them loads.
    with Image.open(gallery.draw_network(next(iter(networks.values())), tmp_path)) as drawn:
        assert 0 < drawn.width <= gallery.MAX_PIXELS_WIDE


def test_hostile_texts_are_shown_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "evil"
    folder.mkdir()
    (folder / "one.yaml").write_text(
        "# <script>alert(1)</script> [here](javascript:alert(2)).\n"
        "title: '<script>alert(3)</script>'\n"
        "source: '<b onclick=\"alert(4)\">x</b> (docs/sources.md#gst-2017)'\n"
        "topology: {kind: star, senders: 2}\n"
        "traffic: {kind: incast, sru_bytes: 1000}\n"
        "variants: [{name: reno, congestion_avoidance: {name: reno}}]\n",
        encoding="utf-8",
    )
    (folder / "README.md").write_text("# <img src=x onerror=alert(5)> [a](javascript:alert(6))\n", encoding="utf-8")
    monkeypatch.setattr(gallery, "EXPERIMENTS", tmp_path)
    monkeypatch.setattr(gallery, "experiments", lambda: ["evil/one"])
    text = "\n".join(gallery.Gallery().lines())
    assert "&lt;script&gt;alert(3)&lt;/script&gt;" in text
    assert not re.search(r"<(script|b |img src=x)", text)
    assert "](javascript:" not in text.partition('<ul class="p4cc-gallery">')[0]
    assert '<a href="sources.html#gst-2017">' in text
