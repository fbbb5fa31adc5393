"""The flame graph of a callgrind profile: which instructions belong to which stack."""

from collections import Counter
from xml.etree import ElementTree as ET

from benches.flame import demangled, pruned, stacks_of, svg

PROFILE = """\
events: Ir
fl=(1) ???
fn=(1) main'0x01a0
0 5
cfn=(2) run'main'0x01a0
calls=1 0
0 1000
+3 7
fn=(2)
12 300
cfn=(3) ???'0x7f00'run'main'0x01a0
calls=2 0
0 600
* 100
fn=(3)
0 600
"""

STACKS = Counter({("main",): 12, ("main", "run"): 400, ("main", "run", "generated code"): 600})


def test_instructions_stand_with_the_function_that_took_them() -> None:
    assert stacks_of(PROFILE.splitlines()) == STACKS


def test_stacks_that_hardly_count_go_to_their_callers() -> None:
    many = Counter({("main",): 1_000_000, ("main", "a"): 900, ("main", "a", "b"): 3, ("main", "c", "d"): 2})
    kept = pruned(many)
    assert kept == Counter({("main",): 1_000_002, ("main", "a"): 903})
    assert kept.total() == many.total()


def test_names_lose_their_mangling_and_no_instruction() -> None:
    plain = demangled(Counter({("main", "_ZN4core3fmt5write17h0123456789abcdefE"): 4}))
    assert plain.total() == 4
    assert all(";" not in frame and " " not in frame for stack in plain for frame in stack)


def test_the_picture_has_a_box_for_each_function_as_wide_as_its_share() -> None:
    picture = ET.fromstring(svg(STACKS))  # noqa: S314 - our own output
    name = "{http://www.w3.org/2000/svg}"
    boxes = {(group.findtext(f"{name}title") or "").split(":")[0]: group.find(f"{name}rect") for group in picture}
    widths = {title: float(box.attrib["width"]) for title, box in boxes.items() if box is not None}
    assert list(widths) == ["all", "main", "run", "generated code"]
    assert widths["main"] == widths["all"] == 1400.0
    assert abs(widths["generated code"] - 1400 * 600 / 1012) < 0.1
