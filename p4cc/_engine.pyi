"""The engine: P4 compiler, virtual-time network, P4Runtime server, sender algorithms.

Native module. Long calls release the interpreter's lock and end at Ctrl-C with KeyboardInterrupt.
"""

from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Literal, TypeAlias, final

__all__ = [
    "AlgorithmError",
    "Arrival",
    "CompileError",
    "Diagnostic",
    "EngineError",
    "EngineTable",
    "Hop",
    "Latency",
    "Look",
    "Network",
    "OwnAlgorithm",
    "PacedAck",
    "Program",
    "RateBase",
    "ReceiverBase",
    "RunError",
    "RunResult",
    "ScriptedReceiver",
    "ServerError",
    "SpecError",
    "StfProblem",
    "StfReport",
    "WindowAck",
    "WindowBase",
    "algorithms",
    "compile_p4",
    "compile_p4_text",
    "format_p4",
    "maths_cbrt",
    "maths_exp",
    "maths_log",
    "maths_pow",
    "result_tables",
    "run_agent",
    "script_rate",
    "script_window",
    "serve_lsp",
    "thread_frames",
    "validate_rdma",
    "validate_sender",
    "windows_by_round",
]

ColumnKind: TypeAlias = Literal["uint64", "int64", "double", "string"]
"""Type of a column, by Arrow's name."""

class EngineError(Exception):
    """Base of the engine's errors; `str()` is one message with place, cause and remedy."""

    place: str
    """Which value or file; may be empty."""
    cause: str
    """What is wrong."""
    remedy: str
    """What to do; may be empty."""

class CompileError(EngineError):
    """Something was asked of a program that has errors."""

class SpecError(EngineError):
    """A network or sender description cannot be used; `place` is its path in the JSON."""

class RunError(EngineError):
    """A run ended before its time."""

class ServerError(EngineError):
    """The P4Runtime server cannot start or is in the wrong state."""

class AlgorithmError(EngineError):
    """A user's algorithm raised an exception, the cause of this one; `place` has flow and virtual time."""

class CallError(Exception):
    """A call of the P4Runtime service was refused: code, message and details of its gRPC status."""

    args: tuple[int, str, bytes]

@final
class P4RuntimeCalls:
    """A client of a network's P4Runtime server within this process; each call raises CallError."""

    def call(self, method: str, message: bytes) -> list[bytes]:
        """Calls a method with the bytes of its message; the messages of the answer."""
    def read(self, message: bytes) -> list[bytes]:
        """The entities of the answer to a ReadRequest."""
    def read_packets(self, message: bytes) -> list[tuple[int, int]]:
        """Index and packets of the cells of counters in that answer."""
    def open(self) -> int:
        """The number of a new stream."""
    def send(self, stream: int, message: bytes) -> list[bytes]:
        """The messages that have come on a stream since, with the answers to this one."""
    def close(self, stream: int) -> None:
        """Ends a stream."""

@final
class OwnAlgorithm:
    """A user's class as senders name it by its number."""

    def __init__(
        self,
        class_: type[object],
        name: str,
        kind: str,
        needs: str,
        echo: str,
        hooks: Sequence[str],
        grows_after_cut: bool,
        /,
    ) -> None:
        """`kind`, `needs` and `echo` are the registry's words, `hooks` the methods to call; raises ValueError."""

@final
class WindowAck:
    """An ACK as window algorithms see it; it is another one when the method has returned."""

    @property
    def now_ns(self) -> float:
        """Virtual time; in a lab, the time since the agent's start."""
    @property
    def now_ps(self) -> int:
        """The same, whole."""
    @property
    def headers(self) -> dict[tuple[str, int], dict[str, int]]:
        """Headers of the program that the ACK echoes (`transport.headers`), by type and place in the stack."""
    @property
    def new_segments(self) -> int:
        """Segments that this ACK acknowledges for the first time; 0 for a duplicate."""
    @property
    def counted_segments(self) -> int:
        """`new_segments`, and 1 for a duplicate."""
    @property
    def ack(self) -> int:
        """The next byte that the receiver expects."""
    @property
    def snd_nxt(self) -> int:
        """The next byte to send."""
    @property
    def mark(self) -> int:
        """The mark that came back: 0 none, 1 of the lower threshold K, 2 of the upper one, K_dc."""
    @property
    def rtt_ns(self) -> float | None:
        """A round-trip time, if this ACK gives one."""
    @property
    def srtt_ns(self) -> float | None:
        """The smoothed round-trip time; none before the first."""
    @property
    def sent_segments(self) -> int:
        """Segments that the flow has sent, first transmissions only."""
    @property
    def segments_left(self) -> float | None:
        """Segments that it never sent yet; none for a flow without end."""
    @property
    def deadline_ns(self) -> float | None:
        """When the flow should be complete, if it has a deadline."""

@final
class Hop:
    """A record that one switch wrote into a packet: counters that wrap."""

    @property
    def line_rate_bps(self) -> int:
        """Rate of the link."""
    @property
    def timestamp(self) -> int:
        """When the packet left, in ticks."""
    @property
    def tx(self) -> int:
        """What the port had sent, in units."""
    @property
    def queue(self) -> int:
        """What it had left to send, in units."""
    @property
    def queue_bytes(self) -> float:
        """What it had left to send."""
    def elapsed_ns(self, earlier: Hop) -> float:
        """Time since an earlier record of this hop, less than a wrap ago."""
    def sent_bytes(self, earlier: Hop) -> float:
        """Bytes sent since an earlier record of this hop, less than a wrap ago."""

@final
class PacedAck:
    """An ACK as rate algorithms see it; it is another one when the method has returned."""

    @property
    def now_ns(self) -> float:
        """Virtual time; in a lab, the time since the agent's start."""
    @property
    def now_ps(self) -> int:
        """The same, whole."""
    @property
    def ack(self) -> int:
        """The next byte that the receiver expects."""
    @property
    def snd_nxt(self) -> int:
        """The next byte to send."""
    @property
    def above_bytes(self) -> int:
        """Bytes that arrived above `ack`; 0 where receivers keep nothing out of order."""
    @property
    def flight_bytes(self) -> int:
        """Bytes believed to be in the network."""
    @property
    def lost_bytes(self) -> int:
        """Bytes that this ACK showed to be lost."""
    @property
    def rtt_ns(self) -> float | None:
        """The round-trip time by the timestamp that came back."""
    @property
    def headers(self) -> dict[tuple[str, int], dict[str, int]]:
        """Headers of the program that the ACK echoes (`transport.headers`), by type and place in the stack."""
    @property
    def cnp(self) -> bool:
        """Whether the receiver saw a congestion mark."""
    @property
    def sent_bps(self) -> float | None:
        """Rate at which the flow really sent lately; none if it always had data."""
    @property
    def hops(self) -> tuple[Hop, ...]:
        """Records of the switches, in the order of hops."""
    @property
    def path(self) -> int:
        """What tells the path of the records from others."""
    @property
    def utilisation(self) -> float | None:
        """Utilisation of the busiest port of the path (PINT); none where the ACK says nothing of it."""
    @property
    def granted_bps(self) -> float | None:
        """Rate that the switches of the path grant; none where the ACK says nothing of it."""
    @property
    def is_offered(self) -> bool:
        """Whether every switch of the path lets one packet more in (Bolt's INC)."""

class WindowBase:
    """What the engine reads and sets of a window algorithm."""

    cwnd: float
    """Congestion window, in segments."""
    ssthresh: float
    """Slow start threshold, in segments."""
    alpha: float | None
    """DCTCP's estimate of the marked share, for the column `alpha`; 0 to 1."""
    delta: float | None
    """Growth exponent of a slow start, for the column `delta`; 0 to 1."""
    smoothing: bool
    """Whether a slow start grows slower already, for the column `phase`."""
    @property
    def flow_id(self) -> int:
        """The flow's number; 0 before `start`."""
    @property
    def seed(self) -> int:
        """The run's seed."""
    def publish_alpha(self, marked_fraction: float) -> None:
        """An event `alpha` of the table `events`."""
    def publish_delta(self, queue_pkts: float | None = None) -> None:
        """An event `delta` of the table `events`."""
    def publish_first_mark(self, mark: int) -> None:
        """An event of the first mark of a slow start; 1 for K, 2 for K_dc."""

class RateBase:
    """What the engine reads and sets of a rate algorithm."""

    rate_bps: float
    """Pacing rate."""
    window_bytes: float | None
    """Window; none where the rate alone decides."""
    timer_ns: float | None
    """When `on_timer` is to be called."""
    @property
    def line_rate_bps(self) -> float:
        """Rate of the host's interface."""
    @property
    def base_rtt_ns(self) -> float:
        """Largest base round-trip time of all pairs of hosts."""
    @property
    def bdp_bytes(self) -> float:
        """Bytes that fit it at the line rate."""
    @property
    def payload_bytes(self) -> int:
        """What a full packet carries."""
    @property
    def packet_bytes(self) -> int:
        """A full packet from IP on, as it leaves."""
    @property
    def flow_id(self) -> int:
        """The flow's number."""
    @property
    def seed(self) -> int:
        """The run's seed."""

@final
class Arrival:
    """Data that reaches a host, whole or as its header."""

    @property
    def now_ns(self) -> float:
        """When."""
    @property
    def flow(self) -> int:
        """The flow's number."""
    @property
    def start(self) -> int:
        """Position of its first byte in the flow."""
    @property
    def end(self) -> int:
        """One past its last byte."""
    @property
    def bytes(self) -> int:
        """Payload with which it left."""
    @property
    def is_trimmed(self) -> bool:
        """A switch cut the payload off."""
    @property
    def beyond_bytes(self) -> int | None:
        """What the flow has beyond it, as the sender says; none of a flow without a known end."""
    @property
    def is_marked(self) -> bool:
        """It has a congestion mark."""
    @property
    def priority(self) -> int:
        """Its traffic class."""

class ReceiverBase:
    """What the engine reads and sets of a receiver."""

    unasked_bytes: int
    """What a flow sends before it hears of the receiver; `start` sets it."""
    timer_ns: float | None
    """When `on_timer` is to be called."""
    def acknowledge(self) -> None:
        """The data that just arrived is answered at once."""
    def pull(self, flow: int, bytes: int) -> None:  # noqa: A002 - as in Arrival
        """The flow may send so many bytes more."""
    def grant(self, flow: int, up_to: int, priority: int | None = None) -> None:
        """The flow may send up to a byte, at most 2**30 ahead of what has arrived, in a traffic class."""
    @property
    def host(self) -> int:
        """The host's number."""
    @property
    def seed(self) -> int:
        """The run's seed."""
    @property
    def line_rate_bps(self) -> float:
        """Rate of the host's line."""
    @property
    def base_rtt_ns(self) -> float:
        """Largest base round-trip time of all pairs of hosts."""
    @property
    def bdp_bytes(self) -> float:
        """Bytes that fit it at the line rate."""
    @property
    def payload_bytes(self) -> int:
        """What a full packet carries."""
    @property
    def line_bytes(self) -> int:
        """What a full packet takes of the line."""

@final
class ScriptedReceiver:
    """A receiver (JSON) that is told what arrives, without a network; times are picoseconds of virtual time.

    Methods give what it does: `acknowledge`, `pull` or `grant`; a flow; bytes, or the byte that it may send up to; a
    traffic class. Raises SpecError and AlgorithmError.
    """

    def __new__(
        cls, config_json: str, line_rate_bps: int, base_rtt_ns: int, own: Sequence[OwnAlgorithm], seed: int
    ) -> ScriptedReceiver: ...
    @property
    def unasked_bytes(self) -> int:
        """What a flow may send before it hears of the receiver."""
    @property
    def next_timer_ps(self) -> int | None:
        """When `on_timer` is to be called."""
    def on_arrival(
        self, now_ps: int, data: tuple[int, int, int, bool, int | None, bool, int]
    ) -> list[tuple[str, int, int, int | None]]:
        """Takes data: its flow, first byte, bytes, whether it is a header alone, what lies beyond it, mark, class."""
    def on_complete(self, now_ps: int, flow: int) -> list[tuple[str, int, int, int | None]]:
        """A flow is whole."""
    def on_timer(self, now_ps: int) -> list[tuple[str, int, int, int | None]]:
        """Does what is due."""

@final
class Diagnostic:
    """One finding of the compiler."""

    @property
    def file(self) -> str:
        """File as the user named it."""
    @property
    def line(self) -> int:
        """Line, from 1."""
    @property
    def column(self) -> int:
        """Column in characters, from 1."""
    @property
    def severity(self) -> Literal["error", "warning"]:
        """How bad it is."""
    @property
    def message(self) -> str:
        """What is wrong."""
    @property
    def help(self) -> str | None:
        """What to do about it, if known."""

@final
class Program:
    """A compiled program; what is made of it raises CompileError when `ok` is false."""

    @property
    def ok(self) -> bool:
        """No diagnostic is an error."""
    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All findings, in the order found."""
    @property
    def rendered(self) -> str:
        """The findings with source lines and carets; empty when there are none."""
    @property
    def has_p4info(self) -> bool:
        """Something was made, for an architecture that is supported."""
    def p4info_text(self) -> str:
        """P4Info as protobuf text, as p4c prints it."""
    def p4info_bytes(self) -> bytes:
        """P4Info, serialized."""
    def ir_text(self) -> str:
        """Text form of the intermediate representation."""
    def bfrt_text(self) -> str:
        """bf-rt.json, BF Runtime's schema of a TNA program."""
    def bmv2_json(self) -> str:
        """BMv2 JSON as p4c writes it for v1model or PSA; raises CompileError for what the format cannot express."""
    def device_config(self) -> bytes:
        """What is pushed to a switch: the source as one self-contained text, or the BMv2 JSON as it was read."""
    def header_types(self) -> list[tuple[str, list[tuple[str, Literal["bool", "bit", "int", "varbit"], int]]]]:
        """Header types with name, kind and width in bits (of a varbit the most) of their fields, in wire order."""
    def parser_json(self) -> str:
        """Headers and the blocks of the (ingress) parser with their instructions, as JSON."""
    @property
    def declared(self) -> list[tuple[str, str, int]]:
        """Names of tables, actions, states and other declarations, with file and line; of p4cc's own files none."""
    def trace_stf(self, test: str) -> str:
        """What the packets of a test do, as JSON; ValueError if the text is no test."""

    def run_stf(self, test: str, back_end: str | None = None) -> StfReport:
        """Runs a test of the Simple Test Framework, given as text, on a switch of its own.

        `back_end` is `interp` or `native`; raises ValueError for anything else.
        """

@final
class StfProblem:
    """Why a test did not pass."""

    @property
    def line(self) -> int:
        """Line of the test, from 1; 0 when none is to blame."""
    @property
    def kind(self) -> Literal["syntax", "command", "counter", "packet"]:
        """The text is no test; a command cannot be carried out; a counter or a packet is not as expected."""
    @property
    def message(self) -> str:
        """What is wrong; for packets several lines with both sides."""
    @property
    def port(self) -> int | None:
        """Port of the packet."""
    @property
    def packet(self) -> int | None:
        """The packet's place among those of the port, from 0."""
    @property
    def expected(self) -> str | None:
        """Hexadecimal digits, `*` for any, `$` at the end when the packet ends there."""
    @property
    def got(self) -> str | None:
        """Hexadecimal digits of the packet that came."""
    @property
    def first_byte(self) -> int | None:
        """First byte that differs, from 0."""

@final
class StfReport:
    """What a test came to."""

    @property
    def problems(self) -> list[StfProblem]:
        """Empty when it passed."""
    @property
    def printed(self) -> list[tuple[int, str]]:
        """What commands that read found, and what `log_msg` wrote, by line of the test."""
    @property
    def packets_in(self) -> int:
        """Packets that the test sent."""
    @property
    def packets_expected(self) -> int:
        """Packets that the test waits for."""

def compile_p4(
    path: str, include_dirs: Sequence[str] = ..., defines: dict[str, str] = ..., strict: str = ...
) -> Program:
    """Compiles a P4-16 file, or reads BMv2 JSON, told apart by content; `strict` names a chip whose rules are errors.

    A file that cannot be read is a diagnostic.
    """

def compile_p4_text(
    name: str, text: str, include_dirs: Sequence[str] = ..., defines: dict[str, str] = ..., strict: str = ...
) -> Program:
    """Compiles P4-16 source text, or reads BMv2 JSON.

    `name` stands in diagnostics, and quoted includes are looked up beside it.
    """

def format_p4(text: str) -> str:
    """P4-16 source in p4cc's style; raises ValueError where it is left as it is."""

def thread_frames() -> dict[int, list[FrameType]]:
    """The frames of each thread by its number, the innermost first, while no Python code runs."""

@final
class Guard:
    """Ends the process where a user's code keeps the interpreter's lock for ever; the interpreter says that it runs.

    `stacks` is a file into which faulthandler writes where all threads are when the interpreter is silent.
    """

    def __new__(cls, stacks: str) -> Guard: ...
    def fileno(self) -> int:
        """For `signal.set_wakeup_fd`."""

    @property
    def interrupts(self) -> int:
        """How many times Ctrl-C came."""

    def alive(self, limit_s: float | None, files: list[str], left: list[str]) -> None:
        """The interpreter runs; a call of code of `files` may take `limit_s`, and may be ended if that is given.

        The folders `left` go with the process.
        """

@final
class Latency:
    """Latencies between a switch and its controller (JSON: `kind` and its fields), from the stream `name` of a seed.

    Raises SpecError.
    """

    def __new__(cls, spec_json: str, seed: int, name: str) -> Latency: ...
    def draw_ps(self) -> int:
        """The next one, in picoseconds."""

@final
class Look:
    """A run at an instant; ports stand switch by switch, links in the order of the description."""

    @property
    def now_ps(self) -> int:
        """Virtual time, in picoseconds."""
    @property
    def packet_hops(self) -> int:
        """Traversals of a link by a packet."""
    @property
    def flow_counts(self) -> tuple[int, int, int, int]:
        """Flows with a size, of these complete; flows under way; retransmission timeouts of all."""
    @property
    def first_active(self) -> list[int]:
        """The first flows under way, by their numbers."""
    @property
    def marks(self) -> tuple[int, int]:
        """Data packets that arrived with a mark of level 1 (K) and of level 2 (K_dc)."""
    @property
    def drops(self) -> int:
        """Packets that switches dropped."""
    @property
    def pauses(self) -> int:
        """Pause frames that switches sent."""
    @property
    def digests(self) -> int:
        """Digest messages of programs."""
    @property
    def depth_pkts(self) -> list[int]:
        """By port: packets that wait."""
    @property
    def dropped_pkts(self) -> list[int]:
        """By port: packets that were dropped at its queues."""
    @property
    def paused_ports(self) -> list[int]:
        """Places of the ports that PFC holds."""
    @property
    def link_bytes(self) -> list[int]:
        """By link, both ways one after the other: IP bytes carried."""
    @property
    def flows(self) -> list[tuple[int, bool, bool, float | None, float | None, int]]:
        """Chosen flows: number, begun, ended, window in segments, rate in bit/s, payload bytes acknowledged."""

def network_schema() -> str:
    """JSON Schema of a network's description, of which `p4cc/planning/spec.py` is made."""

@final
class Network:
    """A virtual-time network at time zero: its switches wait for a program over P4Runtime.

    `own` are the algorithms that senders name by number. Raises SpecError when the description (JSON) cannot be used,
    AlgorithmError for an exception of the user's.
    """

    def __new__(cls, spec_json: str, seed: int = 0, own: Sequence[OwnAlgorithm] = ()) -> Network: ...
    @property
    def seed(self) -> int:
        """Seed of this run."""
    @property
    def now_ns(self) -> int:
        """Virtual time reached, in nanoseconds."""
    @property
    def now_ps(self) -> int:
        """Virtual time reached, in picoseconds."""
    @property
    def has_ended(self) -> bool:
        """The run is over."""
    @property
    def device_ids(self) -> list[int]:
        """P4Runtime device ids of the switches, in their order."""
    def serve(self, address: str = "127.0.0.1:0", beside: Network | None = None) -> str:
        """Starts a P4Runtime server over the switches and returns `host:port`; raises ServerError.

        A fork knows the programs that were pushed to the server of the network `beside`.
        """
    def stop_server(self) -> None:
        """Stops the server; does nothing when none runs."""
    def calls(self) -> P4RuntimeCalls:
        """A client of the server within this process; raises ServerError when none runs."""
    def serve_bfrt(self, address: str = "127.0.0.1:0") -> str:
        """Starts a BF Runtime server over the switches, which have their programs; `host:port`; raises ServerError.

        Each pipe of a switch has tables of its own from then on, in forks too.
        """
    def stop_bfrt_server(self) -> None:
        """Stops that server; does nothing when none runs."""
    def fork(self, seed: int) -> Network:
        """A network at time zero with the programs and entries of this one, without server."""
    def set_exec(self, back_end: str) -> None:
        """Chooses what runs the switches' programs, here and in forks: `interp` or `native`; raises ValueError."""
    def native_error(self) -> str | None:
        """Why some program has no native code, once that was asked for."""
    def exchange(self, fork: Network) -> None:
        """Swaps the states of this network and a fork of it, so that this one's server shows what the fork did.

        Controllers stay connected: both run the same program. Raises ValueError for the network itself.
        """
    def run_until(self, time_ns: int) -> None:
        """Runs to a virtual time, then hands packet-ins and digests to controllers; raises RunError."""
    def run(self, progress: Callable[[int, int, int, int, int], object] | None = None, threads: int = 1) -> None:
        """Runs to the end; raises RunError.

        `progress` gets the virtual time in ns, when the run ends if not by itself, packet-hops so far, flows complete,
        flows with a size.

        What it finds does not depend on `threads`.
        """
    def advance(
        self, until_ps: int, to_message: bool, progress: Callable[[int, int, int, int, int], object] | None = None
    ) -> None:
        """Runs to a virtual time in picoseconds and leaves what switches hold for controllers where it is.

        With `to_message` no further than to the end of the instant at which a switch holds a packet-in or a digest;
        `deliver_messages` sends them. Raises RunError.
        """
    def inject(self, host: str, packet: bytes, priority: int = 0) -> None:
        """Hands a packet to the interface of a host now, in the class `priority` of PFC; raises SpecError."""
    def inject_at_port(self, device_id: int, port: int, packet: bytes) -> None:
        """Lets a packet come in at a port of a switch now, as though its link had brought it; raises SpecError."""
    def advance_to_news(
        self,
        until_ps: int,
        to_message: bool,
        name: Literal["drop", "mark", "pause", "followed"],
        progress: Callable[[int, int, int, int, int], object] | None = None,
        followed: tuple[int, int] | None = None,
    ) -> bool:
        """As `advance`, but also no further than to the end of the instant of some news; whether there was.

        News is a switch that drops a packet, a marked data packet at its receiver, a pause frame that a switch sends,
        or a switch (device id) that is through with so many packets that it follows. Raises RunError, ValueError.
        """
    def look(self, flows: Sequence[int] = (), first_active: int = 0) -> Look:
        """The run now: bounded by ports, links and flows, whatever the run has recorded.

        `flows` are chosen by their numbers (those that the run has not are left out); `first_active` is how many
        numbers of active flows to give.
        """
    def follow_next(self, device_id: int, packets: int) -> bool:
        """Lets a switch follow the next packets of each port, up to a count (64 at most).

        False in a run that follows packets from their hosts. Raises ValueError for a switch that is not there.
        """
    def take_followed(self, device_id: int, packets: int) -> list[str]:
        """What a switch did with the first packets that it is through with, up to a count.

        A line of JSON for each step, as `RunResult.trace` has them; packets are numbered from 1. The switch follows
        none any more. Raises ValueError for a switch that is not there.
        """
    def flow_result(self) -> RunResult:
        """As `result`, with the table `flows` alone: what else was recorded is not copied."""
    def deliver_messages(self) -> list[tuple[int, int]]:
        """Sends packet-ins, digests and idle notifications to controllers; how many, by device id."""
    @property
    def next_due_ps(self) -> int | None:
        """When a digest list or an idle entry is due that no packet makes due; None for never."""
    def lead_by_epochs(self) -> None:
        """Lets controllers lead the time: a primary's stream message `other` with a Duration asks for an epoch."""
    def take_epoch(self, timeout_ms: int) -> int | None:
        """The next epoch that a controller asks for, in picoseconds; None if nobody does within this time."""
    def end_epoch(self) -> None:
        """Tells the controller whose epoch was taken the virtual time that was reached."""
    @property
    def has_primary(self) -> bool:
        """Whether a controller is primary at some switch."""
    def packet_balance(self) -> dict[str, int]:
        """Packets that left hosts or came from elsewhere so far, and how many ended where."""
    def one_thread_reason(self) -> str | None:
        """Why a run goes on one thread however many it is given; None if it does not."""
    def run_many(
        self, seeds: Sequence[int], jobs: int = 1, progress: Callable[[int], object] | None = None
    ) -> list[RunResult]:
        """Runs a fork for each seed, `jobs` at a time; `progress` gets the number finished.

        Results are in the order of `seeds` and do not depend on `jobs`. Raises RunError for the first run that failed.
        """
    def stream_tables(self, sink: Callable[[str, EngineTable], None] | None, part_rows: int = 1) -> None:
        """Hands parts of long tables to `sink` when they have so many rows, in place of keeping them; None keeps all.

        A part comes with its table's name. Results hold the rows that are left. The run waits for `sink`, which the
        engine calls on a thread of its own; an exception ends the run with RunError. Forks keep all rows. Raises
        ValueError for parts without rows.
        """
    def result(self) -> RunResult:
        """What this run found so far."""

@final
class RunResult:
    """Tables and summary of one run."""

    @property
    def seed(self) -> int:
        """Seed of the run."""
    @property
    def tables(self) -> list[str]:
        """Names of the tables."""
    def summary(self) -> dict[str, Any]:
        """The run in a few numbers, None where there is nothing; the unit is the end of each key."""
    def table(self, name: str) -> EngineTable:
        """A table. Raises KeyError."""
    def captures(self) -> list[tuple[str, int, bytes]]:
        """Node, port and pcapng file of each captured end of a link, in the order of the description."""
    def trace(self) -> tuple[list[str], list[int], int, int] | None:
        """What was kept of packets that are followed (`record.trace` of the description), None without it.

        A line of JSON for each step, how many packets each sender that was asked for sent, and how many packets and
        steps were left out.
        """

@final
class EngineTable:
    """A table, or a part of one, in memory that Arrow reads without a copy: `pyarrow.table` takes it.

    A column of texts is a dictionary of large strings.
    """

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Capsules of Arrow's C data interface: the schema, and an array of structs, a row each."""

def result_tables() -> list[tuple[str, str, str, list[tuple[str, ColumnKind, str, str, str]]]]:
    """The tables of results: name, what a row stands for, what a scenario asks for to get it, and its columns.

    A column has name, type, unit, text, and what a null in it means.
    """

def algorithms() -> str:
    """JSON list of the sender algorithms, with parameters, units, ranges and defaults."""

def maths_cbrt(x: float) -> float:
    """The cube root, to the same bits on every machine."""

def maths_exp(x: float) -> float:
    """`e` to the power `x`, to the same bits on every machine."""

def maths_log(x: float) -> float:
    """The natural logarithm, to the same bits on every machine."""

def maths_pow(base: float, exponent: float) -> float:
    """A power, to the same bits on every machine."""

def run_agent(
    plan_json: str,
    host: str,
    own: Sequence[OwnAlgorithm],
    *,
    metrics: str,
    start_at_ns: int,
    duration_ms: int,
    linger_ms: int,
    sample_ms: int | None = None,
    line_rate_bps: int | None = None,
) -> bool:
    """Runs the flows of one host of an agents' plan (JSON), as `p4cc-agent run` does, in this process alone.

    Whether all are complete. SIGINT and SIGTERM end it. Raises ServerError where it cannot start, AlgorithmError for an
    exception of the user's.
    """

def script_rate(
    config_json: str,
    line_rate_bps: int,
    own: Sequence[OwnAlgorithm],
    seed: int,
    steps: Sequence[tuple[int, int | None, bool, int, tuple[int, int, int] | None]],
) -> list[tuple[float, float | None]]:
    """Rate and window (bytes) of a rate algorithm (JSON) after each step, without a network.

    A step is: ns since the last one, a round-trip time in ns, a congestion notification, bytes acknowledged, and a
    switch's record (timestamp, sent, queue). Raises SpecError and AlgorithmError.
    """

def script_window(
    config_json: str,
    own: Sequence[OwnAlgorithm],
    seed: int,
    ssthresh_segments: float,
    steps: Sequence[tuple[str, int, int, int, int | None]],
) -> list[tuple[float, float]]:
    """Window and threshold (segments) of a window sender's algorithms (JSON) after each step, without a network.

    A step is: `ack`, `fast_retransmit`, `partial_ack`, `recovery_exit` or `timeout`; segments; for an ACK its mark, 0
    to 2; ns since the last step; a round-trip time in ns. Raises SpecError, AlgorithmError, and ValueError for another
    step.
    """

def serve_lsp() -> str | None:
    """Serves one client of the Language Server Protocol on standard input and output; what broke it, if anything."""

def validate_rdma(config_json: str, line_rate_bps: int, own: Sequence[OwnAlgorithm] = ()) -> None:
    """Checks the configuration of an RDMA-like flow (JSON) for an interface of this rate.

    Raises SpecError, and AlgorithmError for an exception of the user's.
    """

def validate_sender(config_json: str, own: Sequence[OwnAlgorithm] = ()) -> None:
    """Checks a sender's configuration (JSON); raises SpecError, and AlgorithmError for an exception of the user's."""

def windows_by_round(config_json: str, rtt_ns: int, max_rounds: int, own: Sequence[OwnAlgorithm] = ()) -> list[float]:
    """Windows, in segments, at the start of each round of slow start on an ideal path; raises SpecError.

    The first is the initial window; at most `max_rounds` follow.
    """
