"""YAML files to plain data that still knows its lines (`nodes`), and plain data to YAML."""

# ruamel.yaml is typed in part only.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ruamel.yaml import YAML

from p4cc.errors import UserError
from p4cc.files import files_seen
from p4cc.scenario import extend
from p4cc.scenario.base import Location
from p4cc.scenario.nodes import Node, YamlError, parse

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.json_data import JsonObject, JsonValue

MAX_SCENARIO_BYTES = 1 << 20
MAX_EXTENDS = 8
MAX_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^a-z0-9_-]+")


@dataclass(frozen=True)
class Document:
    """A parsed YAML mapping with the lines of its keys, and the mapping that it extends."""

    path: Path
    root: Node
    """A mapping."""
    base: Document | None = None

    def plain(self) -> dict[str, JsonValue]:
        """Nested dicts, lists and scalars without positions, over those of the extended file.

        A scenario without a name has that of its file.
        """
        found = self.over_base()
        return found if "name" in found else {"name": name_of(self.path), **found}

    def over_base(self) -> dict[str, JsonValue]:
        """The files' content, without defaults."""
        own = cast("dict[str, JsonValue]", self.root.plain())
        if self.base is None:
            return own
        del own[extend.KEY]
        where = ("variants",) if "variants" in own else ()
        return extend.lay_over(self.base.over_base(), own, self.place(where))

    def place(self, location: Location) -> str:
        """`file:line:column` of a path, or of its nearest ancestor that a file holds."""
        return self.nearest(location)[1]

    def nearest(self, location: Location) -> tuple[int, str]:
        """How many steps of a path were found, and where the last of them is."""
        line, column, depth, in_list = 0, 0, 0, False
        node = self.root
        for step in location:
            found = _child(node, step)
            if found is None:
                break
            line, column = found.line, found.column
            in_list = in_list or isinstance(node.value, list)
            node = found
            depth += 1
        own = (depth, f"{self.path}:{line + 1}:{column + 1}")
        # A list here hides the whole list of the extended file.
        if self.base is None or in_list or depth == len(location):
            return own
        return max(own, self.base.nearest(location), key=lambda one: one[0])


def read_document(path: Path) -> Document:
    """Parses a YAML file and those that it extends; raises UserError for unusable content."""
    return _read_chain(_read_one(path), ())


def document_of(text: str, path: Path) -> Document:
    """`read_document` for a text without a file: `path` is a hypothetical one, for files that it names."""
    return _read_chain(_parsed(text.encode(), path), ())


def _read_chain(document: Document, above: tuple[Path, ...]) -> Document:
    path = document.path
    named = _child(document.root, extend.KEY)
    if named is None or named.value is None:
        return document
    name = named.value
    place = document.place((extend.KEY,))
    if not isinstance(name, str):
        raise UserError("extends must name one file", place=place, remedy="give a path relative to this file")
    seen = (*above, path.resolve())
    base = path.parent / name
    if base.resolve() in seen or len(seen) > MAX_EXTENDS:
        cause = (
            f"{name!r} extends this file, which makes a cycle"
            if base.resolve() in seen
            else "too many files extend one another"
        )
        raise UserError(cause, place=place, remedy=f"a scenario may extend at most {MAX_EXTENDS} others in a chain")
    if not base.is_file():
        raise UserError(
            f"the file {name!r} to extend does not exist", place=place, remedy="give a path relative to this file"
        )
    return Document(path, document.root, _read_chain(_read_one(base), seen))


def _read_one(path: Path) -> Document:
    """Parses a YAML file; raises UserError if it cannot be read, is too long, or is not a mapping."""
    if (seen := files_seen.get()) is not None:
        seen.add(path)
    try:
        return _parsed(path.read_bytes(), path)
    except OSError as error:
        raise UserError(
            f"cannot read the scenario: {error.strerror}",
            place=str(path),
            remedy="give the path of a YAML file",
        ) from error


def _parsed(raw: bytes, path: Path) -> Document:
    if len(raw) > MAX_SCENARIO_BYTES:
        raise UserError(
            f"the file has {len(raw)} bytes; the limit is {MAX_SCENARIO_BYTES}",
            place=str(path),
            remedy="move large data, such as entries, into separate files",
        )
    try:
        root = parse(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UserError(f"byte {error.start} is not UTF-8", place=str(path), remedy="save it as UTF-8") from error
    except YamlError as error:
        place = str(path) if error.line < 0 else f"{path}:{error.line + 1}:{error.column + 1}"
        raise UserError(error.cause, place=place, remedy=error.remedy) from error
    if not isinstance(root.value, dict):
        raise UserError(
            "a scenario must be a mapping of keys to values", place=f"{path}:1:1", remedy="see 'p4cc schema'"
        )
    return Document(path, root)


def name_of(path: Path) -> str:
    """A file's name without its ending, as far as names of scenarios go; `scenario` where nothing is left."""
    return _NOT_IN_NAMES.sub("-", path.stem.lower()).strip("-_")[:MAX_NAME] or "scenario"


def yaml_of(data: JsonObject) -> str:
    """Plain data as YAML, keys in their order."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.width = False, 120
    # Typed as if it were always None.
    setattr(yaml, "sort_base_mapping_type_on_output", False)  # noqa: B010
    out = io.StringIO()
    yaml.dump(dict(data), out)
    return out.getvalue()


def parse_value(text: str) -> JsonValue:
    """A YAML value of one line; raises ValueError."""
    return parse(text).plain()


def _child(node: Node, step: int | str) -> Node | None:
    """The value behind a step."""
    if isinstance(node.value, dict):
        return node.value.get(str(step))
    if isinstance(node.value, list) and isinstance(step, int) and 0 <= step < len(node.value):
        return node.value[step]
    return None
