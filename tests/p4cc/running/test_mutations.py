"""A damaged file of the cache or of a store is refused: never another run, never a traceback."""

from __future__ import annotations

from tests.p4cc.running.mutations import WRONG, tried


def test_no_mutation_of_a_kept_run_gives_another_run() -> None:
    found = tried(250, seed=7)
    assert all(sum(outcomes.values()) == 250 for outcomes in found.values())
    assert not [name for name, outcomes in found.items() if outcomes[WRONG]]
    # Nearly all of them change a byte, and none of these is taken for the run.
    assert all(outcomes["as it was"] < 25 for outcomes in found.values())
