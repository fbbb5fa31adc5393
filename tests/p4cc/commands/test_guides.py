"""The commands of tutorials and how-to pages run: every `p4cc` line of their blocks, in order, in an empty folder.

A block below a line that ends in "as `NAME`:" is a file of that folder.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.command_line import p4cc

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGES = (
    "tutorials/first-scenario.md",
    "tutorials/first-lab.md",
    "tutorials/first-paper-figure.md",
    "how-to/trace-a-packet.md",
    "how-to/why.md",
    "how-to/write-a-scenario.md",
    "how-to/watch-a-run.md",
    "how-to/write-a-controller.md",
    "how-to/write-an-algorithm.md",
    "how-to/reproduce-a-source.md",
    "how-to/add-a-window-algorithm.md",
    "how-to/add-a-rate-algorithm.md",
    "how-to/add-a-p4-control.md",
    "how-to/add-an-int-field.md",
    "how-to/add-a-topology.md",
)
LEAST_LINES = {
    "tutorials/first-scenario.md": 9,
    "tutorials/first-lab.md": 4,
    "tutorials/first-paper-figure.md": 6,
    "how-to/trace-a-packet.md": 4,
    "how-to/why.md": 35,
    "how-to/write-a-scenario.md": 7,
    "how-to/write-a-controller.md": 2,
    "how-to/write-an-algorithm.md": 3,
    "how-to/reproduce-a-source.md": 3,
}
"""Lines that must be there, so that a changed form of the blocks is noticed."""
CHECKED = ("how-to/why.md",)
"""Pages whose blocks of text are what the commands before them print, spaces apart."""
SMALLER = {
    "p4cc run figure.yaml": (
        *("topology.leaves=2", "topology.hosts_per_leaf=3", "seeds=[1,2]", "traffic.end_ns=400us"),
        *("measure.steady.start_ns=50us", "measure.steady.end_ns=400us"),
    ),
}
"""What a test changes of a page's run that takes minutes; the results stay where the page has them."""


def commands(page: str) -> list[str]:
    """The `p4cc` lines of a page's blocks."""
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for language, block in blocks if not language for line in block.splitlines()]
    return [line.removeprefix(".venv/bin/") for line in lines if re.match(r"(\.venv/bin/)?p4cc ", line)]


def files(page: str) -> dict[str, str]:
    """The files that a page tells to save."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return dict(re.findall(r"as `([\w.-]+)`:\n\n^```\w+\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


def printed(page: str) -> list[tuple[slice, str]]:
    """Lines of a page's blocks of text, each with the commands of the block before it."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found: list[tuple[slice, str]] = []
    block_of = slice(0, 0)
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if language == "text":
            found += [(block_of, " ".join(line.split())) for line in block.splitlines()]
        elif not language:
            count = len([line for line in block.splitlines() if line.startswith("p4cc ")])
            block_of = slice(block_of.stop, block_of.stop + count)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(page: str, tmp_path: Path) -> None:
    lines = commands(page)
    assert len(lines) >= LEAST_LINES.get(page, 1)
    for name in ("p4src", "experiments"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name, text in files(page).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    outputs: list[str] = []
    for line in lines:
        words = shlex.split(line)[1:]
        if (changes := SMALLER.get(line)) is not None:
            words += [word for change in changes for word in ("--set", change)]
            words += ["--out", f"results/{Path(words[1]).stem}"]
        done = p4cc(*words, folder=tmp_path)
        assert done.stdout + done.stderr, f"{line} says nothing"
        outputs.append(" ".join(done.stdout.split()))
        # `compare` says by 1 that something differs.
        assert done.returncode in ((0, 1) if words[0] == "compare" else (0,)), f"{line}\n{done.stderr}"
    if page in CHECKED:
        said = printed(page)
        assert len(said) > 10
        for block_of, line in said:
            assert any(line in output for output in outputs[block_of]), line
