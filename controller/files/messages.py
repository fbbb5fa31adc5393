"""Files that hold a P4Runtime `WriteRequest` as protobuf text."""

from finsy.proto import p4r
from google.protobuf import text_format

from controller.written import Written
from topos.errors import fail


def read_messages(text: str, place: str) -> Written:
    """The entities of a request; raises TopologyError, also for deletions, as there is nothing to delete yet."""
    request = p4r.WriteRequest()
    try:
        text_format.Parse(text, request)
    except text_format.ParseError as error:
        remedy = "write a p4.v1.WriteRequest: updates { type: INSERT entity { ... } }"
        raise fail(place, f"is not a P4Runtime WriteRequest: {error}", remedy) from None
    except RecursionError:
        raise fail(place, "is nested too deeply", "write values without nested structs") from None
    for number, update in enumerate(request.updates):
        if update.type == p4r.Update.DELETE:
            raise fail(f"{place}: updates[{number}]", "deletes a nonexistent entry", "remove the update")
    return Written(messages=tuple(update.entity.SerializeToString(deterministic=True) for update in request.updates))
