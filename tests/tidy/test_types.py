"""Where the type checker is told to look away: one list with reasons, and no other place."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCTION = ("p4cc", "topos", "controller", "ptf_tests", "engine", "benches")

ARROW = "pyarrow's and polars' stubs leave some calls partly untyped"
PLOTS = "matplotlib's stubs leave **kwargs untyped (p4cc/figures: pyproject.toml)"
DISCRIMINATOR = "a subclass narrows the discriminator of a union"
UNTRUSTED = "values of untrusted files or callers are checked although their types exclude them"
INSIDE = "no public name gives it"

ALLOWED = {
    "benches/growth.py": PLOTS,
    "controller/codec.py": "older servers send a replica's port in the deprecated field",
    "controller/finsy_names.py": "replaces a private method of finsy",
    "p4cc/analysis/long_tables.py": ARROW,
    "p4cc/analysis/metrics.py": ARROW,
    "p4cc/analysis/tables.py": ARROW,
    "p4cc/api/network.py": UNTRUSTED,
    "p4cc/api/now.py": ARROW,
    "p4cc/api/plot.py": PLOTS,
    "p4cc/api/result.py": ARROW,
    "p4cc/api/tables.py": f"{ARROW}; the HTML of a frame has no public name",
    "p4cc/cluster/ray_cluster.py": "Ray is partly typed",
    "p4cc/cluster/store.py": "fsspec is not typed",
    "p4cc/control/switch.py": INSIDE,
    "p4cc/lab/agents.py": ARROW,
    "p4cc/planning/bfrt_rows.py": "a list of bool is one of int",
    "p4cc/planning/chakra.py": "protobuf's pool of messages is partly typed",
    "p4cc/planning/packet_expression.py": "scapy is not typed",
    "p4cc/running/cached_run.py": f"{ARROW}; {UNTRUSTED}",
    "p4cc/running/result_writer.py": ARROW,
    "p4cc/running/step_driver.py": UNTRUSTED,
    "p4cc/running/streams.py": ARROW,
    "p4cc/running/sweep.py": ARROW,
    "p4cc/running/table_stream.py": ARROW,
    "p4cc/scenario/base.py": "pydantic's way to type extra fields",
    "p4cc/scenario/closed_loop.py": DISCRIMINATOR,
    "p4cc/scenario/coflows.py": DISCRIMINATOR,
    "p4cc/scenario/collective.py": DISCRIMINATOR,
    "p4cc/scenario/control.py": UNTRUSTED,
    "p4cc/scenario/operations.py": DISCRIMINATOR,
    "p4cc/scenario/rpc.py": DISCRIMINATOR,
    "p4cc/scenario/topology.py": DISCRIMINATOR,
    "p4cc/scenario/traffic.py": DISCRIMINATOR,
    "p4cc/scenario/user_packets.py": DISCRIMINATOR,
    "p4cc/scenario/yaml.py": "ruamel.yaml is partly typed",
    "topos/mininet.py": "Mininet is not typed, and loaded at run time",
}
"""Files of production code that switch checks off, and why. Take a file out when it needs none any more."""


def switched_off() -> set[str]:
    """Files of production code with a comment that switches checks of types off."""
    git = shutil.which("git")
    assert git is not None, "git lists the files"
    words = [git, "ls-files", *(f"{folder}/*.py" for folder in PRODUCTION)]
    listing = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {
        name
        for name in listing.splitlines()
        if (ROOT / name).exists()
        and re.search(r"# (?:pyright|type): ?(?!strict)\w", (ROOT / name).read_text(encoding="utf-8"))
    }


def test_checks_are_switched_off_only_where_the_list_says_why() -> None:
    found = switched_off()
    assert not found - set(ALLOWED), "give it a type, or name the file and the reason in ALLOWED"
    assert not set(ALLOWED) - found, "these need no exception any more: take them out of ALLOWED"
