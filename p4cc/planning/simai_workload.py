"""Workloads of SimAI and of ASTRA-sim's first version, as text (docs/algorithms/traffic.md#simai).

    HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 16 checkpoints: 0
    1
    mlp -1 1000 ALLGATHER 4096 900 REDUCESCATTER 4096 800 ALLREDUCE 8192 100

A layer has its name, a number that no version reads, and for the forward pass, the gradient of the input and the
gradient of the weights a computing time in nanoseconds, a collective and its size; then the time of the update. All
ranks run one program: the layers forward, then backward. What the type of the file says is which collectives wait.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from p4cc.errors import UserError
from p4cc.files import read_text
from p4cc.planning.operation_graph import MAX_RANKS, CollectiveOperation, Group, OperationGraph
from p4cc.planning.whole_numbers import whole_word
from p4cc.scenario.base import MAX_FLOW_BYTES, MAX_TIME_NS
from topos.loaders.words import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from p4cc import spec

MAX_LAYERS = 1_000_000
MAX_STEPS = 4_000_000
TRANSFORMER, RECOMPUTING = "HYBRID_TRANSFORMER", "HYBRID_TRANSFORMER_FWD_IN_BCKWD"
DATA, MODEL, MICRO = "DATA", "MODEL", "MICRO"
TYPES = (TRANSFORMER, RECOMPUTING, DATA, MODEL, MICRO)
_OTHER_TYPES = {
    **dict.fromkeys(
        ("HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA", "HYBRID_CUSTOMIZED"),
        "takes its groups from the logical dimensions of ASTRA-sim's system file",
    ),
    **dict.fromkeys(("HYBRID_DLRM", "HYBRID_DLRM_ENHANCED"), "overlaps layers in an order of its own"),
    "DISTRIBUTED_INFERENCE": "is a pass without gradients",
}
_OPERATIONS: dict[str, CollectiveOperation] = {
    "ALLREDUCE": "all_reduce",
    "ALLGATHER": "all_gather",
    "REDUCESCATTER": "reduce_scatter",
    "ALLTOALL": "all_to_all",
}
_KEYS = (
    *("model_parallel_NPU_group", "ep", "pp", "vpp", "ga", "all_gpus", "pp_comm"),
    *("checkpoints", "checkpoint_initiates"),
)
"""Keys of the first line that SimAI's reader knows."""
_COLLECTIVES = f"collectives: NONE, {', '.join(_OPERATIONS)}, these also with _EP, _DP or _DP_EP"
_WORDS = 12
_FORWARD, _INPUT, _WEIGHT = 0, 1, 2
_NAMES = ("forward", "input", "weight")


@dataclass(frozen=True)
class _Phase:
    """Computing time and collective of a layer in one phase."""

    compute_ns: int
    operation: CollectiveOperation | None
    domain: str
    """Which ranks take part: tp, dp, ep, dp_ep or all."""
    size_bytes: int


@dataclass(frozen=True)
class _Layer:
    name: str
    phases: tuple[_Phase, ...]
    update_ns: int
    line: int

    def silent(self, phase: int) -> _Layer:
        """The layer without the collective of a phase."""
        without = [replace(one, operation=None) if place == phase else one for place, one in enumerate(self.phases)]
        return replace(self, phases=tuple(without))


@dataclass(frozen=True)
class _Step:
    """A phase of a layer in the order of the program."""

    layer: _Layer
    phase: int
    waits: bool = True
    """Whether what follows waits for the collective."""
    joins: bool = False
    """Whether what follows waits for the collective of the step before."""


@dataclass(frozen=True)
class Sizes:
    """Ranks, and how many of them share a layer, an expert and the data."""

    ranks: int
    tensor: int
    expert: int

    def groups(self, domain: str) -> list[tuple[int, ...]]:
        """The groups of all ranks: tensor parallelism joins neighbours, then come experts, then data."""
        tp, ep = self.tensor, self.expert
        block = tp * ep
        match domain:
            case "all":
                return [tuple(range(self.ranks))]
            case "tp":
                return [tuple(range(first, first + tp)) for first in range(0, self.ranks, tp)]
            case "ep":
                return [
                    tuple(range(first + at, first + block, tp))
                    for first in range(0, self.ranks, block)
                    for at in range(tp)
                ]
            case "dp_ep":
                return [tuple(range(first, self.ranks, block)) for first in range(block)]
            case _:
                return [tuple(range(first, self.ranks, tp)) for first in range(tp)]


class _Reader:
    """Lines of a file; each fault is raised at its line."""

    def __init__(self, path: Path, ranks: int | None, layers: int | None) -> None:
        self._path = path
        self._ranks = ranks
        self._layers = layers
        self._line = 1
        self._type = ""
        self._keys: dict[str, list[int]] = {}

    def read(self) -> OperationGraph:
        rows = [(line, text.split()) for line, text in self._lines()]
        if not rows:
            self._fail("the file is empty", "give a workload of SimAI or ASTRA-sim")
        self._read_type(*rows[0])
        self._line = rows[1][0] if len(rows) > 1 else self._line
        if len(rows) < 2 or len(rows[1][1]) != 1:
            self._fail("the second line is not the number of layers", "write the number alone")
        count = self._number("the number of layers", rows[1][1][0], 1, MAX_LAYERS)
        if count != len(rows) - 2:
            self._fail(f"the file has {len(rows) - 2} of the {count} layers that it promises", "give the whole file")
        if self._layers is not None and self._layers > count:
            cause = f"the file has {count:,} layers, fewer than layers: {self._layers}"
            self._fail(cause, "give a smaller number, or none")
        layers = [self._layer(line, words) for line, words in rows[2:]][: self._layers]
        self._line = rows[0][0]
        return _Instances(self._path, self._sizes()).make(self._program(layers)).check(str(self._path))

    def _lines(self) -> Iterator[tuple[int, str]]:
        lines = enumerate(read_text(self._path, "workload").splitlines(), start=1)
        return ((line, text) for line, text in lines if text.strip())

    def _read_type(self, line: int, words: list[str]) -> None:
        self._line, self._type = line, words[0]
        if why := _OTHER_TYPES.get(words[0]):
            self._fail(f"{words[0]} {why}, which p4cc does not read", f"types that it reads: {', '.join(TYPES)}")
        if words[0] not in TYPES:
            self._fail(f"{shown(words[0])} is not a type of a workload", f"types: {', '.join(TYPES)}")
        key = ""
        for word in words[1:]:
            if word.endswith(":") or word == "pp_comm":
                key = word.removesuffix(":")
                if key not in _KEYS:
                    self._fail(f"{shown(key)} is not a key of a workload", f"keys: {', '.join(_KEYS)}")
                if key in self._keys:
                    self._fail(f"{key} is given twice", "give each key once")
                self._keys[key] = []
            elif not key:
                self._fail(f"{shown(word)} comes before any key", "write KEY: NUMBER after the type")
            else:
                self._keys[key].append(self._number(key, word, 0, MAX_FLOW_BYTES))
        for name, values in self._keys.items():
            if not values:
                self._fail(f"{name} has no value", f"write {name}: NUMBER, or remove it")

    def _key(self, key: str, usual: int) -> int:
        values = self._keys.get(key, [])
        if len(values) > 1:
            self._fail(f"{key} has {len(values)} values", "give it one")
        return values[0] if values else usual

    def _sizes(self) -> Sizes:
        given = self._key("all_gpus", 0)
        ranks = given or self._ranks
        if ranks is None:
            self._fail("the file has no all_gpus", "add all_gpus: NUMBER to it, or ranks to a scenario")
        if not 2 <= ranks <= MAX_RANKS:
            self._fail(f"the workload is for {ranks} GPUs", f"give 2 to {MAX_RANKS}")
        hybrid = self._type in (TRANSFORMER, RECOMPUTING)
        tensor = self._key("model_parallel_NPU_group", 1) if hybrid else 1
        expert = self._key("ep", 1) if hybrid else 1
        if tensor < 1 or expert < 1 or ranks % (tensor * expert):
            cause = f"{ranks} GPUs are not a multiple of {tensor} (model_parallel_NPU_group) times {expert} (ep)"
            self._fail(cause, "correct the first line, or ranks")
        return Sizes(ranks, tensor, expert)

    def _layer(self, line: int, words: list[str]) -> _Layer:
        self._line = line
        if len(words) != _WORDS:
            cause = f"the layer has {len(words)} words"
            self._fail(cause, "write NAME -1, three times NS COLLECTIVE BYTES, and NS of the update")
        phases = tuple(self._phase(phase, *words[2 + 3 * phase : 5 + 3 * phase]) for phase in range(3))
        update_ns = self._number("the time of the update", words[11], 0, MAX_TIME_NS)
        return _Layer(words[0], phases, update_ns, line)

    def _phase(self, phase: int, compute: str, collective: str, size: str) -> _Phase:
        compute_ns = self._number("a computing time", compute, 0, MAX_TIME_NS)
        size_bytes = self._number("a size", size, 0, MAX_FLOW_BYTES)
        name, _, suffix = collective.partition("_")
        if name == "NONE" or size_bytes == 0:
            return _Phase(compute_ns, None, "", 0)
        if name not in _OPERATIONS or suffix not in ("", "EP", "DP_EP", "DP"):
            self._fail(f"{shown(collective)} is not a collective", _COLLECTIVES)
        usual = "dp" if phase == _WEIGHT else "tp"
        domain = suffix.lower() or usual
        if self._type not in (TRANSFORMER, RECOMPUTING):
            # Data parallelism alone exchanges gradients of weights, model parallelism alone the others.
            exchanged = {DATA: (_WEIGHT,), MICRO: (_WEIGHT,), MODEL: (_FORWARD, _INPUT)}[self._type]
            if phase not in exchanged:
                return _Phase(compute_ns, None, "", 0)
            domain = "all"
        return _Phase(compute_ns, _OPERATIONS[name], domain, size_bytes)

    def _program(self, layers: list[_Layer]) -> Iterator[_Step]:
        """The steps of each rank, in order."""
        if self._type == MICRO:
            yield _Step(layers[0], _WEIGHT)
            return
        yield from (_Step(layer, _FORWARD) for layer in layers)
        if self._type == DATA:
            for number, layer in reversed(list(enumerate(layers))):
                yield _Step(layer, _WEIGHT, waits=False)
                if number > 0:
                    yield _Step(layer, _INPUT)
            return
        again = self._recomputed(len(layers))
        for number, layer in reversed(list(enumerate(layers))):
            if number in again:
                yield from (_Step(one, _FORWARD) for one in layers[again[number] : number])
            # Nobody needs the gradient of the first layer's input; here alone ASTRA-sim leaves it out.
            needed = self._type != MODEL or number > 0
            yield _Step(layer if needed else layer.silent(_INPUT), _INPUT, waits=self._type != MODEL)
            yield _Step(layer, _WEIGHT, waits=False, joins=self._type == MODEL)

    def _recomputed(self, layers: int) -> dict[int, int]:
        """Layers before whose gradient others are computed forward again, with the first of these."""
        if self._type != RECOMPUTING:
            return {}
        found: dict[str, list[int]] = {}
        for key in ("checkpoints", "checkpoint_initiates"):
            count, *named = self._keys.get(key) or [0]
            if len(named) != count or any(layer >= layers for layer in named):
                self._fail(f"{key} does not name {count} of the {layers} layers", "correct the first line")
            found[key] = sorted(named)
        first: dict[int, int] = {}
        for layer in found["checkpoint_initiates"]:
            before = bisect_right(found["checkpoints"], layer)
            if before == 0:
                self._fail(f"no checkpoint comes before layer {layer}", "correct checkpoints")
            first[layer] = found["checkpoints"][before - 1]
        if 3 * layers + sum(layer - begin for layer, begin in first.items()) > MAX_STEPS:
            cause = f"the program has more than {MAX_STEPS} steps: its checkpoints repeat too many layers"
            self._fail(cause, "give fewer layers or checkpoint_initiates")
        return first

    def _number(self, what: str, word: str, least: int, most: int) -> int:
        return whole_word(what, word, least, most, f"{self._path}:{self._line}")

    def _fail(self, cause: str, remedy: str) -> NoReturn:
        raise UserError(cause, place=f"{self._path}:{self._line}", remedy=remedy)


@dataclass
class _Rank:
    """A rank while its operations are made."""

    before: tuple[int, ...] = ()
    """What its next operation waits for."""
    open: tuple[int, ...] = ()
    """Collectives that a later step waits for."""
    computed_ns: int = 0
    """Computing time that operations have already."""


class _Instances:
    """Makes the program of each rank; computing times without a collective between them are one operation."""

    def __init__(self, path: Path, sizes: Sizes) -> None:
        self._path = path
        self._sizes = sizes
        self._ranks = [_Rank() for _ in range(sizes.ranks)]
        self._groups: dict[str, list[tuple[int, ...]]] = {}
        self._compute_ns = 0
        """Computing time of a rank so far, the same for all."""
        self._names: set[str] = set()
        self._uses: Counter[str] = Counter()
        self.graph = OperationGraph(sizes.ranks)

    def make(self, program: Iterable[_Step]) -> OperationGraph:
        place = str(self._path)
        for step in program:
            place = f"{self._path}:{step.layer.line}"
            self._step(step, f"{step.layer.name}.{_NAMES[step.phase]}", place)
        for number in range(len(self._ranks)):
            self._compute(number, "end", place)
        return self.graph

    def _step(self, step: _Step, name: str, place: str) -> None:
        phase = step.layer.phases[step.phase]
        self._compute_ns += phase.compute_ns
        if self._compute_ns > MAX_TIME_NS:
            cause = f"a rank computes for more than {MAX_TIME_NS} ns"
            raise UserError(cause, place=place, remedy="reduce the computing times, or give fewer layers")
        if step.joins and self._ranks[0].open:
            # All ranks run the same program, so what holds for one holds for all.
            for number, rank in enumerate(self._ranks):
                self._compute(number, f"{name}.compute", place)
                rank.before, rank.open = rank.before + rank.open, ()
        if phase.operation is None:
            return
        if phase.domain not in self._groups:
            self._groups[phase.domain] = self._sizes.groups(phase.domain)
        groups = self._groups[phase.domain]
        if len(groups[0]) < 2:
            return
        found: list[tuple[int, int]] = [(0, 0)] * self._sizes.ranks
        for members in groups:
            for at, number in enumerate(members):
                found[number] = len(self.graph.groups), at
            self.graph.groups.append(Group(phase.operation, members, phase.size_bytes))
        for number, (group, at) in enumerate(found):
            self._part(number, step, name, place, (group, at))

    def _part(self, number: int, step: _Step, name: str, place: str, part_of: tuple[int, int]) -> None:
        """A rank's part of a collective, and its update; `part_of` is the collective and the place in it."""
        rank, layer = self._ranks[number], step.layer
        self._compute(number, f"{name}.compute", place)
        work: spec.Work = {"kind": "collective", "collective": part_of[0], "rank": part_of[1]}
        part = (self._add(number, name, work, place, rank.before),)
        if layer.update_ns:
            work = {"kind": "compute", "host": number, "duration_ns": layer.update_ns}
            part = (self._add(number, f"{name}.update", work, place, part),)
        if step.waits:
            rank.before = part
        else:
            rank.open = part

    def _compute(self, number: int, name: str, place: str) -> None:
        rank = self._ranks[number]
        if self._compute_ns > rank.computed_ns:
            duration_ns = self._compute_ns - rank.computed_ns
            work: spec.Work = {"kind": "compute", "host": number, "duration_ns": duration_ns}
            rank.before, rank.computed_ns = (self._add(number, name, work, place, rank.before),), self._compute_ns

    def _add(self, number: int, name: str, work: spec.Work, place: str, after: tuple[int, ...]) -> int:
        unique = name = f"{number}.{name}"[:56]
        # Layers of one name, and what runs again, have a number of their own.
        while unique in self._names:
            self._uses[name] += 1
            unique = f"{name}:{self._uses[name] + 1}"
        self._names.add(unique)
        return self.graph.add({"name": unique, "work": work, "after": list(after)}, place)


def read_simai_workload(path: Path, ranks: int | None = None, layers: int | None = None) -> OperationGraph:
    """The operations of all ranks; `ranks` is their number in a file that does not have it. Raises UserError.

    Of its `layers`, only the first so many are run.
    """
    return _Reader(path, ranks, layers).read()
