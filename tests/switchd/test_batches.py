"""Batches that fail, as clients with the limits of their library see them."""

from __future__ import annotations

from typing import Any, cast

import grpc
import pytest
from finsy.proto import U128, p4r, rpc_status

from tests.p4runtime.session import Program, Set
from tests.switchd.soak import DEVICE, Client, started


def failing(program: Program, count: int) -> list[p4r.Update]:
    """Deletions of what is not there."""
    entities = [program.exact(at.to_bytes(4, "big").lstrip(b"\0"), b"\1") for at in range(1, count + 1)]
    return [p4r.Update(type=p4r.Update.DELETE, entity=entity) for entity in entities]


def refused(channel: grpc.Channel, client: Client, updates: list[p4r.Update]) -> tuple[grpc.StatusCode, str, list[int]]:
    """What a client is told: code, text, and the codes of the updates."""
    request = p4r.WriteRequest(device_id=DEVICE, role=client.role, election_id=U128.encode(1), updates=updates)
    write = cast("Any", channel.unary_unary("/p4.v1.P4Runtime/Write"))
    with pytest.raises(grpc.RpcError) as raised:
        write(request.SerializeToString(), timeout=30)
    call = cast("grpc.Call", raised.value)
    trailers = dict(call.trailing_metadata() or ())
    status = rpc_status.Status.FromString(cast("bytes", trailers["grpc-status-details-bin"]))
    errors = [p4r.Error.FromString(detail.value) for detail in status.details]
    return call.code(), call.details() or "", [error.canonical_code for error in errors]


def test_a_standard_client_hears_of_a_long_batch_and_a_prepared_one_of_all_of_it() -> None:
    not_found = grpc.StatusCode.NOT_FOUND.value[0]
    with started() as (address, _switch):
        client = Client(address, 1)
        config = Set(device_id=DEVICE, action=Set.VERIFY_AND_COMMIT, role=client.role, election_id=U128.encode(1))
        config.config.CopyFrom(client.program.config())
        client.call("SetForwardingPipelineConfig", config)
        for count in (1, 100, 1_000, 20_000):
            updates = failing(client.program, count)
            code, text, codes = refused(client.channel, client, updates)
            assert code == grpc.StatusCode.UNKNOWN, text
            assert codes == [not_found] * len(codes)
            assert f"{count} of {count} failed" in text
            assert (len(codes) == count) == (count <= 100)
            if len(codes) < count:
                assert len(codes) > 50
                assert f"details of {count - len(codes)} are left out" in text
        prepared = [("grpc.max_metadata_size", 8_192 + 1_000 * 100), ("grpc.use_local_subchannel_pool", 1)]
        with grpc.insecure_channel(address, options=prepared) as channel:
            _, _, codes = refused(channel, client, failing(client.program, 1_000))
            assert codes == [not_found] * 1_000
        client.close()
