"""Plain data to a checked scenario, with file, line and column for everything that is wrong.

A value that came from the command line or from a sweep is named by that, not by a line of the file.
"""

from __future__ import annotations

import difflib
import json
from typing import TYPE_CHECKING, Any, cast, get_args

from pydantic import BaseModel, ValidationError

from p4cc import _engine
from p4cc.errors import UserError
from p4cc.scenario.fabric import RdmaTransport
from p4cc.scenario.schema import Scenario
from p4cc.scenario.units import plain_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_core import ErrorDetails

    from p4cc.scenario.base import Sender
    from p4cc.scenario.overrides import Origins
    from p4cc.scenario.yaml import Document, Location


FASTEST_BPS = 10_000_000_000_000
"""The fastest link there is: what follows from a host's own rate is checked when the network is built."""


def validate(document: Document, data: dict[str, Any], origins: Origins | None = None) -> Scenario:
    """Checks `data` against the schema and the engine's algorithms; places come from `document` and `origins`.

    Raises UserError with every finding.
    """
    places = _Places(document, origins or {})
    wrong_units: list[tuple[Location, str]] = []
    data = plain_numbers(data, wrong_units)
    said = {location: f"{_dotted(location)}: {cause}" for location, cause in wrong_units}
    of_units = [str(UserError(text, place=places.of(location))) for location, text in said.items()]
    try:
        scenario = Scenario.model_validate_json(json.dumps(data))
    except ValidationError as error:
        others = [detail for detail in error.errors() if _in_data(data, detail["loc"]) not in said]
        of_schema = [_finding(places, data, detail) for detail in others]
        raise UserError("\n".join([*of_units, *of_schema])) from error
    if of_units:
        raise UserError("\n".join(of_units))
    findings = [str(finding) for finding in _sender_findings(places, scenario)]
    if findings:
        raise UserError("\n".join(findings))
    return scenario


class _Places:
    """Where a location of the data was written."""

    def __init__(self, document: Document, origins: Origins) -> None:
        self._document = document
        self._origins = origins

    def of(self, location: Location) -> str:
        """The assignment that set the value or what holds it, else file, line and column.

        Where an assignment set something inside of what is wrong, both are named.
        """
        for length in range(len(location), 0, -1):
            if location[:length] in self._origins:
                return self._origins[location[:length]]
        place = self._document.place(location)
        inside = dict.fromkeys(origin for where, origin in self._origins.items() if where[: len(location)] == location)
        return f"{place} with {', '.join(inside)}" if inside else place


def _finding(places: _Places, data: dict[str, Any], detail: ErrorDetails) -> str:
    location = _in_data(data, detail["loc"])
    cause = detail["msg"].removeprefix("Value error, ")
    remedy = ""
    if detail["type"] == "extra_forbidden":
        cause = f"unknown key {location[-1]!r}"
        known = _known_keys(data, location[:-1])
        close = difflib.get_close_matches(str(location[-1]), known, n=1)
        remedy = f"did you mean {close[0]!r}?" if close else f"known keys here: {', '.join(known)}"
    elif "input" in detail and not isinstance(detail["input"], dict | list):
        cause += f" (it is {detail['input']!r})"
    return str(
        UserError(f"{_dotted(location)}: {cause}", place=places.of(location), remedy=remedy or "see 'p4cc schema'")
    )


def _dotted(location: Location) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)


def _in_data(data: dict[str, Any], location: Location) -> Location:
    """A location without the names of union branches, which pydantic puts in and the data does not have."""
    found: list[int | str] = []
    node: Any = data
    tagged = False
    for step in location:
        if not tagged and _is_branch(node, step, found):
            tagged = step not in ("one", "several")
            continue
        if found and not isinstance(node, dict | list):
            # Below a plain value there are only branches: the types that it could have had.
            break
        tagged = False
        found.append(step)
        node = _inner(node, step)
    return tuple(found)


def _is_branch(node: Any, step: int | str, above: list[int | str]) -> bool:
    if above == ["traffic"] and step in ("one", "several"):
        return True
    # The kind of the transport has a default, so the data need not hold it.
    if above == ["transport"] and step in ("window", "rdma"):
        return True
    return isinstance(node, dict) and cast("dict[str, Any]", node).get("kind") == step


def _inner(node: Any, step: int | str) -> Any:
    if isinstance(node, dict):
        return cast("dict[Any, Any]", node).get(step)
    if isinstance(node, list) and isinstance(step, int) and step < len(cast("list[Any]", node)):
        return cast("list[Any]", node)[step]
    return None


def _known_keys(data: dict[str, Any], location: Location) -> list[str]:
    """Keys that the model at `location` has."""
    models: list[type[BaseModel]] = [Scenario]
    node: Any = data
    for step in location:
        node = _inner(node, step)
        if not isinstance(step, int):
            models = [inner for model in models if step in model.model_fields for inner in _models_in(model, step)]
        models = [model for model in models if _is_of_kind(model, node)]
    return sorted({name for model in models for name in model.model_fields})


def _is_of_kind(model: type[BaseModel], node: Any) -> bool:
    """Whether a union's member is the one that the data chose."""
    kinds = get_args(model.model_fields["kind"].annotation) if "kind" in model.model_fields else ()
    given = cast("dict[Any, Any]", node).get("kind") if isinstance(node, dict) else None
    return not kinds or given is None or given in kinds


def _models_in(model: type[BaseModel], field: str) -> list[type[BaseModel]]:
    found: list[type[BaseModel]] = []
    pending: list[Any] = [model.model_fields[field].annotation]
    while pending:
        kind = pending.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found.append(kind)
        pending.extend(get_args(kind))
    return found


def _sender_findings(places: _Places, scenario: Scenario) -> Iterator[UserError]:
    """What the engine refuses of a sender, at the field that says it."""
    senders: list[tuple[Location, Sender]] = [
        (("variants", number), variant) for number, variant in enumerate(scenario.variants)
    ]
    several = isinstance(scenario.traffic, list)
    for number, item in enumerate(scenario.traffic_items):
        if item.sender is not None:
            senders.append((("traffic", number, "sender") if several else ("traffic", "sender"), item.sender))
    for location, sender in senders:
        try:
            paced = scenario.rdma_transport
            if sender.rate_control is not None and paced is not None:
                _engine.validate_rdma(json.dumps(_rdma(paced, sender)), FASTEST_BPS)
            else:
                _engine.validate_sender(json.dumps(sender_config(scenario, sender)))
        except _engine.SpecError as error:
            where = _sender_location(location, sender, error.place, scenario)
            yield UserError(f"{_dotted(where)}: {error.cause}", place=places.of(where), remedy=error.remedy)


def _rdma(transport: RdmaTransport, sender: Sender) -> dict[str, Any]:
    """A sender's configuration with stand-ins for what follows from the topology."""
    cc = sender.rate_control
    return {
        "base_rtt_ns": 1,
        **transport.plain(sender.transport, {"unit_shift": 0, "tick_ns": 1, "rates_bps": {}}),
        "cc": {"name": cc.name, **cc.parameters()} if cc else {},
    }


def sender_config(scenario: Scenario, sender: Sender) -> dict[str, Any]:
    """A sender's configuration with stand-ins for the thresholds, which the controller's plan gives later."""
    from p4cc.algorithms import needs_thresholds

    def plain(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
        thresholds = {"k": 1, "k_dc": 2} if needs_thresholds(name) else {}
        return {"name": name, **thresholds, **parameters}

    avoidance, slow_start = sender.congestion_avoidance, sender.slow_start
    return {
        **scenario.transport.model_dump(exclude={"kind"}, exclude_none=True),
        **sender.transport,
        "ecn_profile": scenario.switch.ecn_profile,
        "cc": {
            **({"congestion_avoidance": plain(avoidance.name, avoidance.parameters())} if avoidance else {}),
            "slow_start": plain(slow_start.name, slow_start.parameters()),
        },
    }


def _sender_location(location: Location, sender: Sender, place: str, scenario: Scenario) -> Location:
    """The engine's path below a sender to the scenario's."""
    steps = place.split(".")
    if steps[0] == "cc":
        # The engine names an algorithm's place by its kind, `rate_control` too.
        return (*location, *steps[1:])
    if steps[0] == "ecn_profile":
        return ("switch", "ecn_profile")
    if steps[0] in sender.transport:
        return (*location, "transport", steps[0])
    return ("paced" if sender.rate_control and scenario.paced else "transport", steps[0])
