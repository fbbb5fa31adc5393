"""A compiled program as the controller pushes it: P4Info, device config, and the cookie that names the two."""

from dataclasses import dataclass
from functools import cached_property

from finsy import P4Schema
from finsy.proto import p4i, p4r
from google.protobuf import text_format
from google.protobuf.message import DecodeError

from controller import codec
from controller.entities import Scope
from controller.errors import PlanError
from controller.finsy_names import take_keys_that_end_alike
from controller.wire import Wire

# gRPC's usual limit for one message, which bounds what a server accepts.
MAX_PIPELINE_BYTES = 4 * 1024 * 1024

take_keys_that_end_alike()


@dataclass(frozen=True)
class Pipeline:
    """P4Info and device config of one program; `schema` is finsy's view of the P4Info."""

    schema: P4Schema
    config: p4r.ForwardingPipelineConfig

    @property
    def cookie(self) -> int:
        """The first 64 bits of a hash over P4Info and device config."""
        return self.config.cookie.cookie

    @cached_property
    def translation(self) -> codec.Translation:
        """Entities to and from messages of this program."""
        return codec.Translation(self.schema)

    @cached_property
    def wire(self) -> Wire:
        """Serialized requests and entities of this program."""
        return Wire(self.schema, self.config)

    def fills(self, scope: Scope) -> bool:
        """Whether the program itself has entries for a table of the scope, as its P4Info says."""
        return any(codec.find_table(self.schema, name).has_initial_entries for name in scope.tables)

    def is_loaded(self, found: p4r.ForwardingPipelineConfig) -> bool:
        """Whether a switch that answers `found` (P4Info and cookie) runs this very program."""
        return (
            found.HasField("cookie")
            and found.cookie.cookie == self.cookie
            and found.p4info.SerializeToString(deterministic=True)
            == self.config.p4info.SerializeToString(deterministic=True)
        )


def load_pipeline(p4info: str | bytes, device_config: bytes) -> Pipeline:
    """A pipeline from a P4Info (protobuf text, or binary) and a device config; raises PlanError."""
    message = parse_p4info(p4info)
    if len(device_config) + message.ByteSize() > MAX_PIPELINE_BYTES:
        cause = f"{len(device_config)} bytes and the P4Info exceed the limit of {MAX_PIPELINE_BYTES}"
        raise PlanError("device config", cause, "load a smaller program")
    try:
        schema = P4Schema(message, device_config)
        return Pipeline(schema, schema.get_pipeline_config())
    except (ValueError, LookupError, AssertionError) as error:
        raise PlanError("P4Info", f"is inconsistent: {error}", "compile the program again") from None


def parse_p4info(data: str | bytes) -> p4i.P4Info:
    """P4Info from protobuf text or binary; raises PlanError."""
    message = p4i.P4Info()
    try:
        if isinstance(data, str):
            text_format.Parse(data, message)
        else:
            message.ParseFromString(data)
    except (text_format.ParseError, DecodeError) as error:
        # p4c's P4Info for Tofino has messages of the chip's externs, and then none of P4Runtime's own.
        of_chip = "barefoot." in str(error)
        remedy = "compile it with p4c's --p4runtime-force-std-externs" if of_chip else "compile the program again"
        raise PlanError("P4Info", f"cannot be read: {error}", remedy) from None
    return message
