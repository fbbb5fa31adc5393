"""`P4DeviceConfig`, in which controllers of BMv2 wrap the program; the fields are those of PI's p4config.proto."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_NAME = "p4/tmp/p4config.proto"
_BOOL, _STRING, _MESSAGE, _BYTES = 8, 9, 11, 12
"""Types as descriptor.proto numbers them."""
_OPTIONAL, _REPEATED = 1, 3


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name=_NAME, package="p4.tmp", syntax="proto3")
    config = file.message_type.add(name="P4DeviceConfig")
    extras = config.nested_type.add(name="Extras")
    pair = extras.nested_type.add(name="KvEntry")
    pair.options.map_entry = True
    for number, name in enumerate(("key", "value"), 1):
        pair.field.add(name=name, number=number, type=_STRING, label=_OPTIONAL)
    entry = ".p4.tmp.P4DeviceConfig.Extras.KvEntry"
    extras.field.add(name="kv", number=1, type=_MESSAGE, label=_REPEATED, type_name=entry)
    config.field.add(name="reassign", number=1, type=_BOOL, label=_OPTIONAL)
    of_config = ".p4.tmp.P4DeviceConfig.Extras"
    config.field.add(name="extras", number=2, type=_MESSAGE, label=_OPTIONAL, type_name=of_config)
    config.field.add(name="device_data", number=3, type=_BYTES, label=_OPTIONAL)
    return file


DESCRIPTOR = descriptor_pool.Default().AddSerializedFile(_file().SerializeToString())
P4DeviceConfig = message_factory.GetMessageClass(DESCRIPTOR.message_types_by_name["P4DeviceConfig"])
