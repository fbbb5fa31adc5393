"""`extends`: a scenario laid over another one, so that what experiments share is written once.

Mappings merge key by key, unless they are of different `kind`; everything else takes the place of what the other file
has. In `variants` a text takes over the other file's variant of that name, and a mapping with `like` starts from one.
"""

from __future__ import annotations

from typing import Any, cast

from p4cc.errors import UserError

KEY = "extends"
LIKE = "like"
OWN = ("reproduces",)
"""What a scenario says of itself and no other takes over."""


def lay_over(base: dict[str, Any], own: dict[str, Any], place: str) -> dict[str, Any]:
    """The scenario `own`, written at `place`, over `base`; raises UserError for a variant that `base` has not."""
    inherited = {key: value for key, value in base.items() if key not in OWN}
    given = dict(own)
    if isinstance(given.get("variants"), list):
        known = _by_name(base.get("variants"))
        given["variants"] = [_variant(known, item, place) for item in cast("list[Any]", given["variants"])]
    return _merged(inherited, given)


def _merged(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    found = dict(base)
    for key, value in own.items():
        held = found.get(key)
        if isinstance(held, dict) and isinstance(value, dict):
            below, above = cast("dict[str, Any]", held), cast("dict[str, Any]", value)
            # Another kind, or another algorithm, has other keys.
            same = all(name not in above or above[name] == below.get(name) for name in ("kind", "name"))
            found[key] = _merged(below, above) if same else above
        else:
            found[key] = value
    return found


def _variant(known: dict[str, dict[str, Any]], item: Any, place: str) -> Any:
    if isinstance(item, str):
        return _known(known, item, place)
    if isinstance(item, dict) and LIKE in item:
        given = dict(cast("dict[str, Any]", item))
        like = _known(known, str(given.pop(LIKE)), place)
        # It has a name of its own, so the names do not tell the two apart here.
        return _merged({**like, "name": given.get("name", like["name"])}, given)
    return cast("Any", item)


def _known(known: dict[str, dict[str, Any]], name: str, place: str) -> dict[str, Any]:
    if name in known:
        return known[name]
    names = ", ".join(known) or "none"
    raise UserError(f"no variant {name!r} to take over", place=place, remedy=f"variants there: {names}")


def _by_name(variants: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(variants, list):
        return {}
    items = [cast("dict[str, Any]", item) for item in cast("list[Any]", variants) if isinstance(item, dict)]
    return {str(item["name"]): item for item in items if "name" in item}
