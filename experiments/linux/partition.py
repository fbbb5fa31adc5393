"""A partition/aggregate client: asks every server at once, and waits for the last answer.

`python partition.py ROUNDS TABLE.csv URL...` writes a row for each round: number, time, bytes of all answers.
"""

from __future__ import annotations

import csv
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import urlopen


def fetch(url: str) -> int:
    """Bytes of one answer, over a new connection."""
    with urlopen(url, timeout=60) as answer:  # noqa: S310 - http by the caller
        return len(answer.read())


def main(rounds: str, table: str, *urls: str) -> None:
    """Writes the table and prints the quantiles."""
    times_ms: list[float] = []
    with ThreadPoolExecutor(len(urls)) as pool, Path(table).open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("round", "time_ms", "bytes"))
        for number in range(int(rounds)):
            begun = time.monotonic()
            total = sum(pool.map(fetch, urls))
            times_ms.append((time.monotonic() - begun) * 1e3)
            rows.writerow((number, round(times_ms[-1], 3), total))
    times_ms.sort()
    places = {"p50": 0.5, "p90": 0.9, "max": 1.0}
    print(
        *(f"{name} {times_ms[round(share * (len(times_ms) - 1))]:.1f} ms" for name, share in places.items()), sep=", "
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
