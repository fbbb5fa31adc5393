"""Table insertions per second over P4Runtime: a real client inserts routes in batches and deletes them again."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from finsy import P4Client
from finsy.proto import U128, p4r

from controller import codec
from controller.client import Target, connect
from controller.entities import ActionCall, Entry, EntryKey, Lpm, Member, MemberKey, MemberRef, Update, UpdateKind
from controller.pipeline import Pipeline, load_pipeline
from p4cc import _engine

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parents[1]
BATCH = 500
BATCHES = 2
ROUNDS = 10
DEVICE = 1

_FIRST_ADDRESS = 0x0A000000
_TABLE, _KEY = "ingress.forward.ipv4_lpm", "hdr.ipv4.dst_addr"
_MEMBER = Member(
    MemberKey("ingress.forward.ecmp", 1),
    ActionCall("ingress.forward.set_next_hop", (("dst_mac", 0x020000000001), ("port", 1))),
)


def _network() -> _engine.Network:
    """One switch with one host."""
    spec: dict[str, Any] = {
        "switches": [{"name": "s1", "device_id": DEVICE, "ports": [{"port": 1, "queue_capacity_pkts": 10}]}],
        "hosts": [{"name": "h1", "mac": "02:00:00:00:00:01", "ipv4": "10.0.0.1"}],
        "links": [{"a": {"node": "h1"}, "b": {"node": "s1", "port": 1}, "rate_bps": 10**9, "delay_ns": 1000}],
        "algorithms": {"plain": {}},
        "flows": [],
        "stop_ns": 1_000_000,
        "limits": {"max_events": 1000},
    }
    return _engine.Network(json.dumps(spec))


def _request(pipeline: Pipeline, kind: UpdateKind, routes: Iterable[int]) -> p4r.WriteRequest:
    """One batch of writes to the routes; messages are made beforehand, since making them is the client's cost."""
    request = p4r.WriteRequest(device_id=DEVICE, election_id=U128.encode(1))
    for route in routes:
        key = EntryKey(_TABLE, (Lpm(_KEY, _FIRST_ADDRESS + route, 32),))
        request.updates.append(codec.to_update(Update(kind, Entry(key, MemberRef(1))), pipeline.schema))
    return request


async def _insert(address: str, pipeline: Pipeline) -> float:
    """Fills the table ROUNDS times; insertions per second in the median round, deletions left out."""
    async with connect(Target(address, DEVICE, "s1")) as session:
        await session.become_primary()
        await session.ensure_pipeline(pipeline)
        await session.write([[Update(UpdateKind.INSERT, _MEMBER)]], pipeline)
        parts = [range(start, start + BATCH) for start in range(0, BATCH * BATCHES, BATCH)]
        inserts = [_request(pipeline, UpdateKind.INSERT, part) for part in parts]
        deletes = [_request(pipeline, UpdateKind.DELETE, part) for part in parts]
        client = P4Client(address, wait_for_ready=False)
        await client.open()
        seconds: list[float] = []
        try:
            for _ in range(ROUNDS):
                started = time.perf_counter()
                for request in inserts:
                    await client.request(request)
                seconds.append(time.perf_counter() - started)
                for request in deletes:
                    await client.request(request)
        finally:
            await client.close()
    return BATCH * BATCHES / statistics.median(seconds)


def insertions_per_second() -> float:
    """Entries inserted per second, one client, batches of BATCH, over loopback gRPC."""
    compiled = _engine.compile_p4(str(ROOT / "p4src" / "v1model" / "ecn_dual.p4"))
    pipeline = load_pipeline(compiled.p4info_bytes(), compiled.device_config())
    network = _network()
    address = network.serve()
    try:
        return asyncio.run(_insert(address, pipeline))
    finally:
        network.stop_server()
