"""A lab's objects on this machine, recorded before they are created, so that the next lab can clean up.

Invariants: one lab at a time (a lock that ends with its holder, however that ends); a file per lab names its token and
interfaces; every process of a lab has the token in its environment; every interface bears it as its alias. Only what
bears the token of a lab whose holder has gone is ended or deleted.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import select
import signal
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from topos.mininet import ALIAS, PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Sequence

VARIABLE = "P4CC_LAB"
"""Of the environment: the token of the lab that a process belongs to."""
FOLDER_VARIABLE = "P4CC_LAB_STATE"
"""Of the environment: where labs are written down, if not in the usual place."""

_FOLDER = Path("/run/p4cc-lab")
_NET = Path("/sys/class/net")
_GRACE_S = 3.0


@dataclass(frozen=True)
class LabRecord:
    """The record of a lab."""

    token: str
    owner_pid: int
    interfaces: list[str]
    """Names in the root namespace."""
    folder: str
    """Of logs and results."""


@dataclass(frozen=True)
class Cleaned:
    """The remains of labs."""

    labs: int
    processes: int
    interfaces: int

    def __bool__(self) -> bool:
        return bool(self.labs or self.processes or self.interfaces)


def state_folder() -> Path:
    """Where labs are written down."""
    return Path(os.environ.get(FOLDER_VARIABLE) or _FOLDER)


@contextlib.contextmanager
def only_lab() -> Generator[Path]:
    """Holds the lock of labs and gives their folder; raises UserError while another lab holds it."""
    folder = state_folder()
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        lock = (folder / "lock").open("a+", encoding="ascii")
    except OSError as error:
        raise UserError(f"cannot be written: {error.strerror}", place=str(folder), remedy="run labs as root") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise UserError(
                f"a lab is running (process {lock.read().strip() or 'unknown'})",
                place="p4cc lab",
                remedy="leave its command line, or end that process; then this works",
            ) from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield folder


@contextlib.contextmanager
def record(folder: Path, interfaces: Sequence[str], results: Path) -> Generator[LabRecord]:
    """A new lab, written down; at the end all that it made is removed, and then the file."""
    for name in interfaces:
        if (_NET / name).exists():
            raise UserError(
                f"there is an interface {name}, which no lab of this machine's records made",
                place="p4cc lab",
                remedy=f"ip link delete {name}, if nobody needs it",
            )
    made = LabRecord(secrets.token_hex(8), os.getpid(), list(interfaces), str(results))
    path = folder / f"{made.token}.json"
    partial = path.with_suffix(".tmp")
    partial.write_text(json.dumps(asdict(made)), encoding="utf-8")
    partial.replace(path)
    os.environ[VARIABLE] = made.token
    try:
        yield made
    finally:
        os.environ.pop(VARIABLE, None)
        _remove(made)
        path.unlink(missing_ok=True)


def clean_leftovers(folder: Path) -> Cleaned:
    """Remove what labs left whose holder has gone; the caller holds the lock, so that all of them have."""
    labs = processes = interfaces = 0
    for path in sorted(folder.glob("*.json")):
        left = _read(path)
        if left is not None:
            ended, deleted = _remove(left)
            labs, processes, interfaces = labs + 1, processes + ended, interfaces + deleted
        path.unlink(missing_ok=True)
    return Cleaned(labs, processes, interfaces)


def _read(path: Path) -> LabRecord | None:
    """A lab's file; None for one that is not, which is then nobody's."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        left = LabRecord(**plain)
    except (OSError, ValueError, TypeError):
        return None
    named = [name for name in map(str, left.interfaces) if name.startswith(PREFIX)]
    return LabRecord(str(left.token), left.owner_pid, named, left.folder) if len(str(left.token)) >= 16 else None


def _remove(lab: LabRecord) -> tuple[int, int]:
    """End the processes and delete the interfaces of a lab; how many there were of each."""
    ended = end_processes(bears(lab.token))
    deleted = 0
    for name in lab.interfaces:
        if _is_ours(name, lab.token):
            done = subprocess.run(["ip", "link", "delete", "dev", name], capture_output=True, check=False)
            deleted += done.returncode == 0
    return ended, deleted


def _is_ours(name: str, token: str) -> bool:
    """Whether the interface is this lab's: by its alias, or, made a moment ago, without any."""
    try:
        alias = (_NET / name / "ifalias").read_text(encoding="utf-8").strip()
    except OSError:
        return False
    return alias in (f"{ALIAS}:{token}", "")


def bears(token: str) -> Callable[[Path], bool]:
    """Whether a process, by its folder in /proc, has the token in its environment."""
    wanted = f"{VARIABLE}={token}".encode()
    return lambda process: wanted in _environment(process)


def in_sessions(leaders: Collection[int]) -> Callable[[Path], bool]:
    """Whether a process is of a session that one of these has begun, whatever has become of its environment.

    A number stays in use while a process of its session lives; the caller has started them all.
    """
    return lambda process: _session(process) in leaders


def processes(is_one: Callable[[Path], bool]) -> list[int]:
    """Processes for which this holds, the calling one excepted."""
    numbered = (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return sorted(pid for entry in numbered if (pid := int(entry.name)) != os.getpid() and is_one(entry))


def end_processes(is_one: Callable[[Path], bool]) -> int:
    """Ask processes to end, and after a while make them; how many there were."""
    signalled_pids: set[int] = set()
    for sign, patience_s in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, _GRACE_S)):
        deadline = time.monotonic() + patience_s
        while left := processes(is_one):
            for pid in left:
                if pid not in signalled_pids or sign is signal.SIGKILL:
                    _signal(pid, is_one, sign)
            signalled_pids.update(left)
            _reap(left)
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
    return len(signalled_pids)


def _signal(pid: int, is_one: Callable[[Path], bool], sign: signal.Signals) -> None:
    """Signal a process for which this holds, and never another that has its number now."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return
    try:
        wanted = is_one(Path(f"/proc/{pid}"))
        # Readable: it has ended, and what was read may be of another.
        alive = not select.select([handle], [], [], 0)[0]
        if wanted and alive:
            signal.pidfd_send_signal(handle, sign)
    except OSError:
        pass
    finally:
        os.close(handle)


def _reap(pids: Iterable[int]) -> None:
    """Collect those that are our own children and have ended."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError, OSError):
            os.waitpid(pid, os.WNOHANG)


def _environment(process: Path) -> list[bytes]:
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _session(process: Path) -> int | None:
    """The session of a process that lives; zombies have none."""
    try:
        # Behind the command's name in parentheses: state, parent, group, session.
        state, _, _, session = (process / "stat").read_text(errors="replace").rpartition(")")[2].split()[:4]
    except (OSError, ValueError):
        return None
    return None if state in "ZX" else int(session)
