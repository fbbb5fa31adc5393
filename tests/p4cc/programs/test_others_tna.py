"""Programs of research systems for Tofino, unchanged, from copies outside of this project: what they say comes out.

`P4CC_RESEARCH` names a folder with the copies, each under its repository's name
(docs/explanation/programs-of-others.md#research-systems-on-tofino).
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from pathlib import Path
from shutil import copytree

import polars as pl
import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.p4cc.scenarios import Ran

SCENARIOS = Path(__file__).parent / "others_tna"
COPIES = os.environ.get("P4CC_RESEARCH")

pytestmark = pytest.mark.skipif(COPIES is None, reason="P4CC_RESEARCH names no copies of research systems")


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Ran:
    """The run of the scenario that a test is named after, in the folder of the copies."""
    assert COPIES is not None
    name = request.node.originalname.removeprefix("test_")
    monkeypatch.chdir(COPIES)
    scenario = SCENARIOS / f"{name}.yaml"
    return Ran(run_scenario(RunRequest(scenario=scenario, out=tmp_path / "out", figures=False, quiet=True)))


def received(ran: Ran) -> list[tuple[str, bytes]]:
    """Packets that no flow took: host and bytes."""
    rows = ran.table("packets_received").select("host", "bytes").rows()
    return [(host, bytes.fromhex(data)) for host, data in rows]


def word(data: bytes, at: int, size: int = 4) -> int:
    """A number of a packet."""
    return int.from_bytes(data[at : at + size], "big")


# --- HalfSipHash-2-4, as its reference has it ---


def _rotated(word: int, by: int) -> int:
    return ((word << by) | (word >> (32 - by))) & 0xFFFFFFFF


def _sip_round(v: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    a, b, c, d = v
    a = (a + b) & 0xFFFFFFFF
    b, a = _rotated(b, 5) ^ a, _rotated(a, 16)
    c = (c + d) & 0xFFFFFFFF
    d = _rotated(d, 8) ^ c
    a = (a + d) & 0xFFFFFFFF
    d = _rotated(d, 7) ^ a
    c = (c + b) & 0xFFFFFFFF
    b, c = _rotated(b, 13) ^ c, _rotated(c, 16)
    return a, b, c, d


def half_sip(v: tuple[int, int, int, int], words: list[int], last: int) -> tuple[int, int, int, int]:
    """The state after all words and four more rounds, with `last` put into the third word before these."""
    for one in words:
        v = _sip_round(_sip_round((v[0], v[1], v[2], v[3] ^ one)))
        v = (v[0] ^ one, v[1], v[2], v[3])
    v = (v[0], v[1], v[2] ^ last, v[3])
    for _ in range(4):
        v = _sip_round(v)
    return v


KEY = (0x33323130, 0x42413938)
"""That both programs have."""


def test_halfsiphash(out: Ran) -> None:
    answers = received(out)
    assert len(answers) == 64
    start = (KEY[0], KEY[1], KEY[0] ^ 0x6C796765, KEY[1] ^ 0x74656462)
    for at, (_, data) in enumerate(answers):
        words = [0x00010203, 0x04050607, 0x08090A0B, 0x0C0D0E0F + at]
        state = half_sip(start, words, 0xFF)
        assert word(data, 42) == state[1] ^ state[3]
        assert data[46:58] == bytes(12)


def test_smartcookie(out: Ran) -> None:
    at_client = [data for host, data in received(out) if host == "client"]
    at_server = [Ether(data) for host, data in received(out) if host == "server"]
    start = (KEY[0] ^ 0x70736575, KEY[1] ^ 0x6E646F6D, KEY[0] ^ 0x6E657261, KEY[1] ^ 0x79746573)
    cookies = [data for data in at_client if data[47] == 0x12]
    assert len(cookies) == 100
    for data in cookies:
        ports = word(data, 36, 2) << 16 | word(data, 34, 2)
        state = half_sip(start, [0x0A000001, 0x0C000003, ports, 1000], 0)
        assert word(data, 38) == state[0] ^ state[1] ^ state[2] ^ state[3]
        assert word(data, 42) == 1001
    # The right cookie opens, the wrong one does not; then data pass, and the server's answer.
    assert [str(packet[TCP].flags) for packet in at_server] == ["AE"] + ["PA"] * 20
    assert at_server[0][TCP].seq == 1000
    assert len(at_client) == 101


def test_aes(out: Ran) -> None:
    answers = [data[42:58].hex() for _, data in received(out)]
    # FIPS-197, appendix C.1; the others differ in the last byte of the plain text, by openssl.
    assert answers[0] == "69c4e0d86a7b0430d8cdb78070b4c55a"
    assert answers[1] == "7c99f42b6ee503309c6c1a67e97ac242"
    assert answers[2] == "77a0785a36a150ed8831ce8aef66ded4"
    assert len(set(answers)) == 64


def test_rtt(out: Ran) -> None:
    # The source's MAC address says: data, an ACK of nothing known, an ACK of a data packet.
    assert Counter(word(data, 6, 6) for _, data in received(out)) == {1: 1000, 2: 100, 3: 1000}


def test_precision(out: Ran) -> None:
    last: dict[tuple[int, int], int] = {}
    for _, data in received(out):
        last[word(data, 26), word(data, 34, 2)] = word(data, 0, 6)
    heavy = {flow: count for flow, count in last.items() if flow[0] == 0x0A010001}
    assert len(last) == 5_010
    assert set(heavy.values()) == {300}
    assert {count for flow, count in last.items() if flow not in heavy} == {0}


def test_netclone(out: Ran) -> None:
    # Operation, server, clone.
    counts = Counter((host, word(data, 42), word(data, 54), word(data, 62)) for host, data in received(out))
    assert counts == {
        # Of two answers to each of 100 requests the faster one, and the answer of the busy server.
        ("client", 1, 0, 1): 100,
        ("client", 1, 1, 0): 1,
        # Both servers have each request while they are idle; then one has it.
        ("fast", 0, 1, 1): 100,
        ("slow", 0, 1, 2): 100,
        ("fast", 0, 0, 0): 50,
    }


def test_cheetah(out: Ran) -> None:
    packets = [(host, Ether(data)) for host, data in received(out)]
    for _, packet in packets:
        again = Ether(bytes(packet))
        del again[IP].chksum, again[TCP].chksum
        assert bytes(Ether(bytes(again))) == bytes(packet), "checksums"
    times = [(host, dict(packet[TCP].options)["Timestamp"]) for host, packet in packets]
    # Servers in turn, cookies from the top of the stack in the client's timestamp.
    assert times[:8] == [(("one", "two")[at % 2], (0x11110009 - at, 0)) for at in range(8)]
    # The client's own time comes back, and the cookie in the server's place.
    assert times[8] == ("client", (0x33330009, 0x11112222))
    assert times[9:] == [("one", (0x11110009, 0x33334444))] * 5


def test_dida(out: Ran) -> None:
    counts = Counter((host, data[42:].rstrip(b"\0")) for host, data in received(out))
    # 20 answers without a request until the report, 10 more until the controller's entry.
    assert counts == {("dns", b"ask"): 400, ("h1", b"answer"): 400, ("h1", b"flood"): 30}


def test_fcm(out: Ran) -> None:
    cells = out.table("program_registers").select("register", "index", "value").rows()
    rows: dict[str, list[int]] = defaultdict(list)
    for name, _, value in cells:
        rows[name.rpartition(".")[2]].append(value)
    assert rows["num_pkt"] == [71_100]
    assert sorted(rows["sketch_reg_l1_d1"]) == [100, 255, 255]
    # 255 stands for 254 and more: 254 + 746 are the 1,000 packets of the second source.
    assert sorted(rows["sketch_reg_l2_d1"]) == [746, 65_535]
    # Of the third source's 70,000 packets the last 4,212 should be here; the program's third level takes one.
    assert rows["sketch_reg_l3_d1"] == [1]


def delays_by_window(ran: Ran) -> list[float]:
    """Means of the delay that the last packet had, in units of 1.024 us, over windows of 100 ms."""
    cells = ran.table("program_registers").filter(pl.col("register").str.ends_with("previous_delay_reg"))
    windows = cells.group_by(pl.col("time_ns") // 100_000_000).agg(mean=pl.col("value").mean()).sort("time_ns")
    return windows["mean"].to_list()


def test_pie(out: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As it is, the delay swings between an empty and a full queue (524 units).
    as_posted = delays_by_window(out)
    assert min(as_posted) < 10
    assert max(as_posted) > 450
    # The change of the delay is taken as the old less the new one; RFC 8033 (4.2) has it the other way round.
    assert COPIES is not None
    copytree(Path(COPIES) / "pie-for-tofino" / "p4src", tmp_path / "pie-for-tofino" / "p4src")
    skeleton = tmp_path / "pie-for-tofino" / "p4src" / "source-egress-common-skeleton.p4"
    text = skeleton.read_text(encoding="utf-8")
    old, new = "(int<REGISTER_WIDTH>)reg_data", "(int<REGISTER_WIDTH>)meta.queue_delay"
    assert text.count(f"{old} - {new}") == 1
    skeleton.write_text(text.replace(f"{old} - {new}", f"{new} - {old}"))
    monkeypatch.chdir(tmp_path)
    request = RunRequest(scenario=SCENARIOS / "pie.yaml", out=tmp_path / "mended", figures=False, quiet=True)
    mended = delays_by_window(Ran(run_scenario(request)))
    assert all(105 < mean < 165 for mean in mended[4:])


@pytest.mark.skipif(not (Path(COPIES or ".") / "conquest.p4").is_file(), reason="conquest.p4 was not made")
def test_conquest(out: Ran) -> None:
    flows = out.table("flows").filter(pl.col("class") == "requests")
    # No packet of a request is dropped, with marks (which the program does not sum up) and with drops.
    assert flows["retransmitted_pkts"].sum() == 0
    assert flows["fct_ns"].max() < 200_000  # pyright: ignore[reportOptionalOperand, reportOperatorIssue]
