"""Cases of docs/reference/differences-from-bmv2.md: an STF test that says what p4cc does, and what BMv2 does.

Lines that begin with `#` are comments for p4cc. Of these,

    #bmv2 expect PORT HEX    is what comes out of BMv2; without any, it is what comes out of p4cc
    #bmv2 ends               BMv2 ends by itself
    #bmv2 refuses            BMv2 does not load the program
    #bmv2 prints TEXT        simple_switch_CLI answers a command with this line
    #bmv2 run COMMAND        a command for simple_switch_CLI alone
    #p4cc prints TEXT        what p4cc answers to a command that reads
    #p4cc reports TEXT       a problem that p4cc reports
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tests.bmv2.reference import Packet, Step

FOLDER = Path(__file__).with_name("cases")


@dataclass
class Case:
    """A program, what is done with its switch, and what comes of it."""

    name: str
    steps: list[Step] = field(default_factory=list[Step])
    """For BMv2."""
    expected: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    """Packets by port, as hexadecimal digits, `*`, and `$` at the end of a whole packet; for BMv2."""
    ports: set[int] = field(default_factory=set[int])
    ends: bool = False
    refuses: bool = False
    bmv2_prints: list[str] = field(default_factory=list[str])
    p4cc_prints: list[str] = field(default_factory=list[str])
    p4cc_reports: list[str] = field(default_factory=list[str])
    differs: bool = False

    @property
    def program(self) -> Path:
        return FOLDER / f"{self.name}.p4"

    @property
    def test(self) -> Path:
        return FOLDER / f"{self.name}.stf"


def names() -> list[str]:
    """All cases, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.p4"))


def read(name: str) -> Case:
    """Reads a case."""
    case = Case(name)
    both: dict[int, list[str]] = {}
    for line in case.test.read_text(encoding="utf-8").splitlines():
        match line.split():
            case ["packet", port, *digits]:
                case.steps.append(Packet(int(port), bytes.fromhex("".join(digits))))
                case.ports.add(int(port))
            case ["expect", port, *digits]:
                _expect(both, port, digits)
                case.ports.add(int(port))
            case ["#bmv2", "expect", port, *digits]:
                _expect(case.expected, port, digits)
            case ["#bmv2", "ends"]:
                case.ends = True
            case ["#bmv2", "refuses"]:
                case.refuses = True
            case ["#bmv2", "prints", *_]:
                case.bmv2_prints.append(line.removeprefix("#bmv2 prints "))
            case ["#bmv2", "run", *words]:
                case.steps.append(" ".join(words))
            case ["#p4cc", "prints", *_]:
                case.p4cc_prints.append(line.removeprefix("#p4cc prints "))
            case ["#p4cc", "reports", *_]:
                case.p4cc_reports.append(line.removeprefix("#p4cc reports "))
            case [] | ["#", *_]:
                pass
            case [word, *_]:
                assert not word.startswith("#"), f"{name}: {line}"
                case.steps.append(line)
            case _:
                raise AssertionError(line)
    case.differs = bool(case.expected) or case.ends or case.refuses
    case.expected = case.expected or both
    return case


def _expect(expected: dict[int, list[str]], port: str, digits: list[str]) -> None:
    expected.setdefault(int(port), []).append("".join(digits).lower())
