"""Short runs go several to a task, each run is handed over by itself, and no core waits for a large task."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from p4cc.cluster.batches import FIRST_TASKS, MAX_BATCH, TASK_S, Batches, Waiting
from p4cc.errors import UserError
from p4cc.running.progress import Runs
from p4cc.running.remote_runs import RemoteResult, RunOrder, Study

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

STUDY = Study(Path("scenario.yaml"), {}, {}, {}, 1, None)


def asked(seed: int) -> RunOrder:
    return RunOrder(STUDY, {}, "Reno", {}, seed, f"{seed:064x}", f"seed {seed}")


class Cluster:
    """Tasks that end when they are told to, each run after so many seconds."""

    def __init__(self, run_s: float, cores: int = 2, size_bytes: int = 1_000) -> None:
        self.run_s, self.size_bytes = run_s, size_bytes
        self.sizes: list[int] = []
        self.cancelled = 0
        self.batches = Batches(self.work, lambda one: one.variant, 256, cores)

    async def work(self, runs: list[Waiting]) -> None:
        self.sizes.append(len(runs))
        try:
            await asyncio.sleep(0.001 * len(runs))
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.batches.took(runs[0].asked, len(runs), self.run_s * len(runs), self.size_bytes * len(runs))
        for one in runs:
            one.give(RemoteResult(None, (one.asked.label,), is_kept=True))


def ended(call: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(call(), 30))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("run_s", "largest"), [(0.02, 64), (0.2, int(TASK_S / 0.2)), (90.0, 1)])
def test_tasks_are_as_long_as_a_task_shall_be(run_s: float, largest: int) -> None:
    cluster = Cluster(run_s)

    async def study() -> None:
        made = await asyncio.gather(*(cluster.batches.make(asked(seed)) for seed in range(1_000)))
        assert [one.notes[0] for one in made] == [f"seed {seed}" for seed in range(1_000)]

    ended(study)
    assert sum(cluster.sizes) == 1_000
    assert cluster.sizes[:FIRST_TASKS] == [1] * FIRST_TASKS
    assert max(cluster.sizes) == min(largest, MAX_BATCH)
    # At the end of a study all cores have something to do.
    assert cluster.sizes[-1] == 1


def test_large_results_are_not_gathered() -> None:
    cluster = Cluster(0.001, size_bytes=20 << 20)

    async def study() -> None:
        await asyncio.gather(*(cluster.batches.make(asked(seed)) for seed in range(100)))

    ended(study)
    assert max(cluster.sizes) == 1


def test_runs_that_nobody_waits_for_end() -> None:
    cluster = Cluster(1.0)

    async def study() -> None:
        calls = [asyncio.ensure_future(cluster.batches.make(asked(seed))) for seed in range(50)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await asyncio.sleep(0.01)
        assert not cluster.batches.outstanding()

    ended(study)
    assert cluster.cancelled == len(cluster.sizes) == FIRST_TASKS


def test_what_fails_is_said_to_each() -> None:
    cluster = Cluster(1.0)

    async def fails(runs: list[Waiting]) -> None:
        for one in runs:
            one.fail(UserError("lost"))

    cluster.batches.work = fails

    async def study() -> None:
        found = await asyncio.gather(*(cluster.batches.make(asked(seed)) for seed in range(20)), return_exceptions=True)
        assert [str(one) for one in found] == ["lost"] * 20

    ended(study)


def test_the_bar_counts_runs_at_the_cluster() -> None:
    said: list[str] = []
    runs = Runs(5, lambda runs: said.append(runs.counts))
    with runs.asked(), runs.asked():
        runs.ended("one", 1)
    assert said == [
        "0/5 runs, 1 at the cluster",
        "0/5 runs, 2 at the cluster",
        "1/5 runs, 2 at the cluster",
    ]
    assert runs.counts == "1/5 runs"
