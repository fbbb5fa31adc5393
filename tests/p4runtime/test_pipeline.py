"""SetForwardingPipelineConfig and its answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from finsy import GRPCStatusCode as Code
from finsy.p4client import P4ClientError
from finsy.proto import p4i, p4r

from p4cc import _engine
from tests.p4runtime.session import Controller, Program, Set, primary

ROOT = Path(__file__).resolve().parents[2]
Get = p4r.GetForwardingPipelineConfigRequest


async def get(controller: Controller, kind: Get.ResponseType.ValueType = Get.ALL) -> p4r.ForwardingPipelineConfig:
    response = await controller.client.request(Get(device_id=1, response_type=kind))
    return response.config


async def refused(
    controller: Controller, action: Set.Action.ValueType, config: p4r.ForwardingPipelineConfig | None
) -> P4ClientError:
    with pytest.raises(P4ClientError) as error:
        await controller.set(action, config)
    return error.value


async def test_verify_changes_nothing_and_commit_needs_a_saved_config(address: str, program: Program) -> None:
    async with primary(address) as controller:
        await controller.set(Set.VERIFY, program.config())
        assert not (await get(controller)).p4_device_config
        assert (await refused(controller, Set.COMMIT, None)).code == Code.NOT_FOUND
        assert (await refused(controller, Set.VERIFY, None)).code == Code.INVALID_ARGUMENT
        with pytest.raises(P4ClientError) as error:
            await controller.insert(program.member(1, b"\x01"))
        assert error.value.code == Code.FAILED_PRECONDITION


async def test_writes_after_save_are_there_after_commit(address: str, program: Program) -> None:
    everything = p4r.Entity(table_entry=p4r.TableEntry(table_id=program.tables["exact_match"]))
    entry = program.exact(b"\x01", b"\x02", program.action("forward", b"\x03"))
    async with primary(address, program) as controller:
        await controller.set(Set.VERIFY_AND_SAVE, program.config(cookie=8))
        await controller.insert(entry)
        assert (await get(controller)).cookie.cookie == 7, "not committed yet"
        assert (await refused(controller, Set.COMMIT, program.config())).code == Code.INVALID_ARGUMENT
        await controller.set(Set.COMMIT)
        assert (await get(controller)).cookie.cookie == 8
        assert await controller.read(everything) == [entry]


async def test_commit_clears_and_reconcile_keeps(address: str, program: Program) -> None:
    everything = p4r.Entity(table_entry=p4r.TableEntry(table_id=program.tables["exact_match"]))
    entry = program.exact(b"\x01", b"\x02", program.action("forward", b"\x03"))
    async with primary(address, program) as controller:
        await controller.insert(entry)
        await controller.set(Set.RECONCILE_AND_COMMIT, program.config(cookie=9))
        assert await controller.read(everything) == [entry]
        assert (await get(controller, Get.COOKIE_ONLY)).cookie.cookie == 9
        await controller.set(Set.VERIFY_AND_COMMIT, program.config())
        assert await controller.read(everything) == []


async def test_get_gives_what_was_set(address: str, program: Program) -> None:
    async with primary(address, program) as controller:
        assert await get(controller) == program.config()
        assert not (await get(controller, Get.P4INFO_AND_COOKIE)).p4_device_config
        assert not (await get(controller, Get.DEVICE_CONFIG_AND_COOKIE)).HasField("p4info")


async def test_bad_configs_say_what_is_wrong(address: str, program: Program) -> None:
    async with primary(address) as controller:
        truncated = program.config()
        truncated.p4_device_config = program.device_config[:-20]
        error = await refused(controller, Set.VERIFY_AND_COMMIT, truncated)
        assert error.code == Code.INVALID_ARGUMENT
        assert "does not compile" in error.message
        assert "everything.p4:" in error.message, "the place in the user's file"

        wrong = program.config()
        wrong.p4info.tables[0].match_fields[0].bitwidth = 31
        error = await refused(controller, Set.VERIFY_AND_COMMIT, wrong)
        assert error.code == Code.INVALID_ARGUMENT
        assert "31 bits in the P4Info, 32 in the program" in error.message

        json = program.config()
        json.p4_device_config = b'{"header_types": 3}'
        error = await refused(controller, Set.VERIFY_AND_COMMIT, json)
        assert error.code == Code.INVALID_ARGUMENT
        assert "pipelines" in error.message


async def test_bmv2_json_is_a_device_config(address: str) -> None:
    path = ROOT / "engine" / "filetests" / "cases" / "bmv2" / "tables.json"
    read = _engine.compile_p4(str(path))
    assert read.ok, read.rendered
    text = path.read_bytes()
    assert read.device_config() == text
    # Field 3 of P4DeviceConfig, the payload: key, length as a varint, bytes.
    size = len(text)
    length = bytearray()
    while size > 0x7F:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    envelope = b"\x1a" + bytes(length) + bytes([size]) + text
    p4info = p4i.P4Info.FromString(read.p4info_bytes())
    async with primary(address) as controller:
        for device_config in (text, envelope):
            config = p4r.ForwardingPipelineConfig(p4info=p4info, p4_device_config=device_config)
            await controller.set(Set.VERIFY_AND_COMMIT, config)
            assert (await get(controller)).p4_device_config == device_config
            assert await controller.read(p4r.Entity(table_entry=p4r.TableEntry())) == []
