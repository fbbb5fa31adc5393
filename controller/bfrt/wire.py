"""Messages and calls of BF Runtime, made of the description of `engine/bfrt/proto/bfruntime.proto` that lies beside.

`bfruntime.binpb` is made by this command; a test compares it with the .proto file:

    protoc -I engine/bfrt/proto -I .venv/lib/python3.11/site-packages/finsy/proto \
        --descriptor_set_out=controller/bfrt/bfruntime.binpb engine/bfrt/proto/bfruntime.proto

The messages are in a pool of their own: a process may have the vendor's stubs of the same names beside them.
"""

from importlib import resources
from typing import Any

from finsy.proto import rpc_status
from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "bfrt_proto"
DESCRIPTION = "bfruntime.binpb"

ALL_PIPES = 0xFFFF
BOTH_DIRECTIONS = 0xFF
ALL_PARSERS = 0xFF

Message = Any
"""A message: its class is made as the program starts, so no type checker knows its fields."""


def described() -> descriptor_pb2.FileDescriptorProto:
    """The description of the service's file."""
    raw = resources.files("controller.bfrt").joinpath(DESCRIPTION).read_bytes()
    (file,) = descriptor_pb2.FileDescriptorSet.FromString(raw).file
    return file


def _classes() -> dict[str, Any]:
    pool = descriptor_pool.DescriptorPool()
    for imported in (any_pb2.DESCRIPTOR, rpc_status.Status.DESCRIPTOR.file):
        pool.AddSerializedFile(imported.serialized_pb)
    file = described()
    pool.Add(file)
    found = (pool.FindMessageTypeByName(f"{PACKAGE}.{message.name}") for message in file.message_type)
    return {message.name: message_factory.GetMessageClass(message) for message in found}


_CLASSES = _classes()

Entity: Any = _CLASSES["Entity"]
Error: Any = _CLASSES["Error"]
GetConfigRequest: Any = _CLASSES["GetForwardingPipelineConfigRequest"]
GetConfigResponse: Any = _CLASSES["GetForwardingPipelineConfigResponse"]
ReadRequest: Any = _CLASSES["ReadRequest"]
ReadResponse: Any = _CLASSES["ReadResponse"]
SetConfigRequest: Any = _CLASSES["SetForwardingPipelineConfigRequest"]
SetConfigResponse: Any = _CLASSES["SetForwardingPipelineConfigResponse"]
StreamRequest: Any = _CLASSES["StreamMessageRequest"]
StreamResponse: Any = _CLASSES["StreamMessageResponse"]
TableEntry: Any = _CLASSES["TableEntry"]
Update: Any = _CLASSES["Update"]
WriteRequest: Any = _CLASSES["WriteRequest"]
WriteResponse: Any = _CLASSES["WriteResponse"]


def serialized(message: Message) -> bytes:
    """The bytes of a message, for gRPC."""
    return message.SerializeToString()


def on_all_pipes(request: Message, device_id: int) -> Message:
    """The request, for all pipes of a device: what is the same in each."""
    target = request.target
    target.device_id = device_id
    target.pipe_id, target.direction, target.prsr_id = ALL_PIPES, BOTH_DIRECTIONS, ALL_PARSERS
    return request


class Service:
    """The service's calls over one channel of `grpc.aio`."""

    def __init__(self, channel: Any) -> None:
        def at(name: str) -> str:
            return f"/{PACKAGE}.BfRuntime/{name}"

        def both(answer: Any) -> dict[str, Any]:
            return {"request_serializer": serialized, "response_deserializer": answer.FromString}

        self.write: Any = channel.unary_unary(at("Write"), **both(WriteResponse))
        self.read: Any = channel.unary_stream(at("Read"), **both(ReadResponse))
        self.set_config: Any = channel.unary_unary(at("SetForwardingPipelineConfig"), **both(SetConfigResponse))
        self.get_config: Any = channel.unary_unary(at("GetForwardingPipelineConfig"), **both(GetConfigResponse))
        self.stream: Any = channel.stream_stream(at("StreamChannel"), **both(StreamResponse))
