"""What an instrumented engine runs, so that the compiler knows where packets go: `make wheel TUNED=1`.

maturin calls it in an environment of its own with a wheel whose module counts its branches, and compiles the wheel
that is kept by these counts (`pgo-command` in pyproject.toml). Senders by windows and by rates, their transports,
queues with and without PFC (IEEE 802.1Qbb), several switches, two threads: a function that runs in none of these is
taken for one that seldom runs. Needs nothing that is not Python's own.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

SCENARIOS: tuple[tuple[str, ...], ...] = (
    ("gst/incast",),
    ("gst/incast", "--set", "transport.packets=tcp"),
    ("hpcc/incast",),
    ("hpcc/ns3_compare", "--threads", "2"),
    ("load_balancing/permutation",),
    ("league/incast",),
    ("timely/four",),
    ("d3/fig16", "--variant", "D3"),
)
"""Arguments of `p4cc run`, of one seed each; together some 20 s on an idle machine."""
TIMEOUT_S = 900.0


def main() -> int:
    """The exit code of the first run that fails, with what it said."""
    program = Path(sys.executable).parent / "p4cc"
    with tempfile.TemporaryDirectory(prefix="p4cc-training-") as folder:
        for place, arguments in enumerate(SCENARIOS):
            words = [str(program), "run", *arguments, "--set", "seeds=[1]", "--jobs", "1", "--no-cache"]
            print(f"training: p4cc run {' '.join(arguments)} ({place + 1} of {len(SCENARIOS)})", flush=True)
            ended = subprocess.run(
                [*words, "--out", str(Path(folder, str(place)))],
                cwd=folder,
                check=False,
                timeout=TIMEOUT_S,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            if ended.returncode:
                print(ended.stdout, file=sys.stderr)
                return ended.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
