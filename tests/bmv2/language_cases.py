"""Language cases on BMv2: `python -m tests.bmv2.language_cases DOCUMENTS` prints which behave there as here.

DOCUMENTS is a folder of BMv2 JSON by the names of the cases, such as engine/filetests/cases/bmv2, which p4c wrote.
Commands become those of simple_switch_CLI; what they cannot express is left out.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path

from tests.bmv2.reference import Outcome, Packet, Step, run

CASES = Path(__file__).resolve().parents[2] / "engine/filetests/cases/run"
PORTS = range(8)
HIGHEST_PRIORITY = 1000

_COMMAND = re.compile(r"\s*// (packet|expect|add|default|member|group|register|multicast|session) (.*)")
_CALL = re.compile(r"\s*([^\s(]+)\((.*?)\)(?: priority (\d+))?")


class Translation:
    """Commands of a case as steps, and the packets that it expects by port."""

    def __init__(self, text: str) -> None:
        self.steps: list[Step] = []
        self.expected: dict[int, list[str]] = {}
        self._nodes = 0
        self._members: dict[str, list[str]] = {}
        self._groups: dict[str, list[str]] = {}
        for found in filter(None, map(_COMMAND.match, text.splitlines())):
            self._take(found[1], found[2].split(), found[2])

    def _take(self, kind: str, words: list[str], rest: str) -> None:
        match kind, words:
            case "packet", [port, *digits]:
                self.steps.append(Packet(int(port), bytes.fromhex("".join(digits))))
            case "expect", [port, *digits] if port != "nothing":
                self.expected.setdefault(int(port), []).append("".join(digits).lower())
            case "session", [session, port]:
                self.steps.append(f"mirroring_add {session} {port}")
            case "multicast", [group, *ports]:
                self.steps += [f"mc_mgrp_create {group}", f"mc_node_create 0 {' '.join(ports)}"]
                self.steps.append(f"mc_node_associate {group} {self._nodes}")
                self._nodes += 1
            case "register", [name, index, value]:
                self.steps.append(f"register_write {name} {int(index, 0)} {int(value, 0)}")
            case "default", [table, *_]:
                self._call(f"table_set_default {table}", rest.split(maxsplit=1)[1])
            case "member", [profile, number, *_]:
                self._members.setdefault(profile, []).append(number)
                self._call(f"act_prof_create_member {profile}", rest.split(maxsplit=2)[2])
            case "group", [profile, number, *members]:
                groups = self._groups.setdefault(profile, [])
                self.steps.append(f"act_prof_create_group {profile}")
                for member in members:
                    handle = self._members[profile].index(member)
                    self.steps.append(f"act_prof_add_member_to_group {profile} {handle} {len(groups)}")
                groups.append(number)
            case "add", [table, *_]:
                self._add(table, *rest.split(maxsplit=1)[1].split("=>"))
            case _:
                pass

    def _call(self, command: str, call: str) -> None:
        if found := _CALL.match(call):
            self.steps.append(f"{command} {found[1]} {found[2].replace(',', ' ')}")

    def _add(self, table: str, keys: str, runs: str) -> None:
        matched = " ".join(map(_key, keys.split()))
        for kind, command, handles in (
            ("member", "table_indirect_add", self._members),
            ("group", "table_indirect_add_with_group", self._groups),
        ):
            if runs.split(maxsplit=1)[0] == kind:
                handle = next(known.index(runs.split()[1]) for known in handles.values() if runs.split()[1] in known)
                self.steps.append(f"{command} {table} {matched} => {handle}")
                return
        if found := _CALL.match(runs):
            priority = HIGHEST_PRIORITY - int(found[3]) if found[3] else ""
            self.steps.append(f"table_add {table} {found[1]} {matched} => {found[2].replace(',', ' ')} {priority}")


def _key(word: str) -> str:
    return "0&&&0" if word == "*" else word.replace("..", "->")


def _difference(expected: dict[int, list[str]], outcome: Outcome) -> str | None:
    if outcome.exit_code is not None:
        return f"BMv2 ended with {outcome.exit_code}"
    for port in PORTS:
        wanted, got = expected.get(port, []), [packet.hex() for packet in outcome.packets[port]]
        patterns = [digits.replace("*", ".") for digits in wanted]
        if len(got) != len(wanted) or not all(map(re.fullmatch, patterns, got)):
            return f"port {port}: expected {wanted}, got {got}"
    return None


def main() -> None:
    """Runs each case that has a document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", type=Path)
    documents = sorted(parser.parse_args().documents.glob("*.json"))
    equal = 0
    for document in documents:
        case = CASES / f"{document.stem}.p4"
        translation = Translation(case.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            outcome = run(document, translation.steps, list(PORTS), Path(folder))
        difference = _difference(translation.expected, outcome)
        equal += difference is None
        if difference is not None:
            print(f"{document.stem}: {difference}")
    print(f"{equal} of {len(documents)} behave as on p4cc")


if __name__ == "__main__":
    main()
