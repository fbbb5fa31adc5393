"""YAML text to plain data that still knows its lines: the only place that names the YAML library."""

# ruamel.yaml is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent

from p4cc.errors import UserError
from p4cc.files import files_seen
from p4cc.scenario import extend
from p4cc.scenario.base import Location

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAX_SCENARIO_BYTES = 1 << 20
MAX_EXTENDS = 8
MAX_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^a-z0-9_-]+")


@dataclass(frozen=True)
class Document:
    """A parsed YAML mapping that still knows its lines, and the one that it extends."""

    path: Path
    root: CommentedMap
    base: Document | None = None

    def plain(self) -> dict[str, Any]:
        """Nested dicts, lists and scalars without positions, over those of the extended file.

        A scenario without a name has that of its file.
        """
        found = self.over_base()
        return found if "name" in found else {"name": name_of(self.path), **found}

    def over_base(self) -> dict[str, Any]:
        """What the files say, and nothing else."""
        own = cast("dict[str, Any]", _plain(self.root))
        if self.base is None:
            return own
        del own[extend.KEY]
        where = ("variants",) if "variants" in self.root else ()
        return extend.lay_over(self.base.over_base(), own, self.place(where))

    def place(self, location: Location) -> str:
        """`file:line:column` of a path, or of its nearest ancestor that a file holds."""
        return self.nearest(location)[1]

    def nearest(self, location: Location) -> tuple[int, str]:
        """How many steps of a path were found, and where the last of them is."""
        line, column, depth, in_list = 0, 0, 0, False
        node: Any = self.root
        for step in location:
            found = _position(node, step)
            if found is None:
                break
            line, column = found
            in_list = in_list or isinstance(node, CommentedSeq)
            node = node[step]
            depth += 1
        own = (depth, f"{self.path}:{line + 1}:{column + 1}")
        # A list here hides the whole list of the extended file.
        if self.base is None or in_list or depth == len(location):
            return own
        return max(own, self.base.nearest(location), key=lambda one: one[0])


def read_document(path: Path) -> Document:
    """Parses a YAML file and those that it extends; raises UserError for what cannot be used."""
    return _read_chain(_read_one(path), ())


def document_of(text: str, path: Path) -> Document:
    """As `read_document`, of a text that stands in no file: `path` is where it might, for what it names."""
    return _read_chain(_parsed(text.encode(), path), ())


def _read_chain(document: Document, above: tuple[Path, ...]) -> Document:
    path = document.path
    name: Any = document.root.get(extend.KEY)
    if name is None:
        return document
    place = document.place((extend.KEY,))
    if not isinstance(name, str):
        raise UserError("extends names one file", place=place, remedy="give a path relative to this file")
    seen = (*above, path.resolve())
    base = path.parent / name
    if base.resolve() in seen or len(seen) > MAX_EXTENDS:
        cause = f"{name!r} extends this file again" if base.resolve() in seen else "too many files extend one another"
        raise UserError(cause, place=place, remedy=f"a scenario stands on at most {MAX_EXTENDS} others, in one line")
    if not base.is_file():
        raise UserError(f"no file {name!r} to extend", place=place, remedy="the path is relative to this file")
    return Document(path, document.root, _read_chain(_read_one(base), seen))


def _read_one(path: Path) -> Document:
    """Parses a YAML file; raises UserError for what cannot be read, is too long, or is no mapping."""
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


def name_of(path: Path) -> str:
    """A file's name without its ending, as far as names of scenarios go; `scenario` where nothing is left."""
    return _NOT_IN_NAMES.sub("-", path.stem.lower()).strip("-_")[:MAX_NAME] or "scenario"


def yaml_of(data: Mapping[str, Any]) -> str:
    """Plain data as YAML, keys in their order."""
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.sort_base_mapping_type_on_output, yaml.width = False, False, 120
    out = io.StringIO()
    yaml.dump(dict(data), out)
    return out.getvalue()


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
