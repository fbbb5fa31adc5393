"""Links into docs/ resolve: every `docs/...md` and `#anchor` that stands anywhere in the repository."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

from docs._site import gallery
from p4cc.figures.chart_file import file_of
from p4cc.reference_pages import PAGES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
ALGORITHMS = DOCS / "algorithms"
# Made of the code when the site is built (docs/_site/hook.py), which checks their anchors.
GENERATED = frozenset(DOCS / place for place in (*PAGES, gallery.PLACE))

# Written from the root, as code, scenarios and messages do; or as a link of a page, relative to it.
FROM_ROOT = re.compile(r"(?<![\w./-])docs/[\w./-]*?\w\.md(?:#[\w.-]*\w)?")
IN_PAGE = re.compile(r"\]\(([^)\s]+)\)")
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
# A file or folder of the repository, as documents and comments of the root name it.
NAMED = re.compile(
    r"`((?:benches|controller|engine|experiments|fuzz|host_agents|p4cc|p4src|ptf_tests|tests|topos)/[\w./-]+)`"
)
PLACEHOLDERS = re.compile(r"NAME|TARGET|FAMILY")
HEADING = re.compile(r"^#{1,6} +(.*)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def tracked() -> list[Path]:
    """Files that git tracks."""
    git = shutil.which("git")
    assert git is not None, "git lists the files"
    listing = subprocess.run([git, "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for name in listing.splitlines() if (path := ROOT / name).is_file()]


def text(path: Path) -> str:
    """Text of a file; nothing if it is no text."""
    data = path.read_bytes()
    return "" if b"\0" in data else data.decode("utf-8", errors="replace")


def explicit(page: Path) -> list[str]:
    """Anchors that a page states itself, in order."""
    return ANCHOR.findall(text(page))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Anchors of a page: those that it states, and those that its headings get when it is shown."""
    headings = HEADING.findall(FENCE.sub("", text(page)))
    slugs = (re.sub(r"[^\w -]", "", re.sub(r"<[^>]*>|`", "", one)).strip().lower() for one in headings)
    return frozenset(explicit(page)) | {slug.replace(" ", "-") for slug in slugs}


def broken(place: str, page: Path, anchor: str) -> str | None:
    """What is wrong with a link to `page` and `anchor`, if anything."""
    if page in GENERATED:
        return None
    # The site draws a picture whose chart is there.
    if not page.exists() and not file_of(page).exists():
        return f"{place}: no such file"
    if anchor and page.suffix == ".md" and anchor not in anchors(page):
        return f"{place}: no such anchor"
    return None


def links(path: Path) -> list[tuple[str, Path, str]]:
    """What a file links to: as written, the page, and the anchor or nothing."""
    found: list[tuple[str, Path, str]] = []
    content = text(path)
    for link in FROM_ROOT.findall(content):
        page, _, anchor = link.partition("#")
        found.append((link, ROOT / page, anchor))
    if path.suffix == ".md":
        for link in IN_PAGE.findall(FENCE.sub("", content)):
            if re.match(r"[a-z]+:", link):
                continue
            page, _, anchor = link.partition("#")
            found.append((link, (path.parent / page).resolve() if page else path, anchor))
    return found


def test_links_into_the_documents_resolve() -> None:
    wrong = [
        complaint
        for path in tracked()
        for link, page, anchor in links(path)
        if (complaint := broken(f"{path.relative_to(ROOT)}: {link}", page, anchor)) is not None
    ]
    assert not wrong, "\n".join(wrong)


def test_files_that_documents_name_exist() -> None:
    wrong = [
        f"{page.relative_to(ROOT)}: {name}"
        for page in (*DOCS.rglob("*.md"), *ROOT.glob("*.md"))
        for name in NAMED.findall(text(page))
        if not PLACEHOLDERS.search(name) and not (ROOT / name).exists()
    ]
    assert not wrong, "\n".join(wrong)


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('<a id="one"></a>\n# Two words\n\n[a](#one) [b](#two-words) [c](#three) [d](gone.md)\n')
    wrong = [complaint for link, target, anchor in links(page) if (complaint := broken(link, target, anchor))]
    assert wrong == ["#three: no such anchor", "gone.md: no such file"]


def test_code_may_cite_a_page_by_its_anchor(tmp_path: Path) -> None:
    code = tmp_path / "code.rs"
    page = DOCS.name + "/nowhere.md"
    code.write_text(f"//! GST ({page}#gst-sender); see {page}.\n")
    assert [(link, anchor) for link, _, anchor in links(code)] == [(f"{page}#gst-sender", "gst-sender"), (page, "")]


def test_an_anchor_stands_once_in_its_page() -> None:
    twice = {
        str(page.relative_to(ROOT)): repeated
        for page in sorted(DOCS.rglob("*.md"))
        if (repeated := [anchor for anchor, count in Counter(explicit(page)).items() if count > 1])
    }
    assert not twice, f"anchors that stand more than once: {twice}"


def test_the_index_of_algorithms_names_every_page() -> None:
    index = ALGORITHMS / "README.md"
    linked = {page for _, page, _ in links(index)}
    missing = [page.name for page in sorted(ALGORITHMS.iterdir()) if page != index and page not in linked]
    assert not missing, f"docs/algorithms/README.md links none of: {missing}"
