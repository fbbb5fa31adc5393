"""Files of entries: runtime JSON of the P4 tutorials, commands of simple_switch_CLI, P4Runtime messages as text."""

from collections.abc import Callable
from pathlib import PurePath

from controller.files.messages import read_messages
from controller.files.switch_cli import parse, read_commands
from controller.files.tutorial_runtime import read_runtime
from controller.written import Written
from topos.loaders.reading import parse_json

_BY_SUFFIX: dict[str, Callable[[str, str], Written]] = {
    ".json": lambda text, place: read_runtime(parse_json(text, place), place),
    **dict.fromkeys((".txtpb", ".pbtxt", ".textproto"), read_messages),
}


def read_entries(text: str, name: str) -> Written:
    """The entities of a file, read by its suffix; raises TopologyError that names the place in it."""
    reader = _BY_SUFFIX.get(PurePath(name).suffix)
    return reader(text, name) if reader is not None else read_commands(parse(text, name))
