"""Virtual time against Linux in six scenarios, within bands stated here: `sudo python -m experiments.linux.bands`.

Prints the table of README.md. Goodput: up to 15 % less, since a connection's two handshakes cost two of the 20 to 100
round-trip times of a flow, and hosts wait for the processor; 10 % more, since delayed ACKs and offload make bursts that
begin a round earlier. Completion of the last flow: the inverse. Marks: 30 % either way, since bursts of merged
segments meet a threshold together or not at all. The order of two senders: that of goodput, where virtual time has
them 3 % apart.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from p4cc.lab.compare import Side, compare
from p4cc.lab.lab import LabOptions
from p4cc.lab.plan import LabRequest, variants_of

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
SCENARIOS: dict[str, tuple[str, ...]] = {
    "incast": (),
    "deadlines": (),
    # With an end, so that flows have a completion time.
    "rfb_ss": ("traffic.size_bytes=1500000", "stop_ns=25000000000"),
    "share": (),
    "weights": (),
    "slow_starts": (),
}
"""Files of this folder, with what is changed in them."""
BANDS = {"goodput_bps": (0.85, 1.10), "finish_ns": (0.90, 1.15), "marks": (0.70, 1.30)}
APART = 0.03


@dataclass(frozen=True)
class Row:
    """A number of one variant on both clocks."""

    scenario: str
    variant: str
    name: str
    virtual: float
    linux: float

    @property
    def ratio(self) -> float:
        """Linux to virtual time."""
        return self.linux / self.virtual if self.virtual else float(self.linux == 0) or float("inf")

    @property
    def is_within(self) -> bool:
        """Whether it is in its band."""
        low, high = BANDS[self.name]
        return low <= self.ratio <= high


def numbers(side: Side) -> dict[str, float]:
    """What is compared, of one side."""
    values = side.numbers
    marks = sum(values.get(name) or 0 for name in ("marks_level1", "marks_level2"))
    return {"goodput_bps": values.get("goodput_bps") or 0, "finish_ns": values.get("finish_ns") or 0, "marks": marks}


def rows(scenario: str, sides: list[Side]) -> Iterator[Row]:
    """Numbers of each variant."""
    found = {(side.variant, side.clock): numbers(side) for side in sides}
    for variant in dict.fromkeys(side.variant for side in sides):
        virtual, linux = found[variant, "virtual"], found[variant, "linux"]
        yield from (Row(scenario, variant, name, virtual[name], linux[name]) for name in BANDS)


def orders(found: list[Row]) -> Iterator[tuple[str, bool]]:
    """Whether two senders that virtual time holds apart are in its order in Linux."""
    goodputs = [row for row in found if row.name == "goodput_bps"]
    for one, other in combinations(goodputs, 2):
        if abs(one.virtual / other.virtual - 1) >= APART:
            yield f"{one.variant}, {other.variant}", (one.virtual > other.virtual) == (one.linux > other.linux)


def measured(scenario: str, out: Path) -> list[Side]:
    """A scenario's variants in virtual time and in a lab with Linux's TCP."""
    request = LabRequest(str(HERE / f"{scenario}.yaml"), overrides=SCENARIOS[scenario], hosts="linux")
    options = LabOptions(out / scenario, cli=False, force=True, say=lambda _: None)
    sides, report, _ = compare(request, options, variants_of(request))
    if report.failed:
        raise SystemExit(f"{scenario}: {report.failed}")
    return [Side(side.variant, "linux" if side.clock == "lab" else side.clock, side.numbers, side.windows, side.queues)
            for side in sides]  # fmt: skip


def main() -> None:
    """Runs the scenarios and prints their table."""
    parser = argparse.ArgumentParser(description="virtual time against Linux within bands")
    parser.add_argument("scenarios", nargs="*", choices=[*SCENARIOS, []], help="default: all")
    parser.add_argument("--out", type=Path, default=Path("results/lab/linux-bands"))
    asked = parser.parse_args()
    print(
        "| scenario | variant | quantity | virtual time | Linux | ratio | band | |\n|---|---|---|---|---|---|---|---|"
    )
    for scenario in asked.scenarios or SCENARIOS:
        found = list(rows(scenario, measured(scenario, asked.out)))
        for row in found:
            low, high = BANDS[row.name]
            scale, unit = {"goodput_bps": (1e-6, "goodput (Mb/s)"), "finish_ns": (1e-6, "last flow (ms)")}.get(
                row.name, (1.0, "marks")
            )
            verdict = "in" if row.is_within else "**outside**"
            print(
                f"| {scenario} | {row.variant} | {unit} | {row.virtual * scale:.4g} | {row.linux * scale:.4g} | "
                f"{row.ratio:.2f} | {low} to {high} | {verdict} |",
                flush=True,
            )
        for pair, is_kept in orders(found):
            print(f"| {scenario} | {pair} | order | | | | same | {'in' if is_kept else '**outside**'} |", flush=True)


if __name__ == "__main__":
    main()
