"""One flow of each sender in the network of `p4cc init`, at every rate and round trip: its share of the line.

And two flows into one port, in some of these networks. `python tests/p4cc/networks/line_rate.py --jobs 2` measures the
grid (an hour of one core) into line_rate.json beside this file, `--two` the other; `--page` writes the tables of
docs/explanation/line-rate.md from it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from p4cc.algorithms import entry_named, registry
from p4cc.errors import UserError
from p4cc.planning.sketch import Wish, sketch
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario

RATES = {"1G": 10**9, "10G": 10**10, "25G": 25 * 10**9, "100G": 10**11, "400G": 4 * 10**11}
RTTS = {"2us": 2_000, "10us": 10_000, "100us": 100_000, "1ms": 10**6, "10ms": 10**7, "100ms": 10**8}
GST = "gst+dctcp"
SENDERS = (GST, *(one.name for one in registry() if one.kind not in ("slow_start", "receiver") and one.name != "fixed"))
PACKET_BYTES, PAYLOAD_BYTES, TELEMETRY_BYTES = 1_500, 1_436, 3 * 8
"""From IP on; telemetry of three switches grows a packet."""
ROUNDS = ((100, 20, 500_000), (30, 6, 3_200_000))
"""Round trips before and while goodput counts, and the packets that they may take at most: start-up and its cuts are
over after thirty, where the algorithm does not take longer."""
LEAST_NS = (10_000_000, 2_500_000)
"""For timers of rate algorithms, which do not follow the round trip."""
ENOUGH = 0.95
FILE = Path(__file__).with_suffix(".json")
PAGE = Path(__file__).resolve().parents[3] / "docs" / "explanation" / "line-rate.md"
BEGIN, END = "<!-- tests/p4cc/networks/line_rate.py, flows: {} -->", "<!-- end -->"

TWO = (("10us", "1G"), ("10us", "100G"), ("100us", "10G"), ("1ms", "1G"), ("1ms", "10G"), ("10ms", "1G"))
"""Networks of two flows."""

Shares = dict[str, dict[str, dict[str, float | None]]]
"""By sender, round trip and rate; None where packets are too many."""


@dataclass(frozen=True)
class Cell:
    """One sender in one network."""

    sender: str
    rtt: str
    rate: str
    flows: int = 1

    @property
    def round_ns(self) -> int:
        """A round trip, packets' times on the four links included."""
        return RTTS[self.rtt] + 5 * 8 * PACKET_BYTES * 10**9 // (2 * RATES[self.rate])

    @property
    def spans(self) -> tuple[int, int] | None:
        """Warm-up and measured time; None where they take too many packets."""
        for warm, measured, packets in ROUNDS:
            spans = max(warm * self.round_ns, LEAST_NS[0]), max(measured * self.round_ns, LEAST_NS[1])
            if sum(spans) * RATES[self.rate] <= packets * 8 * PACKET_BYTES * 10**9:
                return spans
        return None

    @property
    def wire_bytes(self) -> int:
        """Of a full packet."""
        entry = entry_named(self.sender)
        telemetry = entry is not None and entry.switch_needs == "telemetry"
        return PACKET_BYTES + (TELEMETRY_BYTES if telemetry else 0)


def scenario(cell: Cell, spans: tuple[int, int]) -> dict[str, Any]:
    """The scenario of `p4cc init` with its flows from one leaf to one host of the other."""
    warm_ns, measured_ns = spans
    name = cell.sender.removeprefix("gst+")
    data = yaml.safe_load(sketch(Wish(hosts=4, rate=cell.rate, rtt=cell.rtt, senders=name), "line-rate"))
    if cell.sender == GST:
        data["variants"][0]["slow_start"] = {"name": "gst"}
        # The profile of RFC 3168 has one of the two levels that GST reads.
        data["switch"].pop("ecn_profile")
    priority = {"priority": data["traffic"]["priority"]} if "priority" in data["traffic"] else {}
    sources = [f"h{number}" for number in range(1, cell.flows + 1)]
    return {
        **data,
        "traffic": {"kind": "bulk", "sources": sources, "destinations": "h4", "size_bytes": None, **priority},
        "seeds": [1],
        "stop_ns": warm_ns + measured_ns,
        "measure": [{"name": "steady", "start_ns": warm_ns, "end_ns": warm_ns + measured_ns}],
        "figures": [],
    }


def share(cell: Cell, folder: Path) -> float | None:
    """Bytes on the wire as a share of the line; None where they cannot be afforded. Raises UserError."""
    if cell.spans is None:
        return None
    file = folder / "line-rate.yaml"
    file.write_text(json.dumps(scenario(cell, cell.spans)), encoding="utf-8")
    request = RunRequest(scenario=file, out=folder / "out", quiet=True, force=True, figures=False, use_cache=False)
    goodput_bps = run_scenario(request).summary["runs"][0]["goodput_bps_steady"]
    return round(goodput_bps * cell.wire_bytes / PAYLOAD_BYTES / RATES[cell.rate], 3)


def measured(cell: Cell) -> float | None:
    """The share, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return share(cell, Path(folder))
        except UserError as error:
            print(cell, error, flush=True)
            return None


def known() -> dict[str, Shares]:
    """What line_rate.json has, by the number of flows."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}


def tables(shares: Shares) -> str:
    """Of one flow: the least share of each sender and round trip, and every share below enough."""
    least = [
        (f"`{sender}`", *(min(_ran(by_rtt[rtt].values()), default=None) for rtt in RTTS))
        for sender, by_rtt in shares.items()
    ]
    below = [
        (f"`{sender}`", _apart(rtt), *(by_rate[rate] for rate in RATES))
        for sender, by_rtt in shares.items()
        for rtt, by_rate in by_rtt.items()
        if any(one < ENOUGH for one in _ran(by_rate.values()))
    ]
    every = [one for by_rtt in shares.values() for by_rate in by_rtt.values() for one in by_rate.values()]
    ran = _ran(every)
    enough, left_out = sum(one >= ENOUGH for one in ran), len(every) - len(ran)
    counts = f"{enough} of {len(ran)} measured networks reach 95 %; {left_out} of {len(every)} were not measured."
    parts = [counts, _table(["sender", *map(_apart, RTTS)], least), "Below 95 %, by rate:"]
    return "\n\n".join([*parts, _table(["sender", "round trip", *(f"{_apart(rate)}b/s" for rate in RATES)], below)])


def table_of_two(shares: Shares) -> str:
    """Of two flows: every share."""
    rows = [(f"`{sender}`", *(by_rtt[rtt][rate] for rtt, rate in TWO)) for sender, by_rtt in shares.items()]
    return _table(["sender", *(f"{_apart(rate)}b/s, {_apart(rtt)}" for rtt, rate in TWO)], rows)


def _ran(shares: Iterable[float | None]) -> list[float]:
    return [one for one in shares if one is not None]


def _apart(name: str) -> str:
    """`10 us`, `100 G`."""
    number = name.rstrip("Gmus")
    return f"{number} {name.removeprefix(number)}"


def _table(head: list[str], rows: Iterable[tuple[str | float | None, ...]]) -> str:
    cells = [
        [one if isinstance(one, str) else "-" if one is None else f"{100 * one:.1f}" for one in row] for row in rows
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *cells])


def page_of(text: str, held: dict[str, Shares]) -> str:
    """The page with these tables."""
    for flows, made in (("1", tables(held["1"])), ("2", table_of_two(held["2"]))):
        before, _, rest = text.partition(BEGIN.format(flows))
        text = f"{before}{BEGIN.format(flows)}\n\n{made}\n\n{END}{rest.partition(END)[2]}"
    return text


def _keep(cell: Cell, value: float | None) -> None:
    """Puts a share into line_rate.json, in the order of senders and networks."""
    held = known()
    shares = held.setdefault(str(cell.flows), {})
    shares.setdefault(cell.sender, {}).setdefault(cell.rtt, {})[cell.rate] = value
    held[str(cell.flows)] = {
        sender: {
            rtt: {rate: shares[sender][rtt][rate] for rate in RATES if rate in shares[sender][rtt]}
            for rtt in RTTS
            if rtt in shares[sender]
        }
        for sender in SENDERS
        if sender in shares
    }
    FILE.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Measures or writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    for name, values in (("senders", SENDERS), ("rtts", RTTS), ("rates", RATES)):
        parser.add_argument(f"--{name}", default=",".join(values), help="names with commas between them")
    parser.add_argument("--two", action="store_true", help="two flows, in networks of their own")
    parser.add_argument("--page", action="store_true", help="only write the page's tables")
    given = parser.parse_args()
    if given.page:
        PAGE.write_text(page_of(PAGE.read_text(encoding="utf-8"), known()), encoding="utf-8")
        return
    senders, rtts, rates = (getattr(given, name).split(",") for name in ("senders", "rtts", "rates"))
    networks = TWO if given.two else [(rtt, rate) for rtt in rtts for rate in rates]
    cells = [Cell(sender, *network, flows=2 if given.two else 1) for sender in senders for network in networks]
    with ProcessPoolExecutor(given.jobs) as pool:
        for cell, value in zip(cells, pool.map(measured, cells), strict=True):
            print(cell.flows, cell.sender, cell.rtt, cell.rate, value, flush=True)
            _keep(cell, value)


if __name__ == "__main__":
    main()
