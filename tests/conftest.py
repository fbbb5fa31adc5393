"""For all tests: the same examples on each run, and an order that keeps every processor busy to the end.

Property tests draw the same examples, so that a change fails only by what it changed. `make properties` draws new
ones (profile `new`). Examples may take as long as a busy machine makes them.
"""

# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling

settings.register_profile("same", deadline=None, derandomize=True, database=None)
settings.register_profile("new", deadline=None, print_blob=True)
settings.load_profile("same")

# Their interfaces have equal names, so that they wait for one another: one worker has them all.
ONE_AFTER_ANOTHER = ("tests/lab/", "tests/linux/")
# What takes longest begins first: last and alone it would leave processors idle.
LONGEST = (*ONE_AFTER_ANOTHER, "tests/cluster/", "tests/live/", "tests/report/", "tests/packaging/")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ranks = {folder: rank for rank, folder in enumerate(LONGEST)}

    def rank(item: pytest.Item) -> int:
        return next((ranks[folder] for folder in LONGEST if item.nodeid.startswith(folder)), len(LONGEST))

    items.sort(key=rank)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """A worker takes a file after another (`--dist loadfile`), but whoever takes the labs takes all of them."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class LabsOnOneWorker(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "labs" if nodeid.startswith(ONE_AFTER_ANOTHER) else super()._split_scope(nodeid)

    return LabsOnOneWorker(config, log)
