"""P4 headers, Rust, scapy layers and Wireshark's dissector have the fields of docs/reference/wire-format.md.

The page's tables are the one description: a field that moves, grows or goes in one of the four, or in the page, is
found here. Rust is read as text; that it writes what the text says, its own tests show with the page's hexdumps.
"""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from functools import cache
from pathlib import Path

import pytest
from scapy.fields import FlagsField, PacketListField
from scapy.packet import Packet

from p4cc import wire
from p4cc.planning.programs import compile_program
from tests.p4cc.dissector.test_dissector import capture_of, ipv4, made
from tests.p4cc.dissector.wire_format import PAGE, ROOT, TRANSPORT, Field, cells, extension_codes, layouts

HPCC, D3, FAIR_RATE, BOLT, PINT = "1: HPCC", "3: rate request", "6: fair rate", "9: Bolt", "11: PINT"
HEADERS = (
    *((TRANSPORT, "header"), (HPCC, "header"), (HPCC, "record"), (D3, "header"), (D3, "record")),
    *((FAIR_RATE, "header"), (BOLT, "header"), (PINT, "header")),
)
RUST = ROOT / "host_agents" / "transport" / "src"
FLAGS = tuple(range(8, 16))
"""Bits of the transport header's flags, which P4 reads as one field."""

P4 = {
    (TRANSPORT, "header"): ("int_hpcc", "transport_h"),
    (HPCC, "header"): ("int_hpcc", "int_shim_h"),
    (HPCC, "record"): ("int_hpcc", "int_hop_h"),
    (D3, "header"): ("d3", "rate_request_h"),
    (D3, "record"): ("d3", "rate_hop_h"),
    (FAIR_RATE, "header"): ("rcp", "fair_rate_h"),
    (BOLT, "header"): ("bolt", "bolt_h"),
    (PINT, "header"): ("pint", "pint_h"),
}
SCAPY: dict[tuple[str, str], type[Packet]] = {
    (TRANSPORT, "header"): wire.P4cc,
    (HPCC, "header"): wire.IntHpcc,
    (HPCC, "record"): wire.IntRecord,
    (D3, "header"): wire.RateRequest,
    (D3, "record"): wire.RateRecord,
    (FAIR_RATE, "header"): wire.FairRate,
    (BOLT, "header"): wire.Bolt,
    (PINT, "header"): wire.Pint,
}
SHORT = {
    "packet_type": "type",
    "sequence": "sequence_number",
    "acknowledgement": "acknowledgement_number",
    "payload_len": "payload_length",
    "extension_len": "extension_length",
    "tx": "transmitted",
    "base_rate": "base",
    "desired": "desired_rate",
    "desired_before": "desired_rate_before",
    "link": "link_rate",
}
"""What code calls fields that the page names in full."""
LUA = {
    "sequence_number": "seq",
    "acknowledgement_number": "ack",
    "extension_type": "extension.type",
    "extension_length": "extension.length",
    "hop_count": "int.hops",
    **{name: f"int.{name}" for name in ("path_id", "rate_code", "transmitted")},
    "link_rate": "bolt.rate",
    "rate": "rcp.rate",
    "power": "pint.power",
}
"""What the dissector calls fields, without `p4cc.` and the prefix of their header; it shows rate requests as bytes."""
CODES = {
    1: "int_hpcc",
    2: "int_md",
    3: "rate_request",
    4: "cnp",
    5: "sack",
    6: "fair_rate",
    7: "int_fixed",
    8: "read_request",
    9: "bolt",
    10: "credit",
    11: "pint",
}


def layout(header: tuple[str, str], text: str | None = None) -> list[Field]:
    return layouts(header[0], text)[header[1]]


def named(fields: list[Field]) -> list[Field]:
    """With the page's names: no units, no second names of reserved bits."""
    result: list[Field] = []
    for field in fields:
        name = re.sub(r"_(ns|kbps|bytes|units)$", "", field.name)
        is_reserved = name.startswith("reserved") or re.fullmatch(r"r\d", name)
        result.append(Field("reserved" if is_reserved else SHORT.get(name, name), field.start, field.width))
    return result


def joined(fields: list[Field]) -> list[Field]:
    """Reserved bits next to each other as one field."""
    result: list[Field] = []
    for field in fields:
        if result and field.name == result[-1].name == "reserved":
            result[-1] = Field("reserved", result[-1].start, result[-1].width + field.width)
        else:
            result.append(field)
    return result


def placed(fields: list[tuple[str, int]]) -> list[Field]:
    """One behind the other."""
    return [Field(name, sum(width for _, width in fields[:nth]), width) for nth, (name, width) in enumerate(fields)]


@cache
def p4_headers(program: str) -> dict[str, list[tuple[str, int]]]:
    compiled = compile_program(ROOT / "p4src" / "v1model" / f"{program}.p4")
    return {name: [(one.name, one.bits) for one in fields] for name, fields in compiled.header_types().items()}


def of_p4(header: tuple[str, str]) -> list[Field]:
    program, name = P4[header]
    return placed(p4_headers(program)[name])


def of_scapy(header: tuple[str, str]) -> list[Field]:
    fields: list[tuple[str, int]] = []
    for field in SCAPY[header].fields_desc:
        if isinstance(field, FlagsField):
            fields += [(name, 1) for name in reversed(field.names)]
        elif not isinstance(field, PacketListField):
            # Only bit fields have a size in bits.
            fields.append((field.name, getattr(field, "size", 0) or int(8 * field.sz)))
    return placed(fields)


def without_flags(fields: list[Field]) -> list[Field]:
    """The transport header with its flags as the byte that P4 has."""
    rest = [field for field in fields if field.start not in FLAGS]
    return sorted([*rest, Field("flags", FLAGS[0], len(FLAGS))], key=lambda field: field.start)


def difference(header: tuple[str, str], of: str, text: str | None = None) -> set[Field]:
    """Fields that only the page or only the code has."""
    documented = layout(header, text)
    if of == "p4" and header[0] == TRANSPORT:
        documented = without_flags(documented)
    coded = of_p4(header) if of == "p4" else of_scapy(header)
    return set(joined(documented)) ^ set(joined(named(coded)))


@pytest.mark.parametrize("of", ["p4", "scapy"])
@pytest.mark.parametrize("header", HEADERS)
def test_p4_and_scapy_have_the_pages_fields(header: tuple[str, str], of: str) -> None:
    assert difference(header, of) == set()


@pytest.mark.parametrize(
    ("header", "row", "changed"),
    [
        ((TRANSPORT, "header"), "| 2 | 7-5 | traffic class |", "| 2 | 7-6 | traffic class |"),
        ((TRANSPORT, "header"), "| 16 | 16 bits | payload length |", "| 16 | 8 bits | payload length |"),
        ((HPCC, "record"), "| | 59-36 | timestamp |", "| | 59-40 | timestamp |"),
        ((D3, "record"), "| 22 + 12h | 16 bits | epoch |", "| 22 + 12h | 8 bits | epoch |"),
        ((BOLT, "header"), "| | 5 (0x20) | INC |", "| | 5 (0x20) | MORE |"),
    ],
)
def test_a_changed_row_of_the_page_is_found(header: tuple[str, str], row: str, changed: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count(row) == 1
    assert difference(header, "p4", text.replace(row, changed))
    assert difference(header, "scapy", text.replace(row, changed))


def number(text: str) -> int:
    """As tshark prints it."""
    return int(text == "True") if text in ("True", "False") else int(text, 0)


def packed(fields: list[Field], values: dict[str, int]) -> bytes:
    """A header with these values, zeros elsewhere."""
    bits = sum(field.width for field in fields)
    whole = sum(values.get(field.name, 0) << (bits - field.start - field.width) for field in fields)
    return whole.to_bytes(bits // 8, "big")


def odd(fields: list[Field], skip: tuple[str, ...] = ()) -> dict[str, int]:
    """A value for each field that no neighbour's bits give."""
    mixed = {field.name: 0x9E3779B97F4A7C15 * (nth + 3) >> 7 for nth, field in enumerate(fields)}
    widths = {field.name: field.width for field in fields}
    return {name: value % (1 << widths[name]) or 1 for name, value in mixed.items() if name not in ("reserved", *skip)}


def lua_name(section: str, field: Field) -> str:
    """The filter of a field."""
    prefix = {TRANSPORT: "flags." if field.start in FLAGS else "", HPCC: "int.", BOLT: "bolt."}.get(section, "")
    return "p4cc." + LUA.get(field.name, prefix + field.name)


@pytest.mark.parametrize(("section", "code"), [(HPCC, 1), (FAIR_RATE, 6), (BOLT, 9), (PINT, 11)])
def test_wireshark_shows_the_pages_fields(section: str, code: int, tmp_path: Path) -> None:
    if (tshark := shutil.which("tshark")) is None:
        pytest.skip("tshark is not installed (Debian package tshark)")
    transport = layout((TRANSPORT, "header"))
    parts = list(layouts(section).values())
    extension_values = {name: value for part in parts for name, value in odd(part).items()}
    extension = b"".join(packed(part, extension_values) for part in parts)
    values = {**odd(transport), "extension_type": code, "extension_length": len(extension)}
    udp = struct.pack(">HHHH", 50_000, wire.TRANSPORT_PORT, 8 + 36 + len(extension), 0)
    capture = capture_of(tmp_path, ipv4(17, udp + packed(transport, values) + extension))
    wanted = {lua_name(TRANSPORT, field): values[field.name] for field in transport if field.name in values}
    for part in parts:
        wanted |= {lua_name(section, one): extension_values[one.name] for one in part if one.name in extension_values}
    words = [tshark, "-X", f"lua_script:{made(tmp_path)}", "-r", str(capture), "-T", "fields"]
    for name in wanted:
        words += ["-e", name]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    shown = dict(zip(wanted, map(number, done.stdout.rstrip("\n").split("\t")), strict=True))
    assert shown == wanted


def test_rust_has_the_pages_transport_header() -> None:
    text = (RUST / "wire" / "header.rs").read_text(encoding="utf-8")
    (body,) = re.findall(r"fn write\(.*?\n    \}\n", text, re.DOTALL)
    names = {"seq": "sequence_number", "ack": "acknowledgement_number", "payload_len": "payload_length"}
    names |= {"timestamp_ns": "timestamp", "timestamp_echo_ns": "timestamp_echo"}
    offsets = dict(re.findall(r"const (\w+_AT): usize = (\d+);", text))
    written = {
        (names.get(name, name), 8 * int(offsets.get(at, at)), 8 * int(size))
        for size, at, name in re.findall(r"put::<(\d+), (\w+), _>\(out, self\.(\w+)\.to_be_bytes", body)
    }
    whole_bytes = {"kind.0": "extension_type", "ext_len": "extension_length"}
    written |= {
        (whole_bytes[value], 8 * int(at), 8)
        for at, value in re.findall(r"out\[(\d+)\] = ([\w.]+);", body)
        if value in whole_bytes
    }
    shifted = {"VERSION": "version", "self.class.0": "traffic_class"}
    for at, high, shift, low in re.findall(r"out\[(\d+)\] = ([\w.]+) << (\d+) \| ([\w.()]+);", body):
        written.add((shifted[high], 8 * int(at), 8 - int(shift)))
        width = {"self.kind.code()": 4, "self.ecn_echo.bits()": 2}[low]
        name = {"self.kind.code()": "type", "self.ecn_echo.bits()": "ecn_echo"}[low]
        written.add((name, 8 * int(at) + 8 - width, width))
    flags = re.findall(r"pub const (\w+): Self = Self\((0x[0-9a-f]+)\);", text)
    assert "out[1] = self.flags.0;" in body
    written |= {(name.lower(), FLAGS[0] + 8 - int(mask, 16).bit_length(), 1) for name, mask in flags}
    documented = layout((TRANSPORT, "header"))
    assert written == {(one.name, one.start, one.width) for one in documented if one.name != "reserved"}


def test_rust_has_the_pages_hop_record_and_flags() -> None:
    record = {field.name: (64 - field.start - field.width, field.width) for field in layout((HPCC, "record"))}
    text = (RUST / "rdma" / "telemetry.rs").read_text(encoding="utf-8")
    names = {"line_rates": "rate_code", "timestamp": "timestamp", "tx": "transmitted"}
    read = re.findall(r"(\w+)[:[] ?\(record >> (\d+)\) as \w+(?: & 0x([0-9a-f_]+))?", text)
    assert {names[name]: (int(shift), int(mask or "f", 16).bit_length()) for name, shift, mask in read} == {
        name: record[name] for name in names.values()
    }
    for section, file, prefix in ((BOLT, "bolt.rs", ""), (D3, "request.rs", "FLAG_")):
        source = (RUST / "rdma" / file).read_text(encoding="utf-8")
        masks = {
            name: int(mask, 16)
            for name, mask in re.findall(rf"^const {prefix}(\w+): u8 = (0x[0-9a-f]+);", source, re.MULTILINE)
        }
        flags = {one.name.upper(): 0x80 >> one.start for one in layout((section, "header")) if one.width == 1}
        assert masks == {name: mask for name, mask in flags.items() if name != "RESERVED"}


def test_ports_versions_and_codes_are_the_pages() -> None:
    page = PAGE.read_text(encoding="utf-8")
    (port,) = re.findall(r"destination port \| (\d+) ", page)
    p4 = (ROOT / "p4src" / "include" / "transport.p4").read_text(encoding="utf-8")
    rust = (RUST / "wire" / "mod.rs").read_text(encoding="utf-8").replace("_", "")
    lua = (ROOT / "p4cc" / "dissector" / "transport.lua").read_text(encoding="utf-8")
    assert f"TRANSPORT_PORT = {port};" in p4
    assert f"UDPPORT: u16 = {port};" in rust
    assert int(port) == wire.TRANSPORT_PORT
    assert f'DissectorTable.get("udp.port"):add({port}, proto)' in lua
    version = next(row[3] for row in cells(TRANSPORT) if row[2] == "version")
    assert f"TRANSPORT_VERSION = {version};" in p4
    assert f"VERSION: u8 = {version};" in rust
    assert list(extension_codes()) == [0, *CODES]
    assert wire.EXTENSIONS == {0: "none", **CODES}
    of_p4 = re.findall(r"EXTENSION_(\w+) = (\d+);", p4)
    assert {int(code): name.lower() for name, code in of_p4}.items() <= {0: "none", **CODES}.items()
    of_rust = re.findall(r"pub const (\w+): Self = Self\((\d+)\);", (RUST / "wire" / "extension.rs").read_text())
    assert {int(code): name.lower() for name, code in of_rust} == {0: "none", **CODES}
    (of_lua,) = re.findall(r'"Extension type", base\.DEC, \{(.*?)\}', lua, re.DOTALL)
    assert [int(code) for code in re.findall(r"\[(\d+)\]", of_lua)] == [0, *CODES]
