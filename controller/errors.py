"""Errors of the controller: each one message with place, cause and remedy, ready to print."""


class ControllerError(Exception):
    """Base of all errors of this package: `place: cause (remedy)`."""

    place: str
    cause: str
    remedy: str

    def __init__(self, place: str, cause: str, remedy: str) -> None:
        self.place = place
        self.cause = cause
        self.remedy = remedy
        super().__init__(f"{place}: {cause} ({remedy})")


class PlannerError(ControllerError):
    """A parameter of the threshold planner that the model cannot use."""


def check_ranges(*rows: tuple[str, int, int, int, str]) -> None:
    """Raises PlannerError for the first value out of its range: name, value, least, most, remedy."""
    for name, value, least, most, remedy in rows:
        if not least <= value <= most:
            raise PlannerError(name, f"{value} is not between {least} and {most}", remedy)


class PlanError(ControllerError):
    """A desired state that does not fit the topology or the P4 program."""


class SwitchError(ControllerError):
    """A switch that cannot be reached or refuses a request; `code` is the gRPC status name where there is one."""

    code: str | None

    def __init__(self, place: str, cause: str, remedy: str, code: str | None = None) -> None:
        self.code = code
        super().__init__(place, cause, remedy)
