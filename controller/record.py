"""Every request to a switch, one JSON line each, in the order sent: what was asked, and when.

A device config is named by its length and hash; everything else is there whole, in protobuf's JSON form.
"""

import hashlib
import json
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
            "message": MessageToDict(_shortened(message), preserving_proto_field_name=True),
        }
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    return record


def _shortened(message: Message) -> Message:
    """The message, with the program that it may carry named only."""
    if not isinstance(message, p4r.SetForwardingPipelineConfigRequest):
        return message
    short = p4r.SetForwardingPipelineConfigRequest()
    short.CopyFrom(message)
    config = message.config.p4_device_config
    short.config.p4_device_config = f"{len(config)} bytes, sha256 {hashlib.sha256(config).hexdigest()}".encode()
    return short
