"""Names of keys as finsy knows them: whole, and by their last part where that is one key's only.

finsy 0.30 refuses a table with two keys whose names end alike: `hdr.ipv4.$valid$` and `hdr.tcp.$valid$`.
"""

from finsy.p4schema import P4EntityMap, P4MatchField

_AMBIGUOUS = "p4cc_ambiguous"
# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportUnknownVariableType=false
_add_name = P4EntityMap._add_name  # noqa: SLF001


def _add_name_once(self: P4EntityMap[P4MatchField], name: str, entity: P4MatchField) -> None:
    """Adds a name of an entity; the end of two keys' names becomes no one's."""
    names = self._by_name
    if not isinstance(entity, P4MatchField):  # pyright: ignore[reportUnnecessaryIsInstance]
        _add_name(self, name, entity)
        return
    ambiguous: set[str] = self.__dict__.setdefault(_AMBIGUOUS, set())
    holder = names.get(name)
    if name == entity.name:
        if holder is not None and holder.name != name:
            del names[name]
        _add_name(self, name, entity)
    elif holder is None and name not in ambiguous:
        _add_name(self, name, entity)
    elif holder is not None and holder.name != name:
        ambiguous.add(name)
        del names[name]


def take_keys_that_end_alike() -> None:
    """Has finsy take such tables from now on, in this process."""
    P4EntityMap._add_name = _add_name_once  # noqa: SLF001
