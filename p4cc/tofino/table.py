"""The table of resources: as text, as Markdown, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from p4cc.tofino.report import Outcome
from p4cc.tofino.usage import Usage

WIDTHS_BITS = (8, 16, 32)
COLUMNS = (
    "program", "chip", "stages in", "stages eg", "free", "SRAM", "TCAM", "map RAM", "meter ALU",
    "PHV 8", "PHV 16", "PHV 32", "parser in", "parser eg", "warnings", "s",
)  # fmt: skip
"""Names of the columns, explained by `LEGEND`."""
LEGEND = (
    "Stages: the last stage of the chip that holds a table or condition of ingress or egress; free: stages after "
    "the later of the two. SRAM, TCAM and map RAM in blocks, meter ALUs in units, summed over all stages. PHV: "
    "bits that hold a field, in containers of 8, 16 and 32 bits of all kinds, both directions. Parser: states, "
    "TCAM rows."
)
OF_THE_RUN = "Warnings: compiler warnings; s: compilation time in seconds."
_NUMBERS = len(COLUMNS) - 2


def rows(outcomes: Sequence[Outcome]) -> Iterator[list[str]]:
    """A row for each pipe of each program and chip; one with `-` where there is none."""
    for outcome in outcomes:
        name, chip = outcome.job.program.stem, outcome.job.chip.title
        tail = [str(outcome.compilation.warnings), f"{outcome.compilation.seconds:.1f}"]
        if not outcome.pipes:
            yield [name, chip, *["-"] * (_NUMBERS - 2), *tail]
        for usage in outcome.pipes:
            shown = name if len(outcome.pipes) == 1 else f"{name} ({usage.pipe})"
            yield [shown, chip, *_numbers(usage), *tail]


def _numbers(usage: Usage) -> Iterator[str]:
    ingress, egress = usage.directions["ingress"], usage.directions["egress"]
    yield f"{ingress.stages}/{usage.stages}"
    yield f"{egress.stages}/{usage.stages}"
    yield str(usage.free_stages)
    for kind in ("sram", "tcam", "map_ram", "meter_alu"):
        yield str(usage.memories[kind].used)
    for width_bits in WIDTHS_BITS:
        yield str(usage.phv_bits(width_bits))
    for direction in (ingress, egress):
        yield f"{direction.parser_states}, {direction.parser_rows}"


def sizes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What each chip has, one line each, as its reports say it."""
    seen: set[str] = set()
    for outcome in outcomes:
        chip = outcome.job.chip.title
        if chip in seen or not outcome.pipes:
            continue
        seen.add(chip)
        usage = outcome.pipes[0]
        of = {kind: memory.available for kind, memory in usage.memories.items()}
        phv = {
            width: sum(one.available * width for one in usage.phv if one.width_bits == width) for width in WIDTHS_BITS
        }
        yield (
            f"A pipe of {chip} has {usage.stages} stages, {of['sram']:,} SRAM, {of['tcam']:,} TCAM, "
            f"{of['map_ram']:,} map RAM, {of['meter_alu']:,} meter ALUs, "
            f"{phv[8]:,}, {phv[16]:,} and {phv[32]:,} bits of PHV in containers of 8, 16 and 32 bits."
        )


def failures(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, str]]:
    """Program with chip, and why it has no row of numbers."""
    for outcome in outcomes:
        if outcome.failure:
            yield f"{outcome.job.program} for {outcome.job.chip.title}", outcome.failure


def as_markdown(outcomes: Sequence[Outcome], version: str) -> str:
    """For docs/tofino.md: the table and its legend, without the machine's times."""
    names = COLUMNS[:-1]
    lines = [f"| {' | '.join(names)} |", f"|{'|'.join(['---'] * 2 + ['--:'] * (len(names) - 2))}|"]
    lines += [f"| {' | '.join(row[:-1])} |" for row in rows(outcomes)]
    lines += ["", f"Compiled by {version}. {LEGEND}"]
    lines += list(sizes(outcomes))
    lines += [f"\n`{name}`: {' '.join(failure.split())}" for name, failure in failures(outcomes)]
    return "\n".join(lines) + "\n"


def as_records(outcomes: Sequence[Outcome], version: str) -> list[dict[str, object]]:
    """Plain data of all outcomes."""
    return [
        {
            "program": str(outcome.job.program),
            "chip": outcome.job.chip.value,
            "compiler": version,
            "compiled": not outcome.compilation.failure,
            "failure": outcome.failure,
            "warnings": outcome.compilation.warnings,
            "seconds": round(outcome.compilation.seconds, 3),
            "pipes": [{**asdict(usage), "free_stages": usage.free_stages} for usage in outcome.pipes],
        }
        for outcome in outcomes
    ]
