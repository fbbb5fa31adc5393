"""Single mutations of kept runs: whatever happens to a file, no other run comes out of it, and no traceback.

`python -m tests.p4cc.running.mutations 20000` tries so many on a file of the cache, on the record of a call, and on an
object of a store. A test tries some hundreds (`test_mutations.py`).
"""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from p4cc.cluster.store import RunStore
from p4cc.errors import UserError
from p4cc.running.cache import RunCache, run_keys
from p4cc.running.cache_files import path_of
from p4cc.running.call_cache import SEAL
from p4cc.running.seal import BrokenSealError
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from collections.abc import Callable

    from p4cc.running.cached_run import SeedRun

KEY = next(iter(run_keys(["a plan"], [1]).values()))
WRONG = "wrong"
"""What must not come out."""


def mutated(data: bytes, draw: random.Random) -> bytes:
    """The file with one thing changed: a bit, a byte, a stretch cut out, put in or moved, or its end."""
    at, length = draw.randrange(len(data)), draw.randrange(1, 65)
    match draw.choice(("bit", "byte", "cut", "end", "swap", "insert", "zeros", "double")):
        case "bit":
            return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
        case "byte":
            return data[:at] + draw.randbytes(1) + data[at + 1 :]
        case "cut":
            return data[:at] + data[at + length :]
        case "end":
            return data[:at]
        case "swap":
            other = draw.randrange(len(data))
            first, second = min(at, other), max(at, other)
            length = min(length, second - first, len(data) - second)
            one, two = data[first : first + length], data[second : second + length]
            return data[:first] + two + data[first + length : second] + one + data[second + length :]
        case "insert":
            return data[:at] + draw.randbytes(length) + data[at:]
        case "zeros":
            return data[:at] + bytes(min(length, len(data) - at)) + data[at + length :]
        case _:
            return data[:at] + data[at : at + length] + data[at:]


def is_same(one: SeedRun, other: SeedRun) -> bool:
    """Whether two runs have the same summary, tables and captures."""
    return (
        (one.seed, one.summary, one.captures) == (other.seed, other.summary, other.captures)
        and list(one.tables) == list(other.tables)
        and all(table.equals(other.tables[name]) for name, table in one.tables.items())
        and not one.long_tables
    )


def made(folder: Path) -> tuple[Path, SeedRun]:
    """A cache with one run that has a capture, and that run."""
    run(folder, scenario(record={"pcap": ["s1:1"]}, stop_ns=2_000_000))
    cache = folder / ".p4cc-cache"
    (file,) = cache.glob("??/*.zip")
    kept = RunCache(cache).load(file.parent.name + file.stem)
    if kept is None:
        raise ValueError("a run that was just made is not there")
    return cache, kept


def tried(count: int, seed: int) -> dict[str, Counter[str]]:
    """What came of so many mutations of each kind of file; raises what a reader raises that it must not."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _, kept = made(folder)
        store = RunStore(f"file://{folder}/store")
        store.store(KEY, kept)
        in_store = folder / "store" / "runs" / KEY[:2] / KEY[2:]
        RunCache(folder / "cache").store(KEY, kept)
        in_cache = path_of(folder / "cache", KEY)
        record = folder / "record.call"
        record.write_bytes(SEAL.sealed(KEY, b'{"rows": [1, 2, 3]}' * 20))

        def from_cache() -> str:
            cache = RunCache(folder / "cache")
            found = cache.load(KEY)
            if found is None:
                return "made again" if cache.damaged and not in_cache.exists() else WRONG
            return "as it was" if is_same(found, kept) else WRONG

        def from_store() -> str:
            try:
                found = store.load(KEY)
            except UserError as error:
                return "refused" if error.place and error.remedy else WRONG
            return "as it was" if found is not None and is_same(found, kept) else WRONG

        def from_record() -> str:
            try:
                with record.open("rb") as file:
                    SEAL.check(KEY, file)
                    content = file.read()
            except BrokenSealError:
                return "made again"
            return "as it was" if content == b'{"rows": [1, 2, 3]}' * 20 else WRONG

        kinds = {"cache": (in_cache, from_cache), "store": (in_store, from_store), "call": (record, from_record)}
        return {name: _tried(path, read, count, f"{seed}/{name}") for name, (path, read) in kinds.items()}


def _tried(path: Path, read: Callable[[], str], count: int, stream: str) -> Counter[str]:
    draw, whole = random.Random(stream), path.read_bytes()
    found: Counter[str] = Counter()
    for _ in range(count):
        data = mutated(whole, draw)
        path.write_bytes(data)
        outcome = read()
        found[outcome if (outcome == "as it was") == (data == whole) else WRONG] += 1
    return found


if __name__ == "__main__":
    for name, outcomes in tried(int(sys.argv[1]), 1).items():
        sys.stdout.write(f"{name}: {dict(outcomes)}\n")
