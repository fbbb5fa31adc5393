"""The feedback option of docs/reference/wire-format.md is that of the eBPF programs."""

from __future__ import annotations

import re
import struct

import pytest

from tests.p4cc.dissector.wire_format import PAGE, ROOT, Field, cells, layouts

HEADING = "Feedback option"
BPF = ROOT / "host_agents/linux/bpf"
WIDTHS = {"__u8": 8, "__be16": 16, "__be32": 32}
#: The page's examples: an offer, and a report of these packets.
REPORTED_K, REPORTED_KDC = 2_619, 873


def constants() -> dict[str, int]:
    """The numbers that the programs' header defines."""
    text = (BPF / "p4cc_feedback.h").read_text(encoding="utf-8")
    return {name: int(value, 0) for name, value in re.findall(r"^#define P4CC_(\w+) (\w+)$", text, re.MULTILINE)}


def option_of_c() -> list[Field]:
    """The fields of `struct option` in order."""
    text = (BPF / "feedback.bpf.c").read_text(encoding="utf-8")
    body = text.split("struct option {")[1].split("};")[0]
    fields: list[Field] = []
    for kind, name in re.findall(r"(__\w+) (\w+);", body):
        fields.append(Field(name, sum(field.width for field in fields), WIDTHS[kind]))
    return fields


def test_the_fields_are_those_of_the_page() -> None:
    assert option_of_c() == layouts(HEADING)["header"]


def test_the_values_are_those_of_the_page() -> None:
    known = constants()
    values = {name: value for _, _, name, value, _ in cells(HEADING)}
    assert int(values["kind"]) == known["OPTION_KIND"]
    assert int(values["length"]) == known["OPTION_LENGTH"] == sum(field.width for field in option_of_c()) // 8
    assert int(values["id"], 0) == known["OPTION_ID"]
    assert values["k"].startswith(f"version {known['OPTION_VERSION']} ")


@pytest.mark.parametrize(("nth", "k", "kdc"), [(0, 1 << 24, 0), (1, REPORTED_K, REPORTED_KDC)])
def test_the_page_s_bytes(nth: int, k: int, kdc: int) -> None:
    section = PAGE.read_text(encoding="utf-8").split(f"## {HEADING}")[1].split("\n## ")[0]
    line = section.split("```")[1].strip().splitlines()[nth]
    known = constants()
    head = (known["OPTION_KIND"], known["OPTION_LENGTH"], known["OPTION_ID"])
    assert bytes.fromhex(line) == struct.pack("!BBHII", *head, k, kdc)
