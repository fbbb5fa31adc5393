"""p4cc's senders in the kernel for a lab's TCP: which they are, loading them with `p4cc-hosts`, what they counted.

Loaded under names and in a control group of the lab's own, and unloaded with it (docs/how-to/linux-hosts.md).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError
from p4cc.lab.ack_records import AckRecords, Watch
from p4cc.lab.clock import monotonic_at

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

SENDERS = ("reno_ecn", "dctcp", "d2tcp", "l2tcp")
"""Congestion avoidances that the kernel can load (host_agents/linux/src/params.rs)."""
SLOW_STARTS = ("standard", "gst", "rfb_ss", "limited", "smooth", "p_start", "hystart")
TWO_LEVELS = frozenset({"gst"})
"""Slow starts that react to the lower mark."""
PINS = Path("/sys/fs/bpf")
PREFIX = "p4cc-lab-"
_BUILT = Path(__file__).resolve().parents[2] / "target" / "linux-hosts" / "release" / "p4cc-hosts"
_MOUNTS = Path("/proc/mounts")
_PATIENCE_S = 120.0
"""Loading verifies some thousand instructions; a busy machine takes its time."""


def command() -> str | None:
    """`p4cc-hosts` on PATH, or as `make linux-hosts` built it; None where it is not."""
    return shutil.which("p4cc-hosts") or (str(_BUILT) if _BUILT.is_file() else None)


@cache
def lacks() -> tuple[str, ...]:
    """Why this machine cannot load senders; empty where it can."""
    program = command()
    if program is None:
        return ("p4cc-hosts is not built (make linux-hosts)",)
    done = _run(program, "status")
    mark = "cannot load: "
    found = [line.removeprefix(mark) for line in done.stdout.splitlines() if line.startswith(mark)]
    if done.returncode != 0:
        found.append(done.stderr.strip())
    return tuple(found)


def _run(*line: str) -> subprocess.CompletedProcess[str]:
    """Runs `p4cc-hosts`; one that does not end in time is killed, and counts as failed."""
    try:
        return subprocess.run(line, capture_output=True, text=True, check=False, timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(line, -1, "", f"{' '.join(line)} did not end in {_PATIENCE_S:.0f} s")


@dataclass
class LinuxSenders:
    """Senders that are loaded for one lab."""

    program: str
    pins: Path
    cgroup: Path
    place: str
    watched: bool = False
    """Whether senders record each ACK."""
    _watch: Watch | None = None
    _names: dict[str, str] = field(default_factory=dict[str, str])

    def load(self, sender: Mapping[str, Any]) -> str:
        """The kernel's name of a sender of the engine's description, loaded at the first call; raises UserError."""
        window, slow_start = sender["cc"]["congestion_avoidance"], sender["cc"]["slow_start"]
        words = ["--sender", window["name"], "--slow-start", slow_start["name"], "--iw", str(sender["iw"])]
        if (ssthresh := sender.get("ssthresh0")) is not None:
            words += ["--ssthresh", str(ssthresh)]
        for algorithm in (window, slow_start):
            for name, value in algorithm.items():
                if name != "name":
                    words += ["--set", f"{name}={value}"]
        key = " ".join(words)
        if key not in self._names:
            name = f"p4cc{os.getpid()}_{len(self._names)}"
            watch = ["--watch"] if self.watched else []
            self._call("load", "--name", name, "--cgroup", str(self.cgroup), *watch, *words)
            self._names[key] = name
        return self._names[key]

    def inside(self, words: Sequence[str]) -> list[str]:
        """A command whose sockets use the option that reports marks."""
        return ["sh", "-c", f'echo $$ >{self.cgroup}/cgroup.procs && exec "$@"', "sh", *words]

    def watch(self, file: Path) -> None:
        """Writes records from now on, if loaded senders make them; raises UserError."""
        if self.watched and self._names:
            self._watch = Watch([self.program, "--pins", str(self.pins)], file, self.place)

    def records(self, flows: Mapping[tuple[str, str], int] | None, start_ns: int) -> AckRecords:
        """Records since then of flows, by the ends of their connections, or of all; `start_ns` is since 1970."""
        watch, self._watch = self._watch, None
        return AckRecords(()) if watch is None else watch.read(flows, monotonic_at(start_ns))

    def counted(self) -> dict[str, dict[str, Any]]:
        """What receivers counted, by the address and port of the sender's end."""
        return {str(one["remote"]): one for one in self.closed() if one["received"]}

    def closed(self) -> list[dict[str, Any]]:
        """What each end of the last connections counted."""
        return json.loads(self._call("stats"))["closed"] if self._names else []

    def negotiated(self) -> int:
        """Ends of connections that had the option."""
        return int(json.loads(self._call("stats"))["option"].get("negotiated", 0)) if self._names else 0

    def unload(self) -> None:
        """Removes all of it; sockets that are left change to the system's default."""
        self._names.clear()
        if self._watch is not None:
            self._watch.end()
        try:
            # A load that was interrupted left pins without a name here.
            if self.pins.exists():
                self._call("unload")
        finally:
            with suppress(OSError):
                self.cgroup.rmdir()

    def _call(self, *words: str) -> str:
        done = _run(self.program, "--pins", str(self.pins), *words)
        if done.returncode != 0:
            raise UserError(done.stderr.strip(), place=self.place, remedy="see p4cc-hosts status")
        return done.stdout


@contextmanager
def linux_senders(place: str, *, watched: bool = False) -> Generator[LinuxSenders]:
    """A place for a lab's senders, removed whole at its end; raises UserError where the machine has none."""
    program = command()
    if reasons := lacks():
        raise UserError(f"the kernel cannot load p4cc's senders: {'; '.join(reasons)}", place=place, remedy=REMEDY)
    if program is None:
        raise ValueError("a machine without the command lacks it")
    # Only one lab runs at a time, so leftovers belong to killed labs.
    clean()
    name = f"{PREFIX}{os.getpid()}"
    made = LinuxSenders(program, PINS / name, _cgroups(place) / name, place, watched)
    made.cgroup.mkdir(exist_ok=True)
    try:
        yield made
    finally:
        made.unload()


REMEDY = "see docs/how-to/linux-hosts.md; or --hosts agents, or --set transport.packets=udp, or p4cc run"


def _cgroups(place: str) -> Path:
    """Where control groups of version 2 are mounted; raises UserError."""
    for line in _MOUNTS.read_text(encoding="utf-8").splitlines():
        _, folder, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(folder)
    remedy = "mount -t cgroup2 none /sys/fs/cgroup"
    raise UserError("control groups of version 2 are not mounted", place=place, remedy=remedy)


def clean() -> int:
    """Unloads what killed labs left in the kernel, with their control groups; returns the number of labs."""
    program, left = command(), {path.name for path in PINS.glob(f"{PREFIX}*")}
    groups: list[Path] = []
    with suppress(UserError):
        groups = sorted(_cgroups("").glob(f"{PREFIX}*"))
    cleaned = {path.name for path in groups}
    if program is not None:
        cleaned |= {name for name in left if _run(program, "--pins", str(PINS / name), "unload").returncode == 0}
    for group in groups:
        with suppress(OSError):
            group.rmdir()
    return len(cleaned)
