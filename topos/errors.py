"""The error of this package: place in the topology, cause and remedy."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One fault in a topology: its place (for example `links[2].rate_bps`), cause and remedy."""

    place: str
    cause: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.place}: {self.cause} ({self.remedy})"


class TopologyError(ValueError):
    """A topology that cannot be built; `problems` holds every fault found, in reading order."""

    problems: tuple[Problem, ...]

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(f"topology: {problem}" for problem in problems))


def fail(place: str, cause: str, remedy: str) -> TopologyError:
    """The error of a single problem, to be raised by the caller."""
    return TopologyError((Problem(place, cause, remedy),))
