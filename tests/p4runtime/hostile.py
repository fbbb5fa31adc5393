"""Random and malformed P4Runtime requests against a running `p4cc-switch`.

`python -m tests.p4runtime.hostile 100000` runs many; the test suite runs a few with the same code. A request is a valid
one with something of it changed, or bytes that are no request. What must hold: the switch answers each with success or
with a code that the P4Runtime specification has for it, goes on living, keeps its state when a request fails as a
whole, and its memory does not grow.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import Any, cast

import grpc
from finsy.proto import U128, p4r, rpc_status
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from tests.p4runtime.session import Program, Set

Code = grpc.StatusCode
BY_NUMBER = {code.value[0]: code for code in Code}
ELECTION = 10
DEVICE = 1
#: What a request may be refused with.
REFUSALS = {
    Code.INVALID_ARGUMENT,
    Code.NOT_FOUND,
    Code.ALREADY_EXISTS,
    Code.PERMISSION_DENIED,
    Code.FAILED_PRECONDITION,
    Code.OUT_OF_RANGE,
    Code.RESOURCE_EXHAUSTED,
    Code.UNIMPLEMENTED,
    Code.ABORTED,
    # A batch: each update has a code of its own in the details.
    Code.UNKNOWN,
}
#: The server's bound on a request (engine/p4runtime/src/server/mod.rs).
MAX_REQUEST_BYTES = 64 << 20
#: Requests between two looks at memory, and the growth that is none.
WARM_UP, GROWTH_KB = 2_000, 48 * 1_024
#: One failed request in this many has the whole state compared before and after.
COMPARED = 5


@dataclass
class Outcome:
    """What came of it."""

    codes: Counter[str] = field(default_factory=Counter[str])
    #: Of the updates of batches that failed.
    updates: Counter[str] = field(default_factory=Counter[str])
    compared: int = 0
    rss_kb: list[int] = field(default_factory=list[int])


def interesting(kind: int, rng: random.Random) -> Any:
    """A value of a scalar type, often at an edge."""
    if kind == FieldDescriptor.TYPE_BYTES:
        return rng.choice([b"", b"\0", b"\0\1", b"\xff" * rng.randint(1, 20), rng.randbytes(rng.randint(0, 8))])
    if kind == FieldDescriptor.TYPE_STRING:
        return rng.choice(["", "x", "role", "\u00e4" * 100])
    if kind == FieldDescriptor.TYPE_BOOL:
        return rng.random() < 0.5
    if kind in (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_ENUM):
        return rng.choice([0, 1, -1, 2, 7, 2**31 - 1, -(2**31), rng.randint(0, 100)])
    if kind == FieldDescriptor.TYPE_INT64:
        return rng.choice([0, 1, -1, 2**63 - 1, -(2**63), rng.randint(0, 10**12)])
    if kind == FieldDescriptor.TYPE_UINT64:
        return rng.choice([0, 1, 2**64 - 1, rng.getrandbits(64)])
    return rng.choice([0, 1, 2, 255, 2**32 - 1, rng.getrandbits(32), rng.getrandbits(8)])


def is_map(descriptor: Any) -> bool:
    """Whether a field is a map, which is left alone."""
    of = descriptor.message_type
    return of is not None and of.GetOptions().map_entry


def messages(message: Message) -> list[Message]:
    """A message and all that it holds."""
    found = [message]
    for descriptor, value in message.ListFields():
        if descriptor.type == FieldDescriptor.TYPE_MESSAGE and not is_map(descriptor):
            for one in value if descriptor.is_repeated else [value]:
                found.extend(messages(one))
    return found


def spoil(message: Message, rng: random.Random) -> None:
    """Changes something of a message, somewhere inside."""
    part = rng.choice(messages(message))
    descriptors = [one for one in part.DESCRIPTOR.fields if not is_map(one)]
    if not descriptors:
        return
    descriptor = rng.choice(descriptors)
    name = descriptor.name
    what = rng.random()
    if what < 0.2:
        part.ClearField(name)
    elif descriptor.type == FieldDescriptor.TYPE_MESSAGE:
        if descriptor.is_repeated:
            repeated = getattr(part, name)
            if repeated and what < 0.7:
                repeated.add().CopyFrom(rng.choice(list(repeated)))
            else:
                repeated.add()
        else:
            getattr(part, name).SetInParent()
    elif descriptor.is_repeated:
        getattr(part, name).append(interesting(descriptor.type, rng))
    else:
        setattr(part, name, interesting(descriptor.type, rng))


class Fuzzer:
    """A primary controller that sends what it should not."""

    def __init__(self, address: str, seed: int) -> None:
        self.rng = random.Random(seed)
        self.program = Program()
        self.channel = grpc.insecure_channel(address, options=[("grpc.max_send_message_length", -1)])
        self.outgoing: Queue[p4r.StreamMessageRequest | None] = Queue()
        self.outcome = Outcome()
        self.trailers: dict[str, Any] = {}
        self.open_stream()
        config = Set(device_id=DEVICE, action=Set.VERIFY_AND_COMMIT, config=self.program.config())
        config.election_id.CopyFrom(U128.encode(ELECTION))
        self.call("SetForwardingPipelineConfig", config.SerializeToString())

    def open_stream(self) -> None:
        """Becomes primary."""
        call = self.channel.stream_stream(
            "/p4.v1.P4Runtime/StreamChannel",
            request_serializer=p4r.StreamMessageRequest.SerializeToString,
            response_deserializer=p4r.StreamMessageResponse.FromString,
        )
        update = p4r.MasterArbitrationUpdate(device_id=DEVICE, election_id=U128.encode(ELECTION))
        self.outgoing.put(p4r.StreamMessageRequest(arbitration=update))
        self.stream = call(iter(self.outgoing.get, None))
        assert next(self.stream).arbitration.status.code == 0

    def close(self) -> None:
        """Ends the stream."""
        self.outgoing.put(None)
        self.channel.close()

    def call(self, name: str, request: bytes) -> bytes:
        """A call with bytes as its request."""
        call = cast("Callable[..., bytes]", self.channel.unary_unary(f"/p4.v1.P4Runtime/{name}"))
        return call(request, timeout=30)

    def state(self) -> list[bytes]:
        """Everything that a controller can read, but what packets or time change."""
        request = p4r.ReadRequest(device_id=DEVICE)
        for kind in (
            "table_entry",
            "action_profile_member",
            "action_profile_group",
            "register_entry",
            "meter_entry",
            "counter_entry",
            "digest_entry",
            "value_set_entry",
        ):
            getattr(request.entities.add(), kind).SetInParent()
        for kind in ("multicast_group_entry", "clone_session_entry"):
            getattr(request.entities.add().packet_replication_engine_entry, kind).SetInParent()
        default = request.entities.add().table_entry
        default.is_default_action = True
        read = self.channel.unary_stream(
            "/p4.v1.P4Runtime/Read", p4r.ReadRequest.SerializeToString, p4r.ReadResponse.FromString
        )
        return [one.SerializeToString() for part in read(request, timeout=30) for one in part.entities]

    def entity(self) -> p4r.Entity:
        """A valid entity of any kind."""
        rng, program = self.rng, self.program
        address, port = rng.randbytes(3) + b"\1", bytes([rng.randint(1, 9)])
        kinds = [
            lambda: program.exact(address.lstrip(b"\0"), b"\1", program.action("forward", port)),
            lambda: program.member(rng.randint(1, 5), port),
            lambda: program.group(rng.randint(1, 3), *rng.sample(range(1, 6), 2)),
            lambda: p4r.Entity(counter_entry=p4r.CounterEntry(counter_id=program.counter)),
            lambda: p4r.Entity(register_entry=p4r.RegisterEntry(register_id=program.register)),
            self.multicast,
            self.session,
            self.acl,
        ]
        return rng.choice(kinds)()

    def acl(self) -> p4r.Entity:
        """An entry with a priority."""
        low = p4r.FieldMatch(field_id=2, range=p4r.FieldMatch.Range(low=b"\1", high=b"\7"))
        entry = p4r.TableEntry(table_id=self.program.tables["acl"], match=[low], priority=self.rng.randint(1, 9))
        entry.action.CopyFrom(self.program.action("report"))
        return p4r.Entity(table_entry=entry)

    def multicast(self) -> p4r.Entity:
        """A multicast group."""
        group = p4r.MulticastGroupEntry(multicast_group_id=self.rng.randint(1, 4))
        group.replicas.add(egress_port=self.rng.randint(1, 9), instance=1)
        pre = p4r.PacketReplicationEngineEntry(multicast_group_entry=group)
        return p4r.Entity(packet_replication_engine_entry=pre)

    def session(self) -> p4r.Entity:
        """A clone session."""
        session = p4r.CloneSessionEntry(session_id=self.rng.randint(1, 4))
        session.replicas.add(egress_port=self.rng.randint(1, 9), instance=1)
        pre = p4r.PacketReplicationEngineEntry(clone_session_entry=session)
        return p4r.Entity(packet_replication_engine_entry=pre)

    def write_request(self) -> p4r.WriteRequest:
        """A batch, most of it spoiled."""
        rng = self.rng
        request = p4r.WriteRequest(device_id=DEVICE, election_id=U128.encode(ELECTION))
        request.atomicity = rng.choice(list(p4r.WriteRequest.Atomicity.values()))
        for _ in range(rng.randint(1, 4)):
            request.updates.add(type=rng.choice([1, 2, 3]), entity=self.entity())
        for _ in range(rng.choice([0, 1, 1, 2, 3])):
            spoil(rng.choice([request, *request.updates]), rng)
        return request

    def request(self) -> tuple[str, bytes, bool]:
        """A call, its bytes, and whether its failure leaves everything as it was."""
        rng = self.rng
        what = rng.random()
        if what < 0.05:
            name = rng.choice(["Write", "SetForwardingPipelineConfig", "GetForwardingPipelineConfig", "Capabilities"])
            return name, rng.randbytes(rng.randint(1, 200)), True
        if what < 0.08:
            config = Set(device_id=DEVICE, action=Set.VERIFY, config=self.program.config())
            config.election_id.CopyFrom(U128.encode(ELECTION))
            config.config.p4_device_config = rng.randbytes(rng.randint(0, 300))
            spoil(config, rng)
            # Whatever was spoiled, it is to be verified only.
            config.action = Set.VERIFY
            return "SetForwardingPipelineConfig", config.SerializeToString(), True
        request = self.write_request()
        whole = request.atomicity != p4r.WriteRequest.CONTINUE_ON_ERROR or len(request.updates) == 1
        return "Write", request.SerializeToString(), whole

    def step(self) -> None:
        """One request, and what must hold after it."""
        name, request, whole = self.request()
        compare = whole and self.rng.randrange(COMPARED) == 0
        before = self.state() if compare else []
        code, details = self.answer(name, request)
        self.outcome.codes[code.name] += 1
        if name == "Write" and code == Code.UNKNOWN:
            self.check_updates(len(p4r.WriteRequest.FromString(request).updates))
        if code == Code.OK:
            return
        # What is no message at all gets gRPC's own code.
        garbled = code == Code.INTERNAL and "decode" in details
        assert code in REFUSALS or garbled, f"{name} {request!r}: {code} {details}"
        if compare:
            self.outcome.compared += 1
            assert self.state() == before, f"{name} {request!r} failed and changed something"

    def answer(self, name: str, request: bytes) -> tuple[grpc.StatusCode, str]:
        """The code and the words of a call's answer."""
        self.trailers = {}
        try:
            self.call(name, request)
        except grpc.RpcError as error:
            self.trailers = dict(error.trailing_metadata() or ())  # type: ignore[attr-defined]
            return error.code(), error.details() or ""  # type: ignore[attr-defined]
        return Code.OK, ""

    def check_updates(self, updates: int) -> None:
        """A batch that failed says of each update how it went (P4Runtime "Batching and Ordering of Updates")."""
        status = rpc_status.Status.FromString(self.trailers["grpc-status-details-bin"])
        assert len(status.details) == updates
        codes: list[int] = []
        for detail in status.details:
            error = p4r.Error()
            assert detail.Unpack(error)
            codes.append(error.canonical_code)
            self.outcome.updates[BY_NUMBER[error.canonical_code].name] += 1
        assert {BY_NUMBER[code] for code in codes} <= {*REFUSALS, Code.OK}
        assert any(codes), "a batch failed of which each update went well"

    def oversized(self) -> None:
        """A request beyond the server's bound is refused, and the connection lives on."""
        request = p4r.WriteRequest(device_id=DEVICE, role="x" * (MAX_REQUEST_BYTES + 1))
        code, details = self.answer("Write", request.SerializeToString())
        assert code in (Code.OUT_OF_RANGE, Code.RESOURCE_EXHAUSTED), details


def rss_kb(pid: int) -> int:
    """Memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


@contextmanager
def connected(address: str, seed: int) -> Generator[Fuzzer]:
    """A fuzzer for as long as it is needed."""
    fuzzer = Fuzzer(address, seed)
    try:
        yield fuzzer
    finally:
        fuzzer.close()


def attack(address: str, pid: int, requests: int, seed: int) -> Outcome:
    """Sends many requests; raises if anything does not hold."""
    with connected(address, seed) as fuzzer:
        fuzzer.oversized()
        for number in range(requests):
            fuzzer.step()
            if (number + 1) % WARM_UP == 0:
                fuzzer.outcome.rss_kb.append(rss_kb(pid))
        memory = fuzzer.outcome.rss_kb
        if len(memory) > 1:
            assert memory[-1] - memory[0] < GROWTH_KB, f"memory grew: {memory} kB"
        fuzzer.state()
        return fuzzer.outcome


if __name__ == "__main__":
    from tests.switchd.test_hostile import switch_for_requests

    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with switch_for_requests() as (address, pid):
        found = attack(address, pid, wanted, seed=1)
    sys.stdout.write(f"{wanted} requests: {dict(found.codes)}, {found.compared} states compared\n")
    sys.stdout.write(f"updates of batches that failed: {dict(found.updates)}\n")
    sys.stdout.write(f"memory after each {WARM_UP}: {found.rss_kb} kB\n")
