"""Messages and calls of BF Runtime, built from the compiled `engine/bfrt/proto/bfruntime.proto` in this folder.

`bfruntime.binpb` is made by this command; a test compares it with the .proto file:

    protoc -I engine/bfrt/proto -I .venv/lib/python3.11/site-packages/finsy/proto \
        --descriptor_set_out=controller/bfrt/bfruntime.binpb engine/bfrt/proto/bfruntime.proto

The messages are in a separate pool: a process may also load the vendor's stubs of the same names.
"""

from collections.abc import Callable
from importlib import resources
from typing import Any

import grpc.aio
from finsy.proto import rpc_status
from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "bfrt_proto"
DESCRIPTION = "bfruntime.binpb"

ALL_PIPES = 0xFFFF
BOTH_DIRECTIONS = 0xFF
ALL_PARSERS = 0xFF

Message = Any
"""A message, or its class: the classes are built at run time, so type checkers do not know their fields."""


def description() -> descriptor_pb2.FileDescriptorProto:
    """The description of the service's file."""
    raw = resources.files("controller.bfrt").joinpath(DESCRIPTION).read_bytes()
    (file,) = descriptor_pb2.FileDescriptorSet.FromString(raw).file
    return file


def _classes() -> dict[str, Message]:
    pool = descriptor_pool.DescriptorPool()
    for imported in (any_pb2.DESCRIPTOR, rpc_status.Status.DESCRIPTOR.file):
        pool.AddSerializedFile(imported.serialized_pb)
    file = description()
    pool.Add(file)
    result = (pool.FindMessageTypeByName(f"{PACKAGE}.{message.name}") for message in file.message_type)
    return {message.name: message_factory.GetMessageClass(message) for message in result}


_CLASSES = _classes()

Entity = _CLASSES["Entity"]
Error = _CLASSES["Error"]
GetConfigRequest = _CLASSES["GetForwardingPipelineConfigRequest"]
GetConfigResponse = _CLASSES["GetForwardingPipelineConfigResponse"]
ReadRequest = _CLASSES["ReadRequest"]
ReadResponse = _CLASSES["ReadResponse"]
SetConfigRequest = _CLASSES["SetForwardingPipelineConfigRequest"]
SetConfigResponse = _CLASSES["SetForwardingPipelineConfigResponse"]
StreamRequest = _CLASSES["StreamMessageRequest"]
StreamResponse = _CLASSES["StreamMessageResponse"]
TableEntry = _CLASSES["TableEntry"]
Update = _CLASSES["Update"]
WriteRequest = _CLASSES["WriteRequest"]
WriteResponse = _CLASSES["WriteResponse"]


def serialized(message: Message) -> bytes:
    """The bytes of a message, for gRPC."""
    return message.SerializeToString()


def on_all_pipes(request: Message, device_id: int) -> Message:
    """The request, addressed to all pipes of a device."""
    target = request.target
    target.device_id = device_id
    target.pipe_id, target.direction, target.prsr_id = ALL_PIPES, BOTH_DIRECTIONS, ALL_PARSERS
    return request


class Service:
    """The service's calls over one channel of `grpc.aio`."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        def at(name: str) -> str:
            return f"/{PACKAGE}.BfRuntime/{name}"

        def both(answer: Message) -> dict[str, Callable[[Message], Message]]:
            return {"request_serializer": serialized, "response_deserializer": answer.FromString}

        self.write = channel.unary_unary(at("Write"), **both(WriteResponse))
        self.read = channel.unary_stream(at("Read"), **both(ReadResponse))
        self.set_config = channel.unary_unary(at("SetForwardingPipelineConfig"), **both(SetConfigResponse))
        self.get_config = channel.unary_unary(at("GetForwardingPipelineConfig"), **both(GetConfigResponse))
        self.stream = channel.stream_stream(at("StreamChannel"), **both(StreamResponse))
