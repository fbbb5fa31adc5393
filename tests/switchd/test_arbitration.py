"""Who becomes primary when the primary leaves: the specification's rule and BMv2's."""

from __future__ import annotations

import grpc
import pytest
from finsy import P4ClientError

from tests.p4runtime.session import Controller, Program, Set, connected
from tests.switchd.soak import started

Code = grpc.StatusCode


async def left_alone(address: str, backup: Controller) -> int:
    """What a backup is told when the primary leaves."""
    async with connected(address, election=10) as first:
        assert await first.arbitrate() == Code.OK.value[0]
        assert await backup.arbitrate() == Code.ALREADY_EXISTS.value[0]
    return await backup.told()


async def test_without_a_primary_a_refusal_names_the_ids_that_can_become_it() -> None:
    program = Program()
    with started() as (address, _switch):
        async with connected(address, election=9) as backup:
            assert await left_alone(address, backup) == Code.NOT_FOUND.value[0]
            with pytest.raises(P4ClientError, match="election id 10, the highest so far, or a higher one"):
                await backup.set(Set.VERIFY_AND_COMMIT, program.config())
            assert await backup.arbitrate(10) == Code.OK.value[0]
            await backup.set(Set.VERIFY_AND_COMMIT, program.config())


async def test_by_bmv2s_rule_a_backup_takes_over_without_asking() -> None:
    program = Program()
    with started("--arbitration", "bmv2") as (address, _switch):
        async with connected(address, election=9) as backup:
            assert await left_alone(address, backup) == Code.OK.value[0]
            await backup.set(Set.VERIFY_AND_COMMIT, program.config())
            await backup.insert(program.exact(b"\1", b"\1", program.action("forward", b"\1")))
