"""Every request to a switch, one JSON line each, in order, with its time.

A device config is represented by its length and hash; everything else is complete, in protobuf's JSON form.
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from finsy.proto import p4r
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

Recorder: TypeAlias = Callable[[Message], None]
"""Called with every request before it is sent."""


def file_recorder(path: Path, switch: str) -> Recorder:
    """A recorder that appends to a file; each line is whole when the request goes out."""

    def record(message: Message) -> None:
        line = {
            "time": datetime.now(UTC).isoformat(timespec="microseconds"),
            "switch": switch,
            "request": type(message).__name__,
            "message": _plain(message),
        }
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    return record


def _plain(message: Message) -> dict[str, object]:
    """The message in protobuf's JSON form, with length and hash in place of a program."""
    if not isinstance(message, p4r.SetForwardingPipelineConfigRequest):
        return MessageToDict(message, preserving_proto_field_name=True)
    short = p4r.SetForwardingPipelineConfigRequest()
    short.CopyFrom(message)
    config = message.config.p4_device_config
    short.config.p4_device_config = f"{len(config)} bytes, sha256 {hashlib.sha256(config).hexdigest()}".encode()
    # Settings of a chip's externs are in messages of unknown types.
    instances = [instance for extern in short.config.p4info.externs for instance in extern.instances]
    infos = [{"@type": one.info.type_url, "value": b64encode(one.info.value).decode()} for one in instances]
    for one in instances:
        one.ClearField("info")
    plain = MessageToDict(short, preserving_proto_field_name=True)
    externs = plain.get("config", {}).get("p4info", {}).get("externs", ())
    for one, info in zip((one for extern in externs for one in extern["instances"]), infos, strict=True):
        if info["@type"]:
            one["info"] = info
    return plain
