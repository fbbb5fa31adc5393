"""Clients that read, write and push, some of it meant to exhaust a `p4cc-switch`, for as long as one likes.

`python -m tests.switchd.soak --minutes 10` starts a switch without interfaces and prints how much memory it took, how
long another client waited for its answers, and how long the switch took to end. The test suite runs a few seconds of
the same. Each client has a role of its own, so that all may push.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import Any, cast

import grpc
from finsy.proto import U128, p4r

from tests.p4runtime.session import Program, Set
from tests.switchd.namespaces import Switch, listening, switch_program, wait_for

DEVICE = 1
#: Bounds of the long run.
MAX_RSS_KB, MAX_WAIT_S, MAX_END_S = 500 * 1_024, 1.0, 1.0
#: Longest start of the clients' processes.
START_S = 120.0
#: A call that takes longer is a fault of its own.
CALL_S = 30.0

FRAME = """
#include <core.p4>
#include <v1model.p4>
{declared}
header data_t {{ bit<32> address; }}
struct headers_t {{ data_t data; }}
struct metadata_t {{ bit<32> value; {metadata} }}
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{
    state start {{ packet.extract(hdr.data); transition accept; }}
}}
control V(inout headers_t hdr, inout metadata_t meta) {{ apply {{}} }}
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{
    {locals}
    apply {{ {applied} }}
}}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{ apply {{}} }}
control C(inout headers_t hdr, inout metadata_t meta) {{ apply {{}} }}
control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.data); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""


def framed(declared: str = "", metadata: str = "", local: str = "", applied: str = "") -> str:
    """A program with something in it."""
    return FRAME.format(declared=declared, metadata=metadata, locals=local, applied=applied)


def tuples(depth: int, width: int) -> str:
    """Tuples of tuples, each of `width` of the one before."""
    lines = ["typedef bit<8> t0;"]
    lines += [f"typedef tuple<{', '.join([f't{at}'] * width)}> t{at + 1};" for at in range(depth)]
    return framed("\n".join(lines), f"t{depth} bomb;")


def structs(depth: int, width: int) -> str:
    """Structs of structs."""
    lines = ["struct s0 { bit<8> f0; }"]
    for at in range(depth):
        members = " ".join(f"s{at} f{member};" for member in range(width))
        lines.append(f"struct s{at + 1} {{ {members} }}")
    return framed("\n".join(lines), f"s{depth} bomb;")


def squares(count: int) -> str:
    """A constant squared again and again."""
    lines = ["const int X0 = 1 << 2000;"]
    lines += [f"const int X{at + 1} = X{at} * X{at};" for at in range(count)]
    return framed("\n".join(lines), applied=f"meta.value = (bit<32>) X{count};")


def generics(depth: int) -> str:
    """Generic functions, each of which calls the one before with a pair of its own type."""
    lines = ["T f0<T>(in T x) { return x; }"]
    call = "T f{1}<T>(in T x) {{ tuple<T, T> t = {{x, x}}; f{0}<tuple<T, T>>(t); return x; }}"
    lines += [call.format(at, at + 1) for at in range(depth)]
    return framed("\n".join(lines), applied=f"meta.value = f{depth}<bit<32>>(meta.value);")


def many_tables(count: int) -> str:
    """An ordinary program, only large."""
    action = "action a{0}(bit<32> x) {{ meta.value = meta.value ^ x; hdr.data.address = hdr.data.address + x; }}"
    table = "table t{0} {{ key = {{ hdr.data.address: exact; }} actions = {{ a{0}; }} }}"
    local = "\n".join((action + table).format(at) for at in range(count))
    return framed(local=local, applied=" ".join(f"t{at}.apply();" for at in range(count)))


def large_arrays(count: int) -> str:
    """Registers that a short request reads whole."""
    local = "\n".join(f"register<bit<64>>(262144) r{at};" for at in range(count))
    applied = "\n".join(f"r{at}.write(0, (bit<64>) meta.value);" for at in range(count))
    return framed(local=local, applied=applied)


def pushed(rng: random.Random) -> bytes:
    """A program to push: often more than can be compiled."""
    makers = [
        lambda: tuples(rng.randint(4, 30), rng.randint(2, 10)),
        lambda: structs(rng.randint(3, 20), rng.randint(2, 10)),
        lambda: squares(rng.randint(4, 60)),
        lambda: generics(rng.randint(2, 40)),
        lambda: many_tables(rng.choice([2, 20, 200])),
        lambda: large_arrays(rng.randint(1, 4)),
        lambda: framed("/" * rng.randint(0, 9), local="{" * rng.choice([0, 1, 2_000])),
    ]
    return (rng.choice(makers)() + f"\n// {rng.random()}\n").encode()


@dataclass
class Client:
    """One client of the switch, primary of a role of its own."""

    address: str
    number: int
    codes: Counter[str] = field(default_factory=Counter[str])

    def __post_init__(self) -> None:
        self.rng = random.Random(self.number)
        self.program = Program()
        options = [("grpc.max_send_message_length", -1), ("grpc.use_local_subchannel_pool", 1)]
        self.channel = grpc.insecure_channel(self.address, options=options)
        self.role = f"soak{self.number}"
        self.outgoing: Queue[p4r.StreamMessageRequest | None] = Queue()
        call = self.channel.stream_stream(
            "/p4.v1.P4Runtime/StreamChannel",
            request_serializer=p4r.StreamMessageRequest.SerializeToString,
            response_deserializer=p4r.StreamMessageResponse.FromString,
        )
        self.stream: Iterator[Any] = call(iter(self.outgoing.get, None))
        update = p4r.MasterArbitrationUpdate(device_id=DEVICE, election_id=U128.encode(1))
        update.role.name = self.role
        self.outgoing.put(p4r.StreamMessageRequest(arbitration=update))
        assert next(self.stream).arbitration.status.code == 0
        self.read = self.channel.unary_stream(
            "/p4.v1.P4Runtime/Read", p4r.ReadRequest.SerializeToString, p4r.ReadResponse.FromString
        )

    def close(self) -> None:
        """Ends the stream and the connection."""
        self.outgoing.put(None)
        self.channel.close()

    def call(self, name: str, request: Any, timeout_s: float = CALL_S) -> None:
        """A call with one answer."""
        method = cast("Any", self.channel.unary_unary(f"/p4.v1.P4Runtime/{name}"))
        method(request.SerializeToString(), timeout=timeout_s)

    def push(self) -> None:
        """Pushes a program, or gives up early."""
        action = self.rng.choice([Set.VERIFY, Set.VERIFY_AND_SAVE, Set.VERIFY_AND_COMMIT, Set.RECONCILE_AND_COMMIT])
        request = Set(device_id=DEVICE, action=action, role=self.role, election_id=U128.encode(1))
        if self.rng.random() < 0.3:
            request.config.CopyFrom(self.program.config(self.number))
        else:
            request.config.p4info.SetInParent()
            request.config.p4_device_config = pushed(self.rng)
        self.call("SetForwardingPipelineConfig", request, self.rng.choice([0.05, 0.5, CALL_S]))

    def write(self) -> None:
        """A batch, much of which fails."""
        request = p4r.WriteRequest(device_id=DEVICE, role=self.role, election_id=U128.encode(1))
        for _ in range(self.rng.choice([1, 100, 5_000])):
            address = self.rng.randbytes(2).lstrip(b"\0") or b"\1"
            update = request.updates.add(type=self.rng.choice([p4r.Update.INSERT, p4r.Update.DELETE]))
            update.entity.CopyFrom(self.program.exact(address, b"\1", self.program.action("forward", b"\1")))
        self.call("Write", request)

    def take(self) -> None:
        """A short request for much; the answer is taken, left, or looked at from afar."""
        request = p4r.ReadRequest(device_id=DEVICE, role=self.role)
        kinds = ["table_entry", "register_entry", "counter_entry", "action_profile_member", "direct_counter_entry"]
        for _ in range(self.rng.choice([1, 40, 5_000])):
            getattr(request.entities.add(), self.rng.choice(kinds)).SetInParent()
        answer = self.read(request, timeout=self.rng.choice([0.2, 2.0]))
        for _ in answer:
            if self.rng.random() < 0.1:
                time.sleep(self.rng.random())
            if self.rng.random() < 0.05:
                answer.cancel()
                return

    def once(self) -> None:
        """One call of some kind."""
        kind = self.rng.choices([self.push, self.write, self.take], weights=[3, 2, 3])[0]
        try:
            kind()
            self.codes[f"{kind.__name__} OK"] += 1
        except grpc.RpcError as error:
            call = cast("grpc.Call", error)
            # The server has a text of its own for each; a library's text is a limit that was passed.
            text = f": {call.details()}" if call.code() == grpc.StatusCode.RESOURCE_EXHAUSTED else ""
            self.codes[f"{kind.__name__} {call.code().name}{text}"] += 1


def run_client(address: str, number: int, seconds: float, ready: Any, go: Any, codes: Any) -> None:
    """What one process does, once all are there."""
    client = Client(address, number)
    ready.put(number)
    go.wait()
    end = time.time() + seconds
    while time.time() < end:
        client.once()
    client.close()
    codes.put(dict(client.codes))


@dataclass
class Figures:
    """What came of a run."""

    max_rss_kb: int = 0
    waits_s: list[float] = field(default_factory=list[float])
    end_s: float = 0.0
    exit_code: int | None = None
    codes: Counter[str] = field(default_factory=Counter[str])

    @property
    def longest_s(self) -> float:
        """The longest wait of the client that only looks."""
        return max(self.waits_s, default=0.0)

    def as_json(self) -> str:
        """For people and scripts."""
        waits = sorted(self.waits_s)
        p99 = waits[len(waits) * 99 // 100] if waits else 0.0
        figures = {
            "max_rss_mb": round(self.max_rss_kb / 1_024, 1),
            "looks": len(waits),
            "longest_wait_ms": round(self.longest_s * 1e3, 1),
            "p99_wait_ms": round(p99 * 1e3, 1),
            "end_ms": round(self.end_s * 1e3, 1),
            "exit_code": self.exit_code,
            "codes": dict(sorted(self.codes.items())),
        }
        return json.dumps(figures, indent=2)


def peak_rss_kb(pid: int) -> int:
    """The most memory that a process has had."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def look(channel: grpc.Channel) -> None:
    """What another client asks: a read and the cookie."""
    cookie = p4r.GetForwardingPipelineConfigRequest.COOKIE_ONLY
    request = p4r.GetForwardingPipelineConfigRequest(device_id=DEVICE, response_type=cookie)
    method = cast("Any", channel.unary_unary("/p4.v1.P4Runtime/GetForwardingPipelineConfig"))
    method(request.SerializeToString(), timeout=CALL_S)
    read = p4r.ReadRequest(device_id=DEVICE)
    read.entities.add().digest_entry.SetInParent()
    method = cast("Any", channel.unary_stream("/p4.v1.P4Runtime/Read"))
    for _ in method(read.SerializeToString(), timeout=CALL_S):
        pass


@contextlib.contextmanager
def started(*options: str, program: Path | None = None) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """A switch without interfaces, that loads a program or waits for a push."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        loaded = "--no-p4" if program is None else str(program)
        command = [switch_program(), loaded, "--device-id", str(DEVICE), "--log-file", str(log), "-L", "info"]
        command += [*options, "--", "--grpc-server-addr", "127.0.0.1:0", "--cpu-port", "510"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        switch = Switch(process, "", log.with_suffix(".txt"))
        try:
            yield wait_for(lambda: listening(switch, "P4Runtime server listening on "), "the switch"), process
        finally:
            process.kill()
            process.wait()


def soak(seconds: float, clients: int) -> Figures:
    """Runs the clients; what another sees meanwhile."""
    figures = Figures()
    context = multiprocessing.get_context("spawn")
    codes, ready, go = context.Queue(), context.Queue(), context.Event()
    with started() as (address, switch):
        first = Client(address, 0)
        config = Set(device_id=DEVICE, action=Set.VERIFY_AND_COMMIT, role=first.role, election_id=U128.encode(1))
        config.config.CopyFrom(first.program.config())
        first.call("SetForwardingPipelineConfig", config)
        args = [(address, number, seconds, ready, go, codes) for number in range(1, clients + 1)]
        running = [context.Process(target=run_client, args=one) for one in args]
        for process in running:
            process.start()
        for _ in running:
            ready.get(timeout=START_S)
        go.set()
        end = time.time() + seconds
        with grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
            while time.time() < end:
                asked = time.monotonic()
                look(channel)
                figures.waits_s.append(time.monotonic() - asked)
                assert switch.poll() is None, "the switch died"
                time.sleep(0.05)
        figures.max_rss_kb = peak_rss_kb(switch.pid)
        asked = time.monotonic()
        switch.terminate()
        figures.exit_code = switch.wait(CALL_S)
        figures.end_s = time.monotonic() - asked
        for _ in running:
            figures.codes.update(codes.get(timeout=2 * CALL_S))
        for process in running:
            process.join(CALL_S)
        first.close()
    return figures


def main() -> int:
    """The long run, with its bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()
    figures = soak(options.minutes * 60, options.clients)
    print(figures.as_json())
    is_good = figures.max_rss_kb < MAX_RSS_KB and figures.longest_s < MAX_WAIT_S and figures.end_s < MAX_END_S
    return 0 if is_good and figures.exit_code == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
