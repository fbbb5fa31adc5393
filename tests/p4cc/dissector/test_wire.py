"""The scapy layers against the bytes of docs/reference/wire-format.md, and extensions built and dissected again."""

# pyright: basic

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from scapy.layers.l2 import Ether

from p4cc.wire import (
    Bolt,
    Extension,
    FairRate,
    IntHpcc,
    IntRecord,
    P4cc,
    Pint,
    RateRecord,
    RateRequest,
    data_packet,
    source_port,
)

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "wire-format.md"


def hexdumps() -> Iterator[bytes]:
    for block in re.findall(r"```hexdump\n(.*?)```", DOCUMENT.read_text(), re.DOTALL):
        yield bytes.fromhex("".join(line[4:] for line in block.splitlines()))


def test_the_documents_data_packet() -> None:
    frame = Ether(next(hexdumps()))
    header = frame[P4cc]
    assert (header.version, header.type, header.flow_id, header.traffic_class) == (1, 0, 7, 3)
    assert header.flags.fin
    assert header.flags.cwr
    assert (header.sequence, header.payload_len, header.timestamp_ns) == (0x2CC0, 1000, 250_000)


def test_the_documents_data_packet_is_what_is_built() -> None:
    built = data_packet(
        src="10.0.0.1",
        dst="10.0.0.2",
        flow_id=7,
        ecn=2,
        payload_bytes=1000,
        flags="fin+cwr",
        traffic_class=3,
        sequence=0x2CC0,
        timestamp_ns=250_000,
    )
    wanted = next(hexdumps())
    # The document's packet has passed no switch; its Ethernet addresses are the plan's.
    assert bytes(built)[:14] == wanted[:14]
    assert bytes(built)[: len(wanted)] == wanted


def test_the_documents_acks() -> None:
    acks = [Ether(frame)[P4cc] for frame in list(hexdumps())[1:3]]
    assert [ack.type for ack in acks] == [1, 1]
    assert acks[0].acknowledgement == 0x30A8
    assert acks[0].ecn_echo == 2
    assert (acks[1].extension_type, acks[1].extension_len) == (5, 16)


@pytest.mark.parametrize(
    ("extension", "length"),
    [
        (IntHpcc(), 2),
        (IntHpcc(hop_count=2, path_id=3, records=[IntRecord(tx_units=9), IntRecord(queue_units=7)]), 18),
        (RateRequest(desired_kbps=5), 84),
        (RateRequest(hops=[RateRecord(granted_kbps=hop) for hop in range(6)]), 84),
        (FairRate(rate_kbps=10), 4),
        (Bolt(flags="dec", queue_bytes=3_000, link_kbps=100_000_000), 12),
        (Pint(power=127), 1),
    ],
)
def test_extensions_come_back_as_they_were_built(extension: Extension, length: int) -> None:
    sent = data_packet(src="10.0.0.1", dst="10.0.0.2", extension=extension, payload_bytes=50)
    header = Ether(bytes(sent))[P4cc]
    assert (header.extension_type, header.extension_len, header.payload_len) == (extension.code, length, 50)
    assert bytes(header.payload) == bytes(extension) + bytes(50)
    assert type(header.payload) is type(extension)


def test_source_ports_are_dynamic_and_differ() -> None:
    ports = {source_port(flow) for flow in range(1000)}
    assert len(ports) > 900
    assert min(ports) >= 49152
    assert max(ports) <= 65535
