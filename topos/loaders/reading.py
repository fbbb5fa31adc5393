"""Untrusted JSON into checked values: bounded, and every error with its place."""

import json
from pathlib import Path
from typing import NoReturn, cast

from topos.errors import fail

MAX_FILE_BYTES = 16 * 1024 * 1024


def read_text(path: Path) -> str:
    """A text file of at most MAX_FILE_BYTES; raises TopologyError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or "cannot be read"
        raise fail(str(path), cause, "give an existing file") from None
    if len(data) > MAX_FILE_BYTES:
        raise fail(str(path), f"is larger than {MAX_FILE_BYTES} bytes", "split the lab")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise fail(str(path), f"byte {error.start} is not UTF-8", "give a text file") from None


def read_json(path: Path) -> object:
    """A JSON file; raises TopologyError with line and column, for a key given twice, and for numbers JSON lacks."""
    return parse_json(read_text(path), str(path))


def parse_json(text: str, place: str) -> object:
    """JSON text; raises TopologyError."""

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        result: dict[str, object] = {}
        for key, value in items:
            if key in result:
                raise fail(place, f"key {key!r} is given twice", "remove one of the two")
            result[key] = value
        return result

    def constant(name: str) -> NoReturn:
        raise fail(place, f"{name} is not a valid JSON number", "give a number")

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise fail(
            f"{place}:{error.lineno}:{error.colno}", f"not valid JSON: {error.msg}", "correct the file"
        ) from None
    except RecursionError:
        raise fail(place, "is nested too deeply", "give a flat description") from None
    except ValueError as error:
        # A whole number of thousands of digits, or a TopologyError of our own.
        if type(error) is not ValueError:
            raise
        raise fail(place, "contains a number that is too large", "give a smaller number") from None


def as_object(value: object, place: str) -> dict[str, object]:
    """The value if it is an object; raises TopologyError."""
    if not isinstance(value, dict):
        raise _wrong(value, place, "an object {...}")
    return cast("dict[str, object]", value)


def as_list(value: object, place: str) -> list[object]:
    """The value if it is a list; raises TopologyError."""
    if not isinstance(value, list):
        raise _wrong(value, place, "a list [...]")
    return cast("list[object]", value)


def as_text(value: object, place: str) -> str:
    """The value if it is a string; raises TopologyError."""
    if not isinstance(value, str):
        raise _wrong(value, place, "a string")
    return value


def as_int(value: object, place: str) -> int:
    """The value if it is a whole number, or a string that is one; raises TopologyError."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 20:
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(value, place, "a whole number")
    return value


def as_number(value: object, place: str) -> float:
    """The value if it is a number, or a string that is one; raises TopologyError."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise _wrong(value, place, "a number") from None
    if not isinstance(value, int | float) or isinstance(value, bool) or not -1e18 < value < 1e18:
        raise _wrong(value, place, "a number")
    return float(value)


def as_bool(value: object, place: str) -> bool:
    """The value if it is true or false, or one of the words; raises TopologyError."""
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise _wrong(value, place, "true or false")
    return value


def duration_ns(value: object, place: str) -> int:
    """A delay: text with a unit as `tc` writes it, or a bare number, which these files mean in milliseconds."""
    text = value.strip() if isinstance(value, str) else value
    factor = 1_000_000
    if isinstance(text, str):
        for unit, nanoseconds in (("ms", 1_000_000), ("us", 1_000), ("ns", 1), ("s", 1_000_000_000)):
            if text.endswith(unit):
                text, factor = text.removesuffix(unit).strip(), nanoseconds
                break
    return round(as_number(text, place) * factor)


def _wrong(value: object, place: str, wanted: str) -> Exception:
    text = repr(value)
    shown = text if len(text) <= 60 else text[:57] + "..."
    return fail(place, f"{shown} is not {wanted}", "correct the value")
