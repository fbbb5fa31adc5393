"""Hosts that fields of a scenario name."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topos import Topology


@dataclass(frozen=True)
class Hosts:
    """The hosts of a topology, for the fields of one part of a scenario."""

    topology: Topology
    place: str
    """Place of that part: `scenario.yaml at traffic[1]`."""

    def several(
        self, key: str, patterns: Sequence[str] | None, meant: Sequence[str] = (), apart: str = ""
    ) -> list[str]:
        """Hosts that a field names, in the topology's order, `meant` if it names none; raises UserError.

        `apart` is left out of what wildcards match.
        """
        if patterns is None:
            if not meant:
                raise self.error(key, "the topology does not define hosts for this", f"give {key}")
            return [host for host in meant if host != apart]
        chosen: dict[str, None] = {}
        for pattern in patterns:
            found = [host for host in self.topology.host_names if fnmatchcase(host, pattern)]
            if not found:
                raise self._unknown(key, pattern)
            chosen.update(dict.fromkeys(host for host in found if host != apart or host == pattern))
        return list(chosen)

    def one(self, key: str, name: str | None, meant: Sequence[str] = ()) -> str:
        """The one host that a field names, or the one that is `meant`; raises UserError."""
        if name is None and len(meant) != 1:
            raise self.error(key, "the topology does not define a single host for this", f"give {key}")
        chosen = meant[0] if name is None else name
        if chosen not in self.topology.host_names:
            raise self._unknown(key, chosen)
        return chosen

    def error(self, key: str, cause: str, remedy: str) -> UserError:
        """An error of a field."""
        return UserError(cause, place=f"{self.place}.{key}", remedy=remedy)

    def _unknown(self, key: str, name: str) -> UserError:
        return self.error(key, f"no host matches {name!r}", f"hosts: {some(self.topology.host_names)}")


def some(names: Iterable[str], count: int = 8) -> str:
    """The first of many names."""
    listed = list(names)
    return ", ".join(listed[:count]) + (", ..." if len(listed) > count else "")
