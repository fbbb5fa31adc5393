"""docs/reference/results.md, from the descriptions of tables; `python -m p4cc.results_page` prints it."""

from __future__ import annotations

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
| `pcap/CASE-seed-N/NODE-PORT.pcapng` | with `record.pcap`: what passed an end of a link (docs/how-to/look-inside-packets.md); the port of a host is 0 |
| `summary.json` | one object per run: counts, goodput, completion, wall time |

What did not happen is null: no number stands for "none". Percentiles and means of completion times are over the flows
that finished. Columns carry these texts in the files'
metadata (`description`, `unit`, `null`). A table without rows is not written.

"""

_LONG_TABLES = f"""## Long tables

`windows`, `algorithm_state`, `queues`, `events`, `rtts` and the samples of programs (`program_counters`,
`program_registers`, `program_meters`, `program_tables`) stream: while a run goes on, each {ROW_GROUP_ROWS:,} rows are
written to the disk of the results, and memory holds no more of them. Files have row groups of that many rows, whether a
table streamed or not, and the same bytes. A run that is interrupted or killed leaves nothing of them.
`record.max_rows` (5 million) bounds the rows of each table; `rows_left_out` counts the rest.

In memory to the end are all other tables, and all tables of runs that are watched (`--live`) or made on other machines
(`--on`), and of networks in Python (`p4cc.Network`). Figures, reports and `p4cc.load` read a table whole.

"""

_PERCENTILES = f"""## Percentiles

The rule: {DEFINITION}. {FEW[0].upper()}{FEW[1:]}.
The count stands beside: in `summary.json` as `fct_count`, `slowdown_count`, `rtt_count`, `latency_count` (of a label of
traffic: `LABEL.completed`), in tables as the text of the column says. `few_values` of a run names its percentiles of few
values; the printed table marks them with `*`, and so do tables of `p4cc reproduce`. `NAME` of a span of `measure` ends the
columns of the flows that begin in it (`fct_p99_ns_NAME`).

## Slowdown

{SLOWDOWN}

## Figures

- A percentile has the number of values behind it in its label (`n = 4 to 40`: over the points); of few values it is
  hollow, a hatched bar, or has a `*`.
- With `interval: t` or `bootstrap` of a scenario middles are means and bands are 95 % confidence intervals, named below the
  figure; without it bands are the 5-95 % range of the seeds (docs/algorithms/metrics.md#intervals).
- `k/n` at a median: k of n runs have a value, the median is theirs. Distributions count what did not finish, so they
  end below 1.
- Goodput is payload acknowledged in a bin. Where it exceeds the rate of the hosts' lines, the figure shows that rate and
  says why: {HOLE.partition(": ")[2]}.
- What a figure leaves out it says below: time after `until_ns`, flows after the 32nd, points of a sweep after the first
  (over time there is room for one), zeros on a logarithmic axis, slowdowns below 1 that count as 1.
- A heat map says swept values in their unit. With `limit_over` a cell is the largest value of that column up to which the
  median over the seeds has none of `value`, or with `at_least` as much of it: 2500 is "2500 flows/s, and all rates below,
  with 99 % of the deadlines met" for `at_least: 0.99`. A cell is 0 where the first value of the column fails.
- A panel without values says why.
"""

_COMPARE = f"""## Two folders

`p4cc compare A B` sets two folders beside each other: the settings that differ, by the dotted names that `--set` takes
(version, commit, engine and hashes of input files too, K and K_dc as installed), and each number of `summary.json` per
variant and point of the sweep, with its median and range over the seeds. `--json` prints all of it; `wall_s` is left
out, as it is the machine's.

The rule: {RULE}. So it is for 0.8 % of metrics with five seeds on each side, and for 10 % with three.

| the seeds say | when |
|---|---|
| `same` | every seed has the same value on both sides, or all values are one |
| `within` | the ranges overlap |
| `beyond` | they do not |
| `one seed` | a side has one seed: no spread to compare with |
| `some seeds` | not every seed has a value, such as a completion time: those that have are no fair sample |
| `only in A`, `only in B` | no seed of the other has a value, or its runs do not record it |

Exit code 1 where a metric is `beyond` or on one side only, 2 where nothing can be compared. Runs are compared where both have
the variant at the same point; `--match X=Y` compares A's variant X with B's Y.
"""

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
    return f"## {table.name}\n\nOne row per {table.row}.{needs}\n\n{_columns(table.columns)}"


def _columns(columns: tuple[Column, ...]) -> str:
    lines = ["| column | unit | what it holds | null |", "|---|---|---|---|"]
    lines += [f"| `{one.name}` | {one.unit} | {one.text} | {one.null} |" for one in columns]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(markdown())
