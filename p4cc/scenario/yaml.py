"""YAML text to plain data that still knows its lines: the only place that names the YAML library."""

# ruamel.yaml is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent

from p4cc.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

MAX_SCENARIO_BYTES = 1 << 20

Location = tuple[int | str, ...]


@dataclass(frozen=True)
class Document:
    """A parsed YAML mapping that still knows its lines."""

    path: Path
    root: CommentedMap

    def plain(self) -> dict[str, Any]:
        """Nested dicts, lists and scalars without positions."""
        return cast("dict[str, Any]", _plain(self.root))

    def place(self, location: Location) -> str:
        """`file:line:column` of a path, or of its nearest ancestor that the file holds."""
        line, column = 0, 0
        node: Any = self.root
        for step in location:
            found = _position(node, step)
            if found is None:
                break
            line, column = found
            node = node[step]
        return f"{self.path}:{line + 1}:{column + 1}"


def read_document(path: Path) -> Document:
    """Parses a YAML file; raises UserError for what cannot be read, is too long, or is no mapping."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UserError(
            f"cannot read the scenario: {error.strerror}",
            place=str(path),
            remedy="give the path of a YAML file",
        ) from error
    if len(raw) > MAX_SCENARIO_BYTES:
        raise UserError(
            f"{len(raw)} bytes are more than the limit of {MAX_SCENARIO_BYTES}",
            place=str(path),
            remedy="a scenario is a page of text; move data into files of its own",
        )
    try:
        text = raw.decode("utf-8")
        _refuse_aliases(text, path)
        root: Any = YAML(typ="rt").load(io.StringIO(text))
    except UnicodeDecodeError as error:
        raise UserError(f"byte {error.start} is not UTF-8", place=str(path), remedy="save it as UTF-8") from error
    except RecursionError as error:
        raise UserError("nested too deeply", place=str(path), remedy="a scenario nests five levels") from error
    except MarkedYAMLError as error:
        raise _yaml_error(path, error) from error
    except (YAMLError, ValueError) as error:
        raise UserError(f"not YAML: {error}", place=str(path), remedy="correct the value named above") from error
    if not isinstance(root, CommentedMap):
        raise UserError("a scenario is a mapping of keys to values", place=f"{path}:1:1", remedy="see 'p4cc schema'")
    return Document(path, root)


def parse_value(text: str) -> Any:
    """A YAML value of one line; raises ValueError."""
    try:
        return YAML(typ="safe", pure=True).load(io.StringIO(text))
    except (YAMLError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _refuse_aliases(text: str, path: Path) -> None:
    """Anchors repeat parts at no cost in bytes; a scenario has no use for them."""
    events: Any = cast("Any", YAML(typ="safe", pure=True)).parse(io.StringIO(text))
    for event in events:
        if isinstance(event, AliasEvent):
            mark: Any = event.start_mark
            raise UserError(
                "aliases (*name) are not allowed",
                place=f"{path}:{mark.line + 1}:{mark.column + 1}",
                remedy="write the value out",
            )


def _yaml_error(path: Path, error: MarkedYAMLError) -> UserError:
    mark: Any = error.problem_mark or error.context_mark
    place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
    return UserError(f"not YAML: {error.problem or error}", place=place, remedy="correct the line named above")


def _plain(node: Any) -> Any:
    if isinstance(node, CommentedMap):
        return {str(key): _plain(value) for key, value in cast("dict[Any, Any]", node).items()}
    if isinstance(node, CommentedSeq):
        return [_plain(value) for value in cast("list[Any]", node)]
    if isinstance(node, bool) or node is None:
        return node
    if isinstance(node, int):
        return int(node)
    if isinstance(node, float):
        return float(node)
    return str(node)


def _position(node: Any, step: int | str) -> tuple[int, int] | None:
    """Line and column, from zero, of a child of a YAML node."""
    if isinstance(node, CommentedMap) and step in node:
        where: Any = cast("Any", node).lc.key(step)
    elif isinstance(node, CommentedSeq) and isinstance(step, int) and step < len(cast("list[Any]", node)):
        where = cast("Any", node).lc.item(step)
    else:
        return None
    return int(where[0]), int(where[1])
