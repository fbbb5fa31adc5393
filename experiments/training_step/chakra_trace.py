"""Writes the training step of llama7b.txt as execution traces of Chakra, with what ASTRA-sim needs to run them.

    python experiments/training_step/chakra_trace.py 64 results/chakra64

The folder gets `step.0.et`, `step.1.et`, ..., one for each GPU, `groups.json` (communicator groups), `network.yml`,
`system.json` and `memory.json`. `--in-turn gpu` lets each all-reduce of a GPU wait for the one before, as ASTRA-sim
does, `--in-turn group` each of a group alone; `--alone tensor` or `data` writes one all-reduce instead of the step.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

TENSOR = 8
"""GPUs of a server, which share a layer."""
COMPUTE, COLLECTIVE = 4, 7
"""Types of nodes (et_def.proto)."""
ALL_REDUCE = 0
GIB = 1 << 30
"""Bytes of a GB in the networks of ASTRA-sim's analytical back end."""
NVSWITCH_BYTES_PER_S, RAIL_BYTES_PER_S = 450e9, 50e9


def varint(value: int) -> bytes:
    """A number as protobuf writes it: seven bits a byte, the lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field: int, value: int) -> bytes:
    """A field with a number."""
    return varint(field << 3) + varint(value)


def text(field: int, value: bytes) -> bytes:
    """A field with a length."""
    return varint(field << 3 | 2) + varint(len(value)) + value


def message(body: bytes) -> bytes:
    """A message after its length."""
    return varint(len(body)) + body


class Trace:
    """The nodes of one GPU."""

    def __init__(self, rank: int, ranks: int) -> None:
        servers = ranks // TENSOR
        # Groups are numbered from 1: servers, then rails.
        self._groups = {"tensor": 1 + rank // TENSOR, "data": 1 + servers + rank % TENSOR}
        self._nodes = 0
        self.data = message(text(1, b"0.0.4"))

    def compute(self, name: str, duration_ns: int, after: list[int]) -> int:
        """A node that computes; the format has whole microseconds."""
        return self._add(name, COMPUTE, number(7, (duration_ns + 500) // 1_000), after)

    def all_reduce(self, name: str, domain: str, size_bytes: int, after: list[int]) -> int:
        """A node of an all-reduce with the GPUs of the server (`tensor`) or of the rail (`data`)."""
        values = {
            "comm_type": number(9, ALL_REDUCE),
            "comm_size": number(9, size_bytes),
            "pg_name": text(29, str(self._groups[domain]).encode()),
        }
        attributes = b"".join(text(10, text(1, key.encode()) + value) for key, value in values.items())
        return self._add(name, COLLECTIVE, attributes, after)

    def _add(self, name: str, kind: int, rest: bytes, after: list[int]) -> int:
        self._nodes += 1
        body = number(1, self._nodes) + text(2, name.encode()) + number(3, kind)
        if after:
            body += text(5, b"".join(map(varint, after)))
        is_cpu_op = text(10, text(1, b"is_cpu_op") + number(27, 0))
        self.data += message(body + rest + is_cpu_op)
        return self._nodes


def step(trace: Trace, layers: list[list[str]], in_turn: str | None) -> None:
    """Layers forward, then backward; gradients of weights are on their way while earlier layers compute."""
    last: list[int] = []
    for words in layers:
        last = [trace.compute(f"{words[0]}.forward.compute", int(words[2]), last)]
        last = [trace.all_reduce(f"{words[0]}.forward", "tensor", int(words[4]), last)]
    gradients: list[int] = []
    for words in reversed(layers):
        last = [trace.compute(f"{words[0]}.input.compute", int(words[5]), last)]
        before = last + gradients if in_turn == "gpu" else last
        last = [trace.all_reduce(f"{words[0]}.input", "tensor", int(words[7]), before)]
        last = [trace.compute(f"{words[0]}.weight.compute", int(words[8]), last)]
        before = last + gradients if in_turn else last
        gradients = [trace.all_reduce(f"{words[0]}.weight", "data", int(words[10]), before)]


def write(folder: Path, ranks: int, layers: list[list[str]], in_turn: str | None, alone: str | None) -> None:
    """The traces and the files of ASTRA-sim."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(ranks):
        trace = Trace(rank, ranks)
        if alone:
            trace.all_reduce("all_reduce", alone, int(layers[0][4]), [])
        else:
            step(trace, layers, in_turn)
        (folder / f"step.{rank}.et").write_bytes(trace.data)
    servers = ranks // TENSOR
    groups = [list(range(first, first + TENSOR)) for first in range(0, ranks, TENSOR)]
    groups += [list(range(first, ranks, TENSOR)) for first in range(TENSOR)]
    _json(folder / "groups.json", {str(name): group for name, group in enumerate(groups, start=1)})
    rates = [rate / GIB for rate in (NVSWITCH_BYTES_PER_S, RAIL_BYTES_PER_S)]
    (folder / "network.yml").write_text(
        f"topology: [ Switch, Switch ]\nnpus_count: [ {TENSOR}, {servers} ]\n"
        # The delay of one link; a switch has two on the way.
        f"bandwidth: [ {rates[0]:.6f}, {rates[1]:.6f} ]\nlatency: [ 25, 100 ]\n",
        encoding="utf-8",
    )
    ring = {f"{kind}-implementation": ["ring", "ring"] for kind in ("all-reduce", "all-gather", "reduce-scatter")}
    system = {
        "scheduling-policy": "LIFO",
        "endpoint-delay": 10,
        "active-chunks-per-dimension": 1,
        "preferred-dataset-splits": 1,
        **ring,
        "all-to-all-implementation": ["ring", "ring"],
        "collective-optimization": "localBWAware",
        # So fast that adding numbers takes no time, as in p4cc.
        "local-mem-bw": 1_000_000_000,
        "boost-mode": 0,
        "roofline-enabled": 0,
        "peak-perf": 400,
    }
    _json(folder / "system.json", system)
    _json(folder / "memory.json", {"memory-type": "NO_MEMORY_EXPANSION"})


def _json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value) + "\n", encoding="utf-8")


def main() -> None:
    """Reads the workload's sizes next to this file."""
    parser = argparse.ArgumentParser(description="Writes a training step as execution traces of Chakra.")
    parser.add_argument("ranks", type=int, help="number of GPUs, a multiple of 8")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--layers", type=int, default=2, help="layers of the workload, the first ones")
    parser.add_argument("--in-turn", choices=("gpu", "group"), help="whose all-reduces run one at a time")
    parser.add_argument("--alone", choices=("tensor", "data"), help="one all-reduce instead of the step")
    given = parser.parse_args()
    if given.ranks < 2 * TENSOR or given.ranks % TENSOR:
        parser.error(f"{given.ranks} GPUs are not two or more servers of {TENSOR}")
    lines = Path(__file__).with_name("llama7b.txt").read_text(encoding="utf-8").splitlines()
    layers = [line.split() for line in lines[2:]]
    if not 1 <= given.layers <= len(layers):
        parser.error(f"--layers {given.layers} is not between 1 and {len(layers)}, the layers of the workload")
    write(given.folder, given.ranks, layers[: given.layers], given.in_turn, given.alone)


if __name__ == "__main__":
    main()
