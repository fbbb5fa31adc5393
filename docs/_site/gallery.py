"""The gallery: every experiment that p4cc brings, with its picture and the command that runs it.

Nothing of it is a list kept by hand. Scenarios say what they are; the reproduction pages and the READMEs say which
picture a scenario drew. Texts of scenarios and pages are escaped: they are shown, and never read as markup.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from html import escape, unescape
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from p4cc.bundled import EXPERIMENTS, experiments
from p4cc.figures.chart_file import file_of, read_chart
from p4cc.reproduce.markup import code, linked, plain, slug
from p4cc.reproduce.study import FILE, StudyFile, read_study
from p4cc.scenario.load import load_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p4cc.scenario.schema import ScenarioModel

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PLACE = "gallery.md"
"""Where the page stands below docs/; pictures of its own stand in `gallery/` beside it."""
MAX_PIXELS_WIDE = 960
"""Of a network's drawing: a card is a third of that."""
WIDE = 2.6
"""Times their height that pictures are wide of which a card shows the left part, at a size that can be read."""

_EXTENDS = re.compile(r"^extends:\s*(\S+)", re.MULTILINE)
_COMMAND = re.compile(r"p4cc \w+ (experiments/[\w./-]+\.yaml)")
_LAB = re.compile(r"(?:sudo )?p4cc lab (experiments/[\w./-]+\.yaml)((?: --[a-z-]+(?: [a-z]+)?)*)")
_FILE = re.compile(r"\(`(experiments/[\w./-]+\.yaml)`\)")
_ANCHOR = re.compile(r'^<a id="([^"]+)">')
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+\.(?:png|svg))\)")
_REFERENCE = re.compile(r"docs/([\w./-]*?\w\.md)(#[\w.-]*\w)?")
_ASIDE = re.compile(r"\s*\((?:docs/|#)[^)]*\)")
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
_MAKE_RUN = re.compile(r"^SCENARIO \?= (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Picture:
    """A picture in the repository that a scenario drew."""

    path: Path
    text: str
    """What it shows."""

    @property
    def is_there(self) -> bool:
        """Whether the repository has it, or its chart."""
        return self.path.is_file() or file_of(self.path).is_file()

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, in units of its own."""
        if file_of(self.path).is_file():
            return read_chart(file_of(self.path)).size
        with Image.open(self.path) as picture:
            return picture.size


@dataclass
class Beside:
    """What a reproduction page shows of a scenario."""

    address: str
    """The place on the page, from docs/ on."""
    pictures: list[Picture] = field(default_factory=list[Picture])


@dataclass(frozen=True)
class Experiment:
    """A scenario that p4cc brings, as its file has it."""

    name: str
    """Such as `gst/incast`."""
    path: Path
    text: str
    """Of the file alone, without what it extends."""

    @cached_property
    def scenario(self) -> ScenarioModel:
        """The checked scenario; raises UserError."""
        return load_scenario(self.path)

    @property
    def folder(self) -> str:
        """That of its study."""
        return self.path.parent.name

    @property
    def file(self) -> str:
        """The path from the repository's root."""
        return f"experiments/{self.name}.yaml"

    @property
    def anchor(self) -> str:
        """On the page."""
        return slug(self.name)

    @property
    def title(self) -> str:
        """The scenario's own, or its name."""
        return self.scenario.title or self.name

    @property
    def described(self) -> str:
        """The first sentence of the comment at the file's head, or of what the scenario notes; may be empty."""
        lines: list[str] = []
        for line in self.text.splitlines():
            words = line.removeprefix("#").strip()
            if not line.startswith("#") or not words:
                break
            lines.append(words)
        told = " ".join(lines)
        if not told and self.scenario.reproduces is not None:
            told = self.scenario.reproduces.note
        # The command stands on the card by itself.
        first = _SENTENCE.split(_ASIDE.sub("", _LAB.sub("", told)))[0].rstrip(" :")
        word = first.partition(" ")[0]
        return word.capitalize() + first[len(word) :] if word.isalpha() and word.islower() else first


def page() -> str:
    """The gallery's Markdown: a group for each folder of experiments, a card for each scenario; raises UserError."""
    return "\n".join(_gallery().lines())


def pictures() -> dict[str, Path]:
    """Pictures of the page that stand outside of docs/: their places below docs/, and their files."""
    shown = [picture for one in _gallery().shown for picture in _gallery().pictures_of(one)[:1]]
    return {_place(one.path): one.path for one in shown if not one.path.is_relative_to(DOCS)}


def networks() -> dict[str, Experiment]:
    """Pictures of networks that the page shows: their places below docs/, and a scenario that each is of."""
    return {_network_place(one): one for one in _gallery().networks.values()}


def draw_network(one: Experiment, folder: Path) -> Path:
    """Draws a scenario's network into `folder`, at the size of the web; raises UserError."""
    from p4cc.figures.network import draw

    path = draw(one.scenario.topology.build(one.path), folder / f"{one.anchor}.png")
    with Image.open(path) as picture:
        picture.thumbnail((MAX_PIXELS_WIDE, MAX_PIXELS_WIDE))
        picture.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


@cache
def _gallery() -> Gallery:
    """Read once: a check of all scenarios takes seconds."""
    return Gallery()


class Gallery:
    """What the repository holds of experiments, their studies and their pictures."""

    def __init__(self) -> None:
        paths = {name: EXPERIMENTS / f"{name}.yaml" for name in experiments()}
        self.every = [Experiment(name, path, path.read_text(encoding="utf-8")) for name, path in paths.items()]
        studies = [read_study(path) for path in sorted(EXPERIMENTS.glob(f"*/{FILE}"))]
        self.studies = {study.path.parent.name: study for study in studies}
        self.readmes = {path.parent.name: path.read_text("utf-8") for path in sorted(EXPERIMENTS.glob("*/README.md"))}
        self.beside: dict[str, Beside] = {}
        for path in sorted((DOCS / "reproduction").glob("*.md")):
            self._read_page(path)

    @cached_property
    def bases(self) -> list[Experiment]:
        """Files that others extend and that are nothing by themselves: in no study, no figure, in no command."""
        extended = {(one.path.parent / base).resolve() for one in self.every for base in _EXTENDS.findall(one.text)}
        listed = {study.scenario(figure).resolve() for study in self.studies.values() for figure in study.study.figures}
        texts = [*self.readmes.values(), *(one.text for one in self.every)]
        named = {ROOT / file for text in texts for file in _COMMAND.findall(text)}
        return [
            one
            for one in self.every
            if one.path in extended and one.path not in listed | named and not one.scenario.figures
        ]

    @cached_property
    def shown(self) -> list[Experiment]:
        """Those with a card."""
        return [one for one in self.every if one not in self.bases]

    @cached_property
    def networks(self) -> dict[str, Experiment]:
        """Names of scenarios without a picture, to the first with the same network."""
        first: dict[tuple[str, str], Experiment] = {}
        without = [one for one in self.shown if not self.pictures_of(one)]
        # Within a folder files of topologies have one name.
        keys = {one.name: (one.folder, one.scenario.topology.model_dump_json()) for one in without}
        return {one.name: first.setdefault(keys[one.name], one) for one in without}

    def lines(self) -> Iterator[str]:
        """The page."""
        folders = dict.fromkeys(one.folder for one in self.shown)
        yield from ("---", "hide: [navigation]", "---", "")
        yield from ("# Gallery", "")
        yield f"Every experiment that p4cc brings: {len(self.shown)} scenarios in {len(folders)} folders, each with its"
        yield "picture, its source and the command that runs it, in a checkout or with an installed wheel. A click on a"
        yield "picture leads to its numbers. Where no picture is kept the card shows the scenario's network. Next:"
        yield "[write a scenario](how-to/write-a-scenario.md) of your own, or extend one of these."
        for folder in folders:
            yield from self._group(folder)
        yield from ("", "## What others extend", "")
        yield "These files hold what the scenarios of their folder share. They draw nothing and are in no study:"
        yield ""
        yield from (f"- {code(one.file)}: {plain(one.title)}" for one in self.bases)

    def _group(self, folder: str) -> Iterator[str]:
        title = re.match(r"# (.+)", self.readmes.get(folder, ""))
        words = title[1] if title else folder.replace("_", " ").capitalize()
        yield from ("", f"## {plain(words)}", "")
        study = self.studies.get(folder)
        if study is not None:
            page = DOCS / "reproduction" / f"{study.study.name}.md"
            told = linked(study.study.citation or study.study.source, DOCS).rstrip(".")
            yield f"{told}. "
            if page.is_file():
                yield f"[All numbers](reproduction/{page.name}), by one command:"
            else:
                yield "All of it by one command:"
            yield from ("", "```sh", f"p4cc reproduce {study.study.name}", "```")
        yield from ("", '<ul class="p4cc-gallery">')
        for one in self.shown:
            if one.folder == folder:
                yield from self._card(one, study)
        yield "</ul>"

    def _card(self, one: Experiment, study: StudyFile | None) -> Iterator[str]:
        beside = self.beside.get(one.file)
        yield '<li class="p4cc-card">'
        yield self._picture(one)
        yield f'<h3 id="{one.anchor}">{_html(one.title)}</h3>'
        if one.described.rstrip(".") not in ("", one.title):
            yield f"<p>{_html(one.described)}</p>"
        facts = [_runs(one.scenario)]
        if one.scenario.source:
            facts.insert(0, f"Source: {_source(one.scenario.source)}")
        if beside is not None:
            facts.append(f'<a href="{_html(_address(beside.address))}">Its numbers</a>')
        yield f'<p class="p4cc-facts">{"<br>".join(facts)}</p>'
        yield f"<pre><code>{_html(self.command(one, study))}</code></pre>"
        yield "</li>"

    def command(self, one: Experiment, study: StudyFile | None) -> str:
        """What to type: a lab where the file or its README says so, the study's figure where it draws none itself."""
        for text in (one.text, self.readmes.get(one.folder, "")):
            for file, options in _LAB.findall(text):
                if file == one.file:
                    return f"sudo p4cc lab {file}{options}"
        listed = study is not None and any(study.scenario(entry) == one.path for entry in study.study.figures)
        if study is not None and listed and one.scenario.reproduces is not None and not one.scenario.figures:
            figure = one.scenario.reproduces.figure
            only = f'"{figure}"' if " " in figure else figure
            return f"p4cc reproduce {study.study.name} --only {only}"
        return f"p4cc run {one.file}"

    def _picture(self, one: Experiment) -> str:
        found = self.pictures_of(one)
        beside = self.beside.get(one.file)
        if not found:
            files = ", ".join(figure.file for figure in one.scenario.figures)
            told = f"Its network. The command draws {files}." if files else "Its network."
            image = _image(_network_place(self.networks[one.name]), "the network of this scenario")
            return f'<figure class="p4cc-network">{image}<figcaption>{_html(told)}</figcaption></figure>'
        width, height = found[0].size
        wide = " p4cc-wide" if width > WIDE * height else ""
        image = _image(_place(found[0].path), found[0].text)
        # The page has it large; other pictures are opened themselves.
        target = _place(found[0].path) if beside is None else _address(beside.address)
        return f'<a class="p4cc-picture{wide}" href="{_html(target)}">{image}</a>'

    def pictures_of(self, one: Experiment) -> list[Picture]:
        """Pictures of a scenario: those of its reproduction page, of its folder's README, of the main README."""
        beside = self.beside.get(one.file)
        found = [] if beside is None else list(beside.pictures)
        of_folder = [other for other in self.every if other.folder == one.folder]
        for picture in _pictures(self.readmes.get(one.folder, ""), one.path.parent):
            if len(of_folder) == 1 or _drew(one, picture.path):
                found.append(picture)
        # The main README shows what `make run` draws.
        if one.file in _MAKE_RUN.findall((ROOT / "Makefile").read_text(encoding="utf-8")):
            readme = (ROOT / "README.md").read_text(encoding="utf-8")
            found += [picture for picture in _pictures(readme, ROOT) if _drew(one, picture.path)]
        return found

    def _read_page(self, path: Path) -> None:
        """What a reproduction page shows: an item's anchor, a scenario's file, then the scenario's pictures."""
        anchor, of = "", None
        for line in path.read_text(encoding="utf-8").splitlines():
            if begun := _ANCHOR.match(line):
                anchor, of = begun[1], None
            elif told := _FILE.search(line):
                of = self.beside.setdefault(told[1], Beside(f"reproduction/{path.name}#{anchor}"))
            elif of is not None:
                of.pictures += _pictures(line, path.parent)


def _pictures(text: str, folder: Path) -> list[Picture]:
    """Pictures that a text of this folder shows and that are there."""
    found = [Picture(Path(os.path.normpath(folder / name)), unescape(words)) for words, name in _PICTURE.findall(text)]
    return [one for one in found if one.is_there]


def _drew(one: Experiment, picture: Path) -> bool:
    """Whether a picture has the name of a figure of the scenario, or of the scenario, with its folder or without."""
    name = slug(picture.stem).removeprefix(f"{slug(one.folder)}-")
    own = {slug(Path(figure.file).stem) for figure in one.scenario.figures}
    return name in own or f"-{slug(one.path.stem)}".endswith(f"-{name}")


def _place(path: Path) -> str:
    """Where a picture stands in the site."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    return f"gallery/{path.parent.name}-{path.name}"


def _network_place(one: Experiment) -> str:
    return f"gallery/{one.anchor}-network.png"


def _address(reference: str) -> str:
    """A page below docs/ with its anchor, as the site has it."""
    page, sign, anchor = reference.partition("#")
    folder, _, name = page.rpartition("/")
    name = "index" if name == "README.md" else name.removesuffix(".md")
    return f"{folder}/{name}.html{sign}{anchor}".removeprefix("/")


def _source(text: str) -> str:
    """What a scenario says of its source, with a link to the first page that it names."""
    found = _REFERENCE.search(text)
    if found is None:
        return _html(text)
    reference = f"{found[1]}{found[2] or ''}"
    label = text[: found.start()].rstrip(" (;,:") or reference
    return f'<a href="{_html(_address(reference))}">{_html(label)}</a>'


def _runs(scenario: ScenarioModel) -> str:
    """How many runs it takes, and of what they differ."""
    counts = {
        "sender": len(scenario.variants),
        "setting": prod(len(values) for values in scenario.sweep.values()),
        "seed": len(scenario.seeds),
    }
    every = prod(counts.values())
    parts = [f"{count:,} {name}s" for name, count in counts.items() if count > 1]
    return f"{every:,} run{'' if every == 1 else 's'}" + (f": {', '.join(parts)}" if parts else "")


def _image(place: str, text: str) -> str:
    return f'<img src="{_html(place)}" alt="{_html(text)}" loading="lazy">'


def _html(text: str) -> str:
    return escape(" ".join(text.split()))
