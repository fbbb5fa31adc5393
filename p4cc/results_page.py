"""docs/reference/results.md, from the descriptions of tables; `python -m p4cc.results_page` prints it."""

from __future__ import annotations

import re
import sys

from p4cc.analysis.comparison import RULE
from p4cc.analysis.long_tables import ROW_GROUP_ROWS
from p4cc.analysis.percentiles import DEFINITION, FEW
from p4cc.analysis.slowdown import DEFINITION as SLOWDOWN
from p4cc.analysis.tables import KEYS, TABLES, Column, Table
from p4cc.figures.series import HOLE

_HEAD = """# Results

<!-- Written by `make results-page` from engine/netsim/src/record/schema.rs and p4cc/analysis/tables.py: change the texts there. -->

A run leaves a folder: tables (Parquet), `summary.json`, `run.json`, `scenario.json`, `inputs/`, figures, and
`p4cc-manifest.json`, which lists every file that p4cc wrote with its SHA-256. p4cc removes only files that the manifest
lists and that nobody changed.

| file | what it holds |
|---|---|
| `run.json` | what was run: version, commit, command, scenario with all defaults, algorithms with all parameters, K and K_dc as installed, hashes of programs and inputs, host, start, duration |
| `scenario.json`, `inputs/` | the scenario after `extends` and `--set`, with the files it names: `p4cc run --again FOLDER` runs it again and compares the bytes |
| `pcap/CASE-seed-N/NODE-PORT.pcapng` | with `record.pcap`: what passed an end of a link (docs/how-to/look-inside-packets.md); ports of a host are numbered from 0 |
| `summary.json` | one object per run: counts, goodput, completion, wall time |

A value for an event that did not happen is null: no number represents "none". Percentiles and means of completion times
are over the flows that finished. The files' metadata have the columns' texts (`description`, `unit`, `null`). A table
without rows is not written.

"""

_LONG_TABLES = f"""## Long tables

`windows`, `algorithm_state`, `queues`, `events`, `rtts` and the samples of programs (`program_counters`,
`program_registers`, `program_meters`, `program_tables`) stream: during a run, every {ROW_GROUP_ROWS:,} rows are
written to disk, and memory holds no more of them. Files have row groups of that many rows and the same bytes, whether a
table streamed or not. An interrupted or killed run leaves none of them. `record.max_rows` (5 million) limits the rows
of each table; `rows_left_out` counts the rest.

All other tables stay in memory until the end, and so do all tables of runs with `--live` or on other machines (`--on`),
and of networks in Python (`p4cc.Network`). Figures, reports and `p4cc.load` read whole tables.

"""

_PERCENTILES = f"""## Percentiles

The rule: {DEFINITION}. {FEW[0].upper()}{FEW[1:]}.
The number of values is in `summary.json` as `fct_count`, `slowdown_count`, `rtt_count`, `latency_count` (for a traffic
label: `LABEL.completed`), and in tables in the column that the text names. `few_values` of a run lists its percentiles of
few values; the printed table and tables of `p4cc reproduce` mark them with `*`. Columns of the flows that begin in a span
of `measure` end in its name (`fct_p99_ns_NAME`).

## Slowdown

{SLOWDOWN}

## Figures

- The label of a percentile has its number of values (`n = 4 to 40`: over the points). With few values its mark is
  hollow, its bar hatched, or it has a `*`.
- With `interval: t` or `bootstrap` in the scenario, middles are means and bands are 95 % confidence intervals, named below
  the figure; otherwise bands are the 5-95 % range of the seeds (docs/algorithms/metrics.md#intervals).
- `k/n` at a median means that k of n runs have a value, and the median is over these. Distributions count unfinished
  flows, so they end below 1.
- Goodput is payload acknowledged in a bin. If it exceeds the line rate of the hosts, the figure shows that rate and states
  the reason: {HOLE.partition(": ")[2]}.
- A note below the figure lists omissions: time after `until_ns`, flows after the 32nd, points of a sweep after the first
  (figures over time show only one), zeros on a logarithmic axis, slowdowns below 1 that count as 1.
- Heat maps show swept values in their unit. With `limit_over` a cell is the largest value of that column up to which the
  median over the seeds of `value` is 0, or with `at_least` reaches that: 2500 is "2500 flows/s, and all rates below, with
  99 % of the deadlines met" for `at_least: 0.99`. A cell is 0 if the first value of the column fails.
- A panel without values states the reason.
"""

_COMPARE = f"""## Two folders

`p4cc compare A B` lists the settings that differ between two folders, by the dotted names that `--set` takes (also
version, commit, engine, hashes of input files, installed K and K_dc), and each number of `summary.json` per variant and
point of the sweep, with its median and range over the seeds. `--json` prints all of it. `wall_s` is omitted, because it
depends on the machine.

The rule: {RULE}: 0.8 % with five seeds on each side, 10 % with three.

| verdict | condition |
|---|---|
| `same` | every seed has the same value on both sides, or all values are equal |
| `within` | the ranges overlap |
| `beyond` | they do not |
| `one seed` | a side has one seed: no spread to compare with |
| `some seeds` | not every seed has a value, such as a completion time: the others are not a fair sample |
| `only in A`, `only in B` | no seed of the other has a value, or its runs do not record it |

The exit code is 1 if a metric is `beyond` or on one side only, and 2 if nothing can be compared. Runs are compared if both
folders have the variant at the same point; `--match X=Y` compares A's variant X with B's Y.
"""

_SPREAD = re.compile(r"_(?:low|high|seeds)$")
_SPREAD_TEXT = " `NAME_low`, `NAME_high`: smallest, largest value over the seeds; `NAME_seeds`: seeds with a value."

_KEYS = """## Tables

In front of each row of each table:

"""


def markdown() -> str:
    """The page."""
    return (
        "\n".join([_HEAD.rstrip("\n") + "\n", _LONG_TABLES + _PERCENTILES, _COMPARE, _KEYS])
        + _columns(KEYS)
        + "\n"
        + "\n".join(_section(one) for one in TABLES)
    )


def _section(table: Table) -> str:
    needs = "" if table.when == "always" else f" Needs: {table.when}."
    names = {column.name for column in table.columns}
    shown = tuple(one for one in table.columns if _SPREAD.sub("", one.name) not in names - {one.name})
    spread = _SPREAD_TEXT if len(shown) < len(table.columns) else ""
    return f"## {table.name}\n\nOne row per {table.row}.{needs}{spread}\n\n{_columns(shown)}"


def _columns(columns: tuple[Column, ...]) -> str:
    lines = ["| column | unit | what it holds | null |", "|---|---|---|---|"]
    lines += [f"| `{one.name}` | {one.unit} | {one.text} | {one.null} |" for one in columns]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(markdown())
