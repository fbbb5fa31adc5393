"""`extends`: a scenario over another one, so that experiments share settings.

Mappings merge key by key, unless they are of different `kind`; everything else takes the place of what the other file
has. In `variants` a text takes over the other file's variant of that name, and a mapping with `like` starts from one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc.errors import UserError

if TYPE_CHECKING:
    from p4cc.json_data import JsonObject, JsonValue

KEY = "extends"
LIKE = "like"
OWN = ("reproduces",)
"""Keys that describe a single scenario and that an extending scenario does not inherit."""


def lay_over(base: JsonObject, own: JsonObject, place: str) -> dict[str, JsonValue]:
    """The scenario `own`, written at `place`, over `base`; raises UserError for a variant that `base` has not."""
    inherited = {key: value for key, value in base.items() if key not in OWN}
    given = dict(own)
    if isinstance(variants := given.get("variants"), list):
        known = _by_name(base.get("variants"))
        given["variants"] = [_variant(known, item, place) for item in variants]
    return _merged(inherited, given)


def _merged(base: JsonObject, own: JsonObject) -> dict[str, JsonValue]:
    found = dict(base)
    for key, value in own.items():
        held = found.get(key)
        if isinstance(held, dict) and isinstance(value, dict):
            # Another kind, or another algorithm, has other keys.
            same = all(name not in value or value[name] == held.get(name) for name in ("kind", "name", "python"))
            found[key] = _merged(held, value) if same else value
        else:
            found[key] = value
    return found


def _variant(known: dict[str, JsonObject], item: JsonValue, place: str) -> JsonValue:
    if isinstance(item, str):
        return _known(known, item, place)
    if isinstance(item, dict) and LIKE in item:
        given = dict(item)
        like = _known(known, str(given.pop(LIKE)), place)
        # It has its own name, so names do not distinguish the two here.
        return _merged({**like, "name": given.get("name", like["name"])}, given)
    return item


def _known(known: dict[str, JsonObject], name: str, place: str) -> JsonObject:
    if name in known:
        return known[name]
    names = ", ".join(known) or "none"
    raise UserError(
        f"no variant {name!r} to inherit", place=place, remedy=f"variants of the extended scenario: {names}"
    )


def _by_name(variants: JsonValue) -> dict[str, JsonObject]:
    if not isinstance(variants, list):
        return {}
    return {str(item["name"]): item for item in variants if isinstance(item, dict) and "name" in item}
