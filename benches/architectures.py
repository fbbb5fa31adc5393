"""A packet of `ecn_dual` through the whole switch, queue included: v1model's program, and Tofino's beside it."""

from __future__ import annotations

import json
import subprocess

from benches.row import Row, program_on_path
from benches.table_writes import ROOT


def architecture_rows() -> list[Row]:
    """Times of both in one process, and their ratio; native code."""
    command = [
        program_on_path("cargo"),
        "bench",
        "--locked",
        "--quiet",
        "--package",
        "p4cc-switch",
        "--bench",
        "architectures",
    ]
    command += ["--", "v1model_ns", "tna_ns"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    ratio = figures["tna_ns"] / figures["v1model_ns"]
    return [
        Row("ecn_dual.p4 through the whole switch, v1model, per packet", figures["v1model_ns"], "ns", None),
        Row("ecn_dual.p4 through the whole switch, TNA, per packet", figures["tna_ns"], "ns", None),
        Row("the time of TNA's packet over that of v1model's", ratio, "", 1.3),
    ]
