"""Runs as tasks of Ray: inputs are sent once, short runs share a task, and a task is retried when its worker dies.

The caller plans every case, so that it knows the key of each run, and asks only for runs that no cache has. Results are
checked like those of a store. The cluster is joined when the first run is missing.
"""

# Ray is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import secrets
import socket
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Protocol, cast
from urllib.parse import urlsplit

from p4cc.cluster.answer import unpacked_answers
from p4cc.cluster.batches import Batches, Waiting
from p4cc.cluster.bundle import Contents, bundle_of, sha256
from p4cc.cluster.worker import Task
from p4cc.digits import digits
from p4cc.errors import UserError
from p4cc.extras import needs
from p4cc.large_pages import VARIABLE, with_large_pages
from p4cc.running.cached_run import unpacked
from p4cc.running.provenance import this_p4cc
from p4cc.running.remote_runs import LostClusterError, RemoteResult, RunOrder

if TYPE_CHECKING:
    import concurrent.futures
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from ray import ObjectRef

    from p4cc.cluster.bundle import Bundle
    from p4cc.cluster.store import RunStore
    from p4cc.cluster.tasks import Answer
    from p4cc.cluster.worker import TaskFields
    from p4cc.running.derived_run import DerivedRun
    from p4cc.running.remote_runs import Study

LOCAL = "ray"
"""`--on ray`: the cluster that RAY_ADDRESS names, else one of this machine for the time of the command."""
CLIENT = "ray://"
CLIENT_PORT = 10_001
CONNECT_TIMEOUT_S = 10.0
CONNECT_TRIES = 3
"""Of Ray's client, each of half a minute."""
MOST_MORE = 8
"""How many times as much memory as was thought a run is given before it counts as one that has not enough."""
MAX_RETRIES = 3
"""Of a run whose worker died: a run that kills its worker each time must end."""
RUNS_AHEAD = 8_192
"""Runs asked for that are not written yet: with some 0.1 MB of rows each, 0.8 GB of the caller's memory at most."""
TASKS_PER_CORE = 4
"""Tasks that wait at Ray for each core that it has, so that none waits for the caller."""
LEAST_TASKS = 256
"""Under way even on a small cluster: Ray's autoscaler sees from them that more machines are wanted."""


_Alike = tuple[int, "tuple[tuple[str, Path], ...]", int]
"""A study by its place among those of this command, the files of one of its cases, and the memory of its runs."""


_WHEEL = re.compile(r"p4cc-[0-9A-Za-z_.+]+-cp\d+-\w+-[\w.]+\.whl")
"""A wheel's name, without a build tag."""


@dataclass(frozen=True)
class ClusterSettings:
    """The command line's settings of the cluster."""

    address: str
    memory_bytes: int | None = None
    """Reserved by Ray for each run; by default as much as its network needs."""
    wheel: Path | None = None
    """A wheel of p4cc that workers install."""


class WorkerDiedError(UserError):
    """A task whose workers died at each attempt."""

    lacked_memory = False


class Reference(Protocol):
    """A task of Ray's that runs."""

    def future(self) -> concurrent.futures.Future[Answer]:
        """Its answer."""
        ...


class RemoteFunction(Protocol):
    """A function of Ray's."""

    def options(self, **options: object) -> RemoteFunction:
        """The function with other options."""
        ...

    def remote(self, *arguments: object) -> Reference:
        """Starts a task."""
        ...


@dataclass(frozen=True)
class _Joined:
    ray: ModuleType
    function: RemoteFunction


class RayCluster:
    """A cluster of Ray; `close` leaves it, and ends a local one."""

    def __init__(self, settings: ClusterSettings, store: RunStore | None = None) -> None:
        """Joins nothing yet; raises UserError for settings that cannot be."""
        self._settings = settings
        self._store = store
        self._joined: _Joined | None = None
        self._refused: UserError | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._cores = 0
        self._largest_bytes = 0
        """Memory of the largest machine; 0 where that is not known."""
        self._most_reserved = 0
        self._batches: tuple[asyncio.AbstractEventLoop, Batches] | None = None
        self._loss: asyncio.Future[LostClusterError] | None = None
        self._contents = Contents()
        self._put: dict[str, object] = {}
        self._sent_bundles: dict[tuple[int, tuple[tuple[str, Path], ...]], tuple[str, object]] = {}
        self._studies: list[Study] = []
        self._sender: dict[str, str | None] = {}
        self.peak_bytes = 0
        """Memory that a worker's process took at most."""
        # Whether it is there is known before anything is planned.
        # It is not imported yet: it reads its environment then.
        if importlib.util.find_spec("ray") is None:
            with needs("--on", "ray"):
                importlib.import_module("ray")
        if settings.address != LOCAL and not settings.address.startswith(CLIENT):
            remedy = "give ray://HEAD:10001, or ray with the address in RAY_ADDRESS"
            raise UserError("is not the address of a cluster", place=self.place, remedy=remedy)
        if settings.wheel is not None and not (_WHEEL.fullmatch(settings.wheel.name) and settings.wheel.is_file()):
            raise UserError(
                "no such wheel", place=f"--wheel {settings.wheel}", remedy="`make wheel` makes one in dist/"
            )

    @property
    def runs_ahead(self) -> int:
        """Runs that are asked for before their results are written."""
        return RUNS_AHEAD

    @property
    def place(self) -> str:
        """The cluster, for people."""
        return f"--on {self._settings.address}"

    async def make(self, asked: RunOrder) -> RemoteResult:
        """Has a worker make a run; raises UserError, LostClusterError."""
        if self._refused is not None:
            # Others of this call came first: they have said it.
            raise self._refused
        if self._joined is None:
            self._join(asked)
        return await self._of_loop().make(asked)

    def note(self) -> str | None:
        """A remark about how the runs were made, which has no effect on results."""
        reserved = self._settings.memory_bytes or self._most_reserved
        if self.peak_bytes <= reserved:
            return None
        took = f"a worker took {self.peak_bytes / 1e9:.1f} GB, and {reserved / 1e9:.1f} GB were reserved for"
        return f"{took} {'each run' if self._settings.memory_bytes else 'the largest run'}: give --memory"

    def close(self) -> None:
        """Leaves the cluster, which ends this caller's tasks."""
        if self._joined is not None:
            self._joined.ray.shutdown()
            self._joined = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    @property
    def _cluster(self) -> _Joined:
        if self._joined is None:
            raise RuntimeError("the cluster is joined before its first task")
        return self._joined

    def _of_loop(self) -> Batches:
        """The batches of the running loop: each call of a study has a separate one."""
        loop = asyncio.get_running_loop()
        if self._batches is None or self._batches[0] is not loop:
            most = max(LEAST_TASKS, TASKS_PER_CORE * self._cores)
            self._batches = (loop, Batches(self._work, self._alike, most, self._cores))
        return self._batches[1]

    async def _work(self, runs: list[Waiting]) -> None:
        """Gives runs to one task and hands over what comes of it."""
        first = runs[0].asked
        try:
            reference = self._task(runs)
            try:
                answer = await self._answer(reference)
            except Exception as error:  # noqa: BLE001 - named one by one in _meaning
                await self._died(runs, error)
                return
            if (failed := answer["failed"]) is not None:
                raise UserError(failed["cause"], place=failed["place"], remedy=failed["remedy"])  # noqa: TRY301
            self.peak_bytes = max(self.peak_bytes, answer["peak_bytes"])
            size_bytes = len(answer["derived"]) + sum(map(len, answer["data"]))
            self._of_loop().took(first, len(answer["made"]), answer["seconds"], size_bytes)
            for one, made in zip(runs, await asyncio.to_thread(self._made, runs, answer), strict=True):
                one.give(made)
        except Exception as error:  # noqa: BLE001 - whoever waits for the runs raises it
            for one in runs:
                one.fail(error)

    def _task(self, runs: list[Waiting]) -> Reference:
        """A task of Ray's for runs with the same inputs; raises UserError."""
        name, bundle = self._sent(runs[0].asked)
        tasks = [
            asdict(Task(one.variant, one.point, one.seed, one.key, one.label, self._sender))
            for one in (waiting.asked for waiting in runs)
        ]
        store = None if self._store is None else self._store.url
        # The list keeps Ray from fetching the inputs for workers that have them.
        self._most_reserved = max(self._most_reserved, *(self._reserved(one) for one in runs))
        return self._with_needs(runs).remote(name, [bundle], tasks, store)

    async def _died(self, runs: list[Waiting], error: Exception) -> None:
        """Retries runs that died together one by one, to find the cause; raises UserError."""
        meaning = self._meaning(error, runs[0])
        if isinstance(meaning, LostClusterError):
            if self._loss is None:
                self._loss = asyncio.ensure_future(self._finished(meaning))
            raise await asyncio.shield(self._loss) from error
        if not isinstance(meaning, WorkerDiedError) or (len(runs) == 1 and not self._gets_more(runs[0], meaning)):
            raise meaning from error
        for one in runs:
            await self._work([one])

    def _gets_more(self, one: Waiting, error: WorkerDiedError) -> bool:
        """Whether a run that had not enough memory is tried again with twice as much."""
        before = self._reserved(one)
        if not error.lacked_memory or one.more >= MOST_MORE:
            return False
        one.more *= 2
        return self._reserved(one) > before

    async def _finished(self, error: LostClusterError) -> LostClusterError:
        """The error with the number of runs in the store that no answer has reported."""
        if (store := self._store) is not None:
            loop = asyncio.get_running_loop()
            asked = self._of_loop().outstanding()
            looks = [loop.run_in_executor(store.threads, store.holds, one.key) for one in asked]
            error.finished = sum([found is True for found in await asyncio.gather(*looks, return_exceptions=True)])
        return error

    def _join(self, asked: RunOrder) -> None:
        """Joins the cluster, for runs like this one; raises UserError, then and ever after."""
        address = self._settings.address
        if address == LOCAL:
            address = os.environ.get("RAY_ADDRESS") or "local"
        environment: dict[str, object] = {"env_vars": {VARIABLE: with_large_pages(os.environ.get(VARIABLE, ""))}}
        if self._settings.wheel is not None:
            environment["py_modules"] = [str(self._named_wheel(self._settings.wheel))]
        options: dict[str, object] = {"runtime_env": environment, "log_to_driver": False, "logging_level": "ERROR"}
        if address == "local":
            options |= {"include_dashboard": False}
            # Ray listens on all interfaces: who does not know the token gets nothing done.
            os.environ.setdefault("RAY_AUTH_MODE", "token")
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        import ray

        try:
            _begin(ray, address, options)
            nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        except Exception as error:
            cause = f"the cluster cannot be joined: {type(error).__name__}: {_first_line(error)}"
            remedy = "check the address and that the head runs (docs/how-to/run-on-a-cluster.md)"
            self._refused = UserError(cause, place=self.place, remedy=remedy)
            raise self._refused from error
        self._sender = this_p4cc()
        cores = int(sum(node.get("CPU", 0) for node in nodes))
        threads, reserved = asked.study.threads, self._settings.memory_bytes or 0
        fits = [node.get("memory", 0) for node in nodes if node.get("CPU", 0) >= threads]
        self._largest_bytes = int(max(fits, default=0))
        # A cluster without cores is one that grows when there is work.
        if cores and (not fits or self._largest_bytes < reserved):
            memory = f" and {reserved / 1e9:g} GB" if reserved else ""
            cause = f"no machine of the cluster has {threads} cores{memory} for a run"
            remedy = "lower --threads or --memory, or add a larger machine first"
            self._refused = UserError(cause, place=self.place, remedy=remedy)
            raise self._refused
        self._cores = cores
        self._joined = _Joined(ray, cast("RemoteFunction", ray.remote(_remote_function())))

    def _named_wheel(self, wheel: Path) -> Path:
        """A copy of the wheel with its content's hash as its build tag: Ray takes wheels of one name for the same."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="p4cc-wheel-")
        content = wheel.read_bytes()
        name, version, rest = wheel.name.split("-", 2)
        copy = Path(self._folder.name, f"{name}-{version}-0{sha256(content)[:16]}-{rest}")
        copy.write_bytes(content)
        return copy

    def _with_needs(self, runs: list[Waiting]) -> RemoteFunction:
        """The function with what Ray reserves for a call."""
        return self._cluster.function.options(
            num_cpus=runs[0].asked.study.threads,
            memory=max(self._reserved(one) for one in runs),
            max_retries=MAX_RETRIES,
            retry_exceptions=False,
            name="p4cc run",
        )

    def _reserved(self, one: Waiting) -> int:
        """Memory for a run: no more than the largest machine has, as it would wait for ever."""
        if self._settings.memory_bytes is not None:
            return self._settings.memory_bytes
        wanted = one.asked.memory_bytes * one.more
        return min(wanted, self._largest_bytes) if self._largest_bytes else wanted

    def _alike(self, asked: RunOrder) -> _Alike:
        """What runs of one task have in common."""
        if all(asked.study is not known for known in self._studies):
            self._studies.append(asked.study)
        place = next(place for place, known in enumerate(self._studies) if known is asked.study)
        return (place, tuple(sorted(asked.inputs.items())), asked.memory_bytes)

    def _sent(self, asked: RunOrder) -> tuple[str, object]:
        """The inputs of a run at Ray, by name: each content goes there once."""
        known = self._alike(asked)[:2]
        if known not in self._sent_bundles:
            bundle: Bundle = bundle_of(asked.study, asked.inputs, self._contents)
            references = {name: self._at_ray(name, content) for name, content in bundle.contents.items()}
            self._sent_bundles[known] = (bundle.name, self._cluster.ray.put((bundle.manifest, references)))
        return self._sent_bundles[known]

    def _at_ray(self, name: str, content: bytes) -> object:
        if name not in self._put:
            self._put[name] = self._cluster.ray.put(content)
        return self._put[name]

    async def _answer(self, reference: Reference) -> Answer:
        """The answer of a task, which is cancelled when nobody waits for it any more."""
        try:
            return await asyncio.wrap_future(reference.future())
        except asyncio.CancelledError:
            self._cluster.ray.cancel(reference)
            raise

    def _made(self, runs: list[Waiting], answer: Answer) -> list[RemoteResult]:
        """The runs of a task, checked; raises UserError."""
        place = f"{self.place}: the result of {runs[0].asked.label}"
        derived = dict(zip(answer["made"], unpacked_answers(answer["derived"], place), strict=True))
        data = dict(zip(answer["made"], answer["data"], strict=False))
        if answer["made"] and self._store is not None and not self._store.holds(answer["made"][0]):
            self._not_there(answer["made"][0])
        return [self._made_run(one.asked, derived.get(one.asked.key), data.get(one.asked.key)) for one in runs]

    def _made_run(
        self, asked: RunOrder, derived: tuple[DerivedRun, tuple[str, ...]] | None, data: bytes | None
    ) -> RemoteResult:
        if derived is None:
            # It was in the store when its task began.
            run = None if self._store is None else self._store.load(asked.key)
            if run is None or run.seed != asked.seed:
                self._not_there(asked.key)
            return RemoteResult(run, (), is_kept=True)
        run = None if data is None else unpacked(asked.key, data, f"{self.place}: the result of {asked.label}")
        return RemoteResult(run, derived[1], is_kept=self._store is not None, derived=derived[0])

    def _not_there(self, key: str) -> NoReturn:
        where = "the store" if self._store is None else self._store.place(key)
        cause = "a worker said that it wrote this run, and it is not there"
        raise UserError(cause, place=where, remedy="check that the workers write to the store that this URL names")

    def _meaning(self, error: Exception, one: Waiting) -> Exception:
        """The user's error for one of Ray's."""
        from ray import exceptions

        place = f"case {one.asked.label}"
        cause = getattr(error, "cause", error)
        if isinstance(cause, ModuleNotFoundError):
            remedy = "install p4cc there, or give a wheel that they install: --wheel dist/p4cc-….whl"
            return UserError(f"the workers lack a package: {cause}", place=self.place, remedy=remedy)
        if isinstance(error, exceptions.OutOfMemoryError):
            declared = f"{digits(self._reserved(one) / 1e9)} GB were reserved for it"
            remedy = "reserve more for each run, for example --memory 8GB"
            died = WorkerDiedError(f"a worker ran out of memory; {declared}", place=place, remedy=remedy)
            died.lacked_memory = True
            return died
        if isinstance(error, exceptions.RuntimeEnvSetupError):
            remedy = "workers need the packages that the wheel names: see docs/how-to/run-on-a-cluster.md"
            cause = f"the workers cannot install the wheel: {_first_line(error)}"
            return UserError(cause, place=self.place, remedy=remedy)
        if isinstance(error, exceptions.RayTaskError):
            return error
        if isinstance(error, ConnectionError | exceptions.RaySystemError | exceptions.TaskCancelledError):
            return LostClusterError("the cluster's head is lost", place=self.place)
        if isinstance(error, exceptions.RayError):
            cause = f"its worker died {MAX_RETRIES + 1} times: {type(error).__name__}"
            remedy = "run this case alone without --on to see why"
            return WorkerDiedError(cause, place=place, remedy=remedy)
        return error


def _begin(ray: ModuleType, address: str, options: Mapping[str, object]) -> None:
    """Connects; raises what Ray raises, or OSError where nothing listens."""
    if not address.startswith(CLIENT):
        ray.init(address, **options)
        return
    # Ray's own client asks an address where nothing is for half a minute.
    # A busy head may take longer than that.
    place = urlsplit(address)
    with socket.create_connection((place.hostname or "", place.port or CLIENT_PORT), CONNECT_TIMEOUT_S):
        pass
    for tries_left in reversed(range(CONNECT_TRIES)):
        try:
            ray.init(address, **options)
        except ConnectionError:
            if not tries_left:
                raise
        else:
            return


def _remote_function() -> Callable[..., Answer]:
    """What Ray sends by value, as the head need not have p4cc; a worker finds the rest in its own."""

    def run_all(
        name: str,
        bundle: list[ObjectRef[tuple[bytes, dict[str, ObjectRef[bytes]]]]],
        tasks: list[TaskFields],
        store: str | None,
    ) -> Answer:
        import ray

        from p4cc.cluster.tasks import run_task

        def fetch() -> tuple[bytes, dict[str, bytes]]:
            manifest, references = ray.get(bundle[0])
            contents = ray.get(list(references.values()))
            return manifest, dict(zip(references, contents, strict=True))

        return run_task(name, fetch, tasks, store)

    run_all.__module__ = "__main__"
    return run_all


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:300]
