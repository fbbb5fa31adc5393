"""A flame graph of a callgrind profile: `python -m benches.flame callgrind.out DIRECTORY`, as `make profile` does.

The profile must come from `--separate-callers` and `--demangle=no`: then callgrind's name of a function holds those of
its callers, which is a stack. Writes `folded.txt`, a line for each stack with its instructions as other viewers read
it, and `flame.svg`: width is the share of instructions; a frame's full name shows when the pointer rests on it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile
from pathlib import Path
from xml.sax.saxutils import escape

Stack = tuple[str, ...]
"""Functions from the outermost to the one that runs."""

WIDTH_PX, ROW_PX, LETTER_PX = 1400.0, 17, 6.6
LEAST_SHARE = 0.0005
"""Frames below this share of all instructions are left out of the picture: they would be narrower than a pixel."""
COLORS = {
    "p4cc_exec": "#e8743b",
    "p4cc_switch": "#5899da",
    "p4cc_netsim": "#19a979",
    "p4cc_transport": "#13a4b4",
    "p4cc_cc": "#945ecf",
    "generated code": "#ed4a7b",
}
OTHER_COLOR = "#bfb6a8"
NATIVE = "generated code"
"""The name given to code without symbols: what the back end made."""


def main() -> int:
    """Converts one profile."""
    if len(sys.argv) != 3:
        sys.exit("usage: python -m benches.flame CALLGRIND_OUT DIRECTORY")
    source, directory = Path(sys.argv[1]), Path(sys.argv[2])
    with source.open(encoding="utf-8", errors="replace") as lines:
        stacks = demangled(stacks_of(lines))
    if not stacks:
        sys.exit(f"flame: {source} holds no costs; make it with valgrind --tool=callgrind --separate-callers=32")
    directory.mkdir(parents=True, exist_ok=True)
    folded = sorted(f"{';'.join(stack)} {cost}\n" for stack, cost in pruned(stacks).items())
    (directory / "folded.txt").write_text("".join(folded), encoding="utf-8")
    (directory / "flame.svg").write_text(svg(stacks), encoding="utf-8")
    return 0


def stacks_of(lines: Iterable[str]) -> Counter[Stack]:
    """The instructions that each stack's innermost function takes itself, by the names in the profile."""
    names: dict[str, Stack] = {}
    costs: Counter[Stack] = Counter()
    here: Stack = ()
    of_call = False
    for line in lines:
        if line.startswith(("fn=", "cfn=")):
            stack = _named(line.partition("=")[2].strip(), names)
            here = stack if line.startswith("fn=") else here
        elif line.startswith("calls="):
            of_call = True
        elif line[:1].isdigit() or line[:1] in "+-*":
            # The line behind `calls=` is what the callee took, which stands with the callee too.
            if not of_call and here:
                costs[here] += int(line.split()[1])
            of_call = False
    return costs


def _named(text: str, names: dict[str, Stack]) -> Stack:
    """The stack of a name; a number in brackets stands for a name that came before."""
    number, _, name = text.partition(" ")
    if name:
        frames = (NATIVE if frame == "???" or frame.startswith("0x") else frame for frame in reversed(name.split("'")))
        # What starts a process has no symbols either, and nobody asks for it.
        outer = dropwhile(lambda frame: frame == NATIVE, _without_repeats(frames))
        names[number] = tuple(outer) or (NATIVE,)
    return names.get(number, (text,))


def _without_repeats(frames: Iterable[str]) -> Iterator[str]:
    """Frames, of a run of equal ones the first: code without symbols is one frame, however deep."""
    last = ""
    for frame in frames:
        if frame != last:
            yield frame
        last = frame


def demangled(stacks: Counter[Stack]) -> Counter[Stack]:
    """The same with the names of the source, where `c++filt` is there to give them."""
    program = shutil.which("c++filt")
    known = sorted({frame for stack in stacks for frame in stack})
    if program is None or not known:
        return stacks
    done = subprocess.run([program], input="\n".join(known), capture_output=True, text=True, check=True)
    plain = {old: _short(new) for old, new in zip(known, done.stdout.split("\n"), strict=False)}
    renamed: Counter[Stack] = Counter()
    for stack, cost in stacks.items():
        renamed[tuple(plain.get(frame, frame) for frame in stack)] += cost
    return renamed


def pruned(stacks: Counter[Stack]) -> Counter[Stack]:
    """The same instructions, those of a stack that hardly counts with its caller's."""
    least = LEAST_SHARE / 10 * stacks.total()
    kept = Counter(stacks)
    for depth in range(max(map(len, stacks), default=0), 1, -1):
        for stack in [stack for stack, cost in kept.items() if len(stack) == depth and cost < least]:
            kept[stack[:-1]] += kept.pop(stack)
    return kept


def _short(name: str) -> str:
    """A name without the hash of its crate, and fit for a line of `folded.txt`."""
    name = re.sub(r"::h[0-9a-f]{16}$", "", name)
    return re.sub(r"\[[0-9a-f]{16}\]", "", name).replace(";", ",").replace(" ", "\N{NO-BREAK SPACE}")


@dataclass
class Frame:
    """A function below its callers."""

    name: str
    cost: int = 0
    inner: dict[str, Frame] = field(default_factory=dict[str, "Frame"])


def svg(stacks: Counter[Stack]) -> str:
    """The picture: the outermost functions at the bottom."""
    root = Frame("all")
    for stack, cost in stacks.items():
        root.cost += cost
        frame = root
        for name in stack:
            frame = frame.inner.setdefault(name, Frame(name))
            frame.cost += cost
    boxes = list(_boxes(root, 0.0, 0, root.cost))
    height = (max(level for _, _, level in boxes) + 1) * ROW_PX
    size = f'width="{WIDTH_PX:.0f}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="11">'
    drawn = (_box(frame, left, height - (level + 1) * ROW_PX, root.cost) for frame, left, level in boxes)
    return "\n".join([head, *drawn, "</svg>\n"])


def _boxes(frame: Frame, left: float, level: int, whole: int) -> Iterator[tuple[Frame, float, int]]:
    """Frames wide enough to be seen, with the place of their left edge and their depth."""
    yield frame, left, level
    for inner in sorted(frame.inner.values(), key=lambda inner: inner.name):
        if inner.cost >= LEAST_SHARE * whole:
            yield from _boxes(inner, left, level + 1, whole)
        left += inner.cost / whole * WIDTH_PX


def _box(frame: Frame, left: float, top: int, whole: int) -> str:
    width = frame.cost / whole * WIDTH_PX
    letters = int(width / LETTER_PX)
    label = _label(frame.name, letters)
    color = next((color for crate, color in COLORS.items() if crate in frame.name), OTHER_COLOR)
    title = f"{frame.name}: {frame.cost:,} instructions, {frame.cost / whole:.1%}"
    return (
        f'<g><title>{escape(title)}</title><rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{ROW_PX - 1}" '
        f'fill="{color}"/><text x="{left + 3:.1f}" y="{top + 12}">{escape(label)}</text></g>'
    )


def _label(name: str, letters: int) -> str:
    """As much of a name as fits, its last parts first: they say which function it is."""
    if len(name) <= letters:
        return name
    parts: Sequence[str] = re.sub(r"<[^<>]*>", "", name).split("::")
    for first in range(len(parts)):
        short = "::".join(parts[first:])
        if len(short) <= letters:
            return short
    return ""


if __name__ == "__main__":
    sys.exit(main())
