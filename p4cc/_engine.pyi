"""The engine: P4 compiler, virtual-time network, P4Runtime server, sender algorithms.

Native module. Long calls release the interpreter's lock and end at Ctrl-C with KeyboardInterrupt.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, final

__all__ = [
    "CompileError",
    "Diagnostic",
    "EngineError",
    "Latency",
    "Network",
    "Program",
    "RunError",
    "RunResult",
    "ServerError",
    "SpecError",
    "StfProblem",
    "StfReport",
    "algorithms",
    "compile_p4",
    "compile_p4_text",
    "validate_rdma",
    "validate_sender",
    "windows_by_round",
]

Column: TypeAlias = tuple[Literal["uint64", "int64", "float64", "text"], bytes]
"""Type of a column and its values."""

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
    def p4info_text(self) -> str:
        """P4Info as protobuf text, as p4c prints it."""
    def p4info_bytes(self) -> bytes:
        """P4Info, serialized."""
    def ir_text(self) -> str:
        """Text form of the intermediate representation."""
    def device_config(self) -> bytes:
        """What is pushed to a switch: the source as one self-contained text, or the BMv2 JSON as it was read."""
    def header_types(self) -> list[tuple[str, list[tuple[str, Literal["bool", "bit", "int", "varbit"], int]]]]:
        """Header types with name, kind and width in bits (of a varbit the most) of their fields, in wire order."""
    def parser_json(self) -> str:
        """Headers and the blocks of the (ingress) parser with their instructions, as JSON."""
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

def compile_p4(path: str, include_dirs: Sequence[str] = ..., defines: dict[str, str] = ...) -> Program:
    """Compiles a P4-16 file, or reads BMv2 JSON, told apart by content.

    A file that cannot be read is a diagnostic.
    """

def compile_p4_text(name: str, text: str, include_dirs: Sequence[str] = ..., defines: dict[str, str] = ...) -> Program:
    """Compiles P4-16 source text, or reads BMv2 JSON.

    `name` stands in diagnostics, and quoted includes are looked up beside it.
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
class Network:
    """A virtual-time network at time zero: its switches wait for a program over P4Runtime.

    Raises SpecError when the description (JSON) cannot be used.
    """

    def __new__(cls, spec_json: str, seed: int = 0) -> Network: ...
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
    def one_thread_reason(self) -> str | None:
        """Why a run goes on one thread however many it is given; None if it does not."""
    def run_many(
        self, seeds: Sequence[int], jobs: int = 1, progress: Callable[[int], object] | None = None
    ) -> list[RunResult]:
        """Runs a fork for each seed, `jobs` at a time; `progress` gets the number finished.

        Results are in the order of `seeds` and do not depend on `jobs`. Raises RunError for the first run that failed.
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
        """The run in a few numbers; the unit is the end of each key."""
    def table(self, name: str) -> dict[str, Column]:
        """A table by column: type and little-endian values, 8 bytes each.

        A column of type `text` holds a uint32 for each row, its place in `texts(name, column)`. Raises KeyError.
        """
    def captures(self) -> list[tuple[str, int, bytes]]:
        """Node, port and pcapng file of each captured end of a link, in the order of the description."""
    def trace(self) -> tuple[list[str], list[int], int, int] | None:
        """What was kept of packets that are followed (`record.trace` of the description), None without it.

        A line of JSON for each step, how many packets each sender that was asked for sent, and how many packets and
        steps were left out.
        """
    def texts(self, table: str, column: str) -> list[str]:
        """The distinct texts of a text column. Raises KeyError."""

def algorithms() -> str:
    """JSON list of the sender algorithms, with parameters, units, ranges and defaults."""

def validate_rdma(config_json: str, line_rate_bps: int) -> None:
    """Checks the configuration of an RDMA-like flow (JSON) for an interface of this rate; raises SpecError."""

def validate_sender(config_json: str) -> None:
    """Checks a sender's configuration (JSON); raises SpecError."""

def windows_by_round(config_json: str, rtt_ns: int, max_rounds: int) -> list[float]:
    """Windows, in segments, at the start of each round of slow start on an ideal path; raises SpecError.

    The first is the initial window; at most `max_rounds` follow.
    """
