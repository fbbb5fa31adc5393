"""nginx, wrk, curl and a partition/aggregate client, unmodified, over senders in the kernel.

`sudo python -m experiments.linux.web` runs each variant of web.yaml in a lab and prints the table of README.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from p4cc.lab.lab import LabOptions
from p4cc.lab.plan import LabRequest, variants_of
from p4cc.lab.report import LabReport
from p4cc.lab.run import run_lab

HERE = Path(__file__).parent
SERVERS = {f"h{nth}": f"10.0.0.{nth}" for nth in range(1, 5)}
CLIENT = "aggregator"
PAGE_BYTES = 200_000
CONFIG = """
daemon off; worker_processes 1; user root; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
  access_log {folder}/access.log;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder};
  scgi_temp_path {folder};
  server {{ listen 80; root {root}; }}
}}
"""


@dataclass(frozen=True)
class Load:
    """How much the clients ask for."""

    wrk_s: int = 4
    curls: int = 20
    rounds: int = 30


def web_lines(out: Path, load: Load) -> tuple[str, ...]:
    """Lines for hosts: servers in the background, then the clients; writes the servers' files."""
    root = out / "root"
    root.mkdir(parents=True, exist_ok=True)
    (root / "page").write_bytes(b"x" * PAGE_BYTES)
    lines: list[str] = []
    for host in SERVERS:
        folder = out / host
        folder.mkdir(exist_ok=True)
        (folder / "nginx.conf").write_text(CONFIG.format(folder=folder, root=root), encoding="utf-8")
        lines.append(f"{host} nginx -e {folder}/error.log -c {folder}/nginx.conf & sleep 0.5")
    urls = [f"http://{address}/page" for address in SERVERS.values()]
    wrks = " ".join(f"wrk --latency -t1 -c2 -d{load.wrk_s}s --timeout 20s {url} &" for url in urls)
    lines.append(f"{CLIENT} {wrks} wait")
    # A fifth of a second apart, so that each connection meets an idle port.
    once = f"curl -s -o /dev/null -w '%{{http_code}} %{{size_download}} %{{time_total}}\\n' {urls[0]}; sleep 0.2"
    lines.append(f"{CLIENT} for n in $(seq {load.curls}); do {once}; done")
    client = f"{sys.executable} {HERE / 'partition.py'} {load.rounds} {out / 'rounds.csv'} {' '.join(urls)}"
    lines.append(f"{CLIENT} {client}")
    return tuple(lines)


def row(variant: str, report: LabReport, out: Path) -> dict[str, float | str]:
    """Numbers of one variant."""
    wrk, curl, _ = (command["output"] for command in report.commands[-3:])
    answers = [line.split() for line in curl.splitlines()]
    times = sorted(1e3 * float(seconds) for code, size, seconds in answers if (code, size) == ("200", str(PAGE_BYTES)))
    rounds = pl.read_csv(out / "rounds.csv")["time_ms"].sort()
    acks = pl.read_parquet(out / "lab" / "logs" / "run" / "acks.parquet")
    served = acks.filter(pl.col("local").str.ends_with(":80"))
    (port,) = [one for one in report.ports if one.peer == CLIENT]
    return {
        "variant": variant,
        "wrk (requests/s)": round(sum(float(text) for text in re.findall(r"Requests/sec: +([\d.]+)", wrk)), 1),
        "curl, median (ms)": round(times[len(times) // 2], 1),
        "rounds, median (ms)": round(rounds[len(rounds) // 2], 1),
        "rounds, largest (ms)": round(rounds[-1], 1),
        "marks K": port.level1_pkts,
        "marks K_dc": port.level2_pkts,
        "window, median (segments)": _median(served["cwnd_segments"], 1.0),
        "round-trip time, median (ms)": _median(served["srtt_ns"], 1e-6),
    }


def _median(values: pl.Series, scale: float) -> float:
    ordered = values.drop_nulls().cast(pl.Float64).sort().to_list()
    return round(scale * ordered[len(ordered) // 2], 1)


def measured(variant: str, out: Path, load: Load) -> tuple[LabReport, dict[str, float | str]]:
    """One variant in a lab."""
    request = LabRequest(str(HERE / "web.yaml"), variant=variant, hosts="linux")
    commands = web_lines(out, load)
    options = LabOptions(out / "lab", cli=False, commands=commands, agents=False, force=True, say=lambda _: None)
    report = run_lab(request, options)
    return report, row(variant, report, out)


def main() -> None:
    """Runs all variants and prints a table."""
    parser = argparse.ArgumentParser(description="web servers over senders in the kernel")
    parser.add_argument("--out", type=Path, default=Path("results/lab/linux-web"))
    out = parser.parse_args().out.resolve()
    rows = [measured(variant, out / variant, Load())[1] for variant in variants_of(LabRequest(str(HERE / "web.yaml")))]
    print("| " + " | ".join(rows[0]) + " |\n" + "|---" * len(rows[0]) + "|")
    for one in rows:
        print("| " + " | ".join(map(str, one.values())) + " |")


if __name__ == "__main__":
    main()
