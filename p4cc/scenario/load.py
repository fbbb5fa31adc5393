"""Plain data to a checked scenario, with file, line and column for everything that is wrong.

A value that came from the command line or from a sweep is named by that, not by a line of the file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from controller.pint import LOG_BASE
from p4cc import _engine
from p4cc.bundled import find_program, find_scenario, is_builtin_file
from p4cc.errors import UserError
from p4cc.scenario.base import dotted
from p4cc.scenario.fabric import RdmaTransport
from p4cc.scenario.findings import Places, finding, in_data
from p4cc.scenario.overrides import apply_overrides
from p4cc.scenario.schema import LEAST_RWND, ScenarioModel, UsualPath, Variant
from p4cc.scenario.timeouts import PathTimes
from p4cc.scenario.units import plain_numbers
from p4cc.scenario.yaml import read_document
from p4cc.user_algorithms.failed import failed
from p4cc.user_algorithms.load import load_offered, load_own, offered
from p4cc.user_watch import WATCH
from topos import TopologyError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p4cc import spec
    from p4cc.algorithms import Algorithm as Entry
    from p4cc.json_data import JsonObject
    from p4cc.scenario.base import Algorithm, Parameter, Sender
    from p4cc.scenario.overrides import Origins
    from p4cc.scenario.schema import EcnProfile
    from p4cc.scenario.yaml import Document, Location
    from p4cc.user_algorithms.load import UserSender


MAX_FINDINGS = 50
"""The most findings shown of one scenario."""
FASTEST_BPS = 10_000_000_000_000
"""The fastest link; values that depend on a host's rate are checked when the network is built."""

_STEP = re.compile(r"[^.\[\]]+")
_ANY_PATH = UsualPath(LEAST_RWND, PathTimes(rtt_ns=1, queue_ns=0))
"""The least that follows from any topology."""
_STAND_IN_SENDER: JsonObject = {"congestion_avoidance": {"name": "reno"}}
_STAND_INS: JsonObject = {
    "topology": {"kind": "star", "senders": 1},
    "traffic": {"kind": "incast", "sru_bytes": 1},
    "variants": [{**_STAND_IN_SENDER, "name": "stand-in"}],
}
"""Replacements of required parts that cannot be read."""


def load_scenario(name: str | Path, overrides: Sequence[str] = ()) -> ScenarioModel:
    """The scenario of a file, or of p4cc's own experiment `name`, with changes as `--set` takes them (`KEY=VALUE`).

    Raises UserError with every finding: no such file, no YAML, values that do not fit.
    """
    document = read_document(find_scenario(name))
    origins: Origins = {}
    return validate(document, apply_overrides(document.plain(), list(overrides), origins), origins)


def validate(document: Document, data: JsonObject, origins: Origins | None = None) -> ScenarioModel:
    """Checks `data` against the schema and the engine's algorithms; places come from `document` and `origins`.

    Raises UserError with every finding.
    """
    places = Places(document, origins or {})
    wrong_units: list[tuple[Location, str]] = []
    data = plain_numbers(data, wrong_units)
    said = {location: f"{dotted(location)}: {cause}" for location, cause in wrong_units}
    findings = [str(UserError(text, place=places.of(location))) for location, text in said.items()]
    try:
        scenario = ScenarioModel.model_validate_json(json.dumps(data))
    except ValidationError as error:
        wrong = {in_data(data, detail["loc"]): detail for detail in reversed(error.errors())}
        others = [detail for location, detail in reversed(wrong.items()) if location not in said]
        findings += [finding(places, data, detail) for detail in others[:MAX_FINDINGS]]
        left_out = len(others) - MAX_FINDINGS
        findings += _findings_of_the_rest(places, data, [*said, *wrong]) if left_out <= 0 else []
        raise _all_of(findings, max(0, left_out)) from error
    findings += _findings(places, scenario)
    if findings:
        raise _all_of(findings)
    return scenario


def _all_of(findings: Sequence[str], more: int = 0) -> UserError:
    """The findings as one error; very many usually have one cause, which those shown name."""
    more += max(0, len(findings) - MAX_FINDINGS)
    left_out = [f"and {more} more of this kind"] if more else []
    return UserError("\n".join([*findings[:MAX_FINDINGS], *left_out]))


def check_network(document: Document, scenario: ScenarioModel, origins: Origins) -> None:
    """Builds the network and forgets it; raises UserError with the place of a conflict."""
    try:
        scenario.topology.build(document.path)
    except TopologyError as error:
        places = Places(document, origins)
        findings: list[str] = []
        for problem in error.problems:
            steps = [int(step) if step.isdecimal() else step for step in _STEP.findall(problem.place)]
            known = steps and steps[0] in type(scenario.topology).model_fields
            location: Location = ("topology", *steps) if known else ("topology",)
            cause = problem.cause if known else f"{problem.place}: {problem.cause}"
            text = f"{dotted(location)}: {cause}"
            findings.append(str(UserError(text, place=places.of(location), remedy=problem.remedy)))
        raise UserError("\n".join(findings)) from error


def _findings(places: Places, scenario: ScenarioModel, left_out: Sequence[Location] = ()) -> list[str]:
    """Conflicts between valid fields; none at places that are `left_out`."""
    problems = [one for one in scenario.problems() if not _within(one.location, left_out)]
    found = [
        str(UserError(f"{dotted(one.location)}: {one.cause}", place=places.of(one.location), remedy=one.remedy))
        for one in problems
    ]
    # The engine need not be asked about a sender that no transport runs.
    left = [*left_out, *(one.location for one in problems)]
    found += _own_findings(places, scenario, left)
    return found + [str(finding) for finding in _sender_findings(places, scenario, left)]


def _findings_of_the_rest(places: Places, data: JsonObject, wrong: Sequence[Location]) -> list[str]:
    """Findings about valid parts, with stand-ins for invalid ones, so that all errors come at once."""
    if () in wrong or {location[0] for location in wrong} & {"transport", "paced"}:
        # Which senders fit follows from the transport.
        return []
    rest = dict(data)
    left_out: list[Location] = []
    for key in dict.fromkeys(location[0] for location in wrong):
        items = rest.pop(str(key), None)
        stand_in = _STAND_INS.get(str(key))
        if key == "variants" and isinstance(items, list) and ("variants",) not in wrong:
            bad = {location[1] for location in wrong if location[0] == key}
            rest["variants"] = [
                {**_STAND_IN_SENDER, "name": f"stand-in {number}"} if number in bad else item
                for number, item in enumerate(items)
            ]
            left_out += [("variants", int(number)) for number in bad]
        else:
            left_out.append((key,))
            if stand_in is not None:
                rest[str(key)] = stand_in
    try:
        scenario = ScenarioModel.model_validate_json(json.dumps(rest))
    except ValidationError:
        return []
    return _findings(places, scenario, left_out)


def _within(location: Location, above: Sequence[Location]) -> bool:
    return any(location[: len(one)] == one for one in above)


def _sender_findings(places: Places, scenario: ScenarioModel, left_out: Sequence[Location]) -> Iterator[UserError]:
    """The engine's errors about a sender, at their fields."""
    for location, sender in scenario.senders():
        if _within(location, left_out):
            continue
        try:
            paced = scenario.rdma_transport
            if sender.rate_control is not None and paced is not None:
                config, own = _rdma_config(paced, sender, sender.rate_control)
                _engine.validate_rdma(config, FASTEST_BPS, own)
            else:
                config, own = sender_config(scenario, sender)
                _engine.validate_sender(config, own)
        except _engine.SpecError as error:
            where = _sender_location(location, sender, error.place, scenario)
            yield UserError(f"{dotted(where)}: {error.cause}", place=places.of(where), remedy=error.remedy)
        except _engine.AlgorithmError as error:
            yield failed(error, dotted(location))


def _own_findings(places: Places, scenario: ScenarioModel, left_out: list[Location]) -> Iterator[str]:
    """Finds the users' classes and puts them in their places; those with findings are added to `left_out`."""
    WATCH.limit_s = scenario.control.handler_limit_s
    for location, sender in scenario.senders():
        for kind, chosen in sender.algorithms():
            if _within((*location, kind), left_out):
                continue
            offers = chosen.entry is None and chosen.name in offered()
            if chosen.python is None and not offers:
                continue
            where = (*location, kind, "name" if chosen.python is None else "python")
            try:
                if chosen.python is None:
                    own = load_offered(chosen.name, kind)
                else:
                    own = load_own(chosen.python, kind, places.file)
                where = (*location, kind)
                own.with_values({**_stand_in_thresholds(own.entry), **chosen.parameters()})
                chosen.bring(own)
            except UserError as error:
                left_out.append(location)
                parameter = error.place if error.place in chosen.parameters() else ""
                at = (*where, parameter) if parameter else where
                needed = f" {error.place}:" if error.place and not parameter else ""
                text = f"{dotted(at)}:{needed} {error.cause}"
                yield str(UserError(text, place=places.of(at), remedy=error.remedy))


ForEngine = tuple[str, list[_engine.OwnAlgorithm]]
"""A sender's configuration as JSON, and the users' classes that it numbers."""


def _rdma_config(transport: RdmaTransport, sender: Sender, control: Algorithm) -> ForEngine:
    """A sender's configuration with stand-ins for values that follow from the topology."""
    own: list[UserSender] = []
    telemetry: spec.IntTable = {"unit_shift": 0, "tick_ns": 1, "rates_bps": {}}
    cc = _config(control, own)
    receiver = None if sender.receiver is None else _config(sender.receiver, own)
    log_base = LOG_BASE if control.reads_pint else None
    config = transport.config(sender.transport, telemetry, (cc, receiver), log_base, base_rtt_ns=1)
    return json.dumps(config), [one.for_engine() for one in own]


def _stand_in_thresholds(entry: Entry | None) -> dict[str, Parameter]:
    return {"k": 1, "k_dc": 2} if entry is not None and entry.needs_thresholds else {}


def _config(chosen: Algorithm, own: list[UserSender]) -> spec.AlgorithmSpec:
    """An algorithm as the engine takes it, with stand-ins for thresholds; a user's class is added to `own`."""
    return chosen.config({**_stand_in_thresholds(chosen.entry), **chosen.parameters()}, own)


def sender_config(scenario: ScenarioModel, sender: Sender) -> ForEngine:
    """A sender's configuration with stand-ins for the thresholds, which the controller's plan gives later."""
    own: list[UserSender] = []
    profile = _own_profile(sender) or scenario.switch.ecn_profile or _usual_profile(scenario, sender)
    cc: spec.AlgorithmConfig = {}
    if sender.congestion_avoidance is not None:
        cc["congestion_avoidance"] = _config(sender.congestion_avoidance, own)
    cc["slow_start"] = _config(sender.slow_start, own)
    config = scenario.window_transport.config(sender.transport, profile, cc, _ANY_PATH)
    return json.dumps(config), [one.for_engine() for one in own]


def _usual_profile(scenario: ScenarioModel, sender: Sender) -> EcnProfile | None:
    """The default of p4cc's programs; None for a user's, whose default follows from its tables once it is compiled."""
    common = (isinstance(sender, Variant) and sender.program) or scenario.switch.program
    names = (common, *(one.program for one in scenario.switch.programs))
    return "gst" if any(is_builtin_file(find_program(Path(name))) for name in names) else None


def _own_profile(sender: Sender) -> EcnProfile | None:
    return sender.ecn_profile if isinstance(sender, Variant) else None


def _sender_location(location: Location, sender: Sender, place: str, scenario: ScenarioModel) -> Location:
    """The engine's path below a sender to the scenario's."""
    steps = place.split(".")
    if steps[0] == "cc":
        # The engine names an algorithm's place by its kind, `rate_control` too.
        return (*location, *steps[1:])
    if steps[0] == "receiver":
        return (*location, *steps)
    if steps[0] == "ecn_profile":
        return (*location, "ecn_profile") if _own_profile(sender) else ("switch", "ecn_profile")
    if steps[0] in sender.transport:
        return (*location, "transport", steps[0])
    return ("paced" if sender.rate_control and scenario.paced else "transport", steps[0])
