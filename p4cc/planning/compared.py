"""A warning about comparisons of variants that differ in transport, whatever their algorithms are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc.scenario import transports

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p4cc.scenario.expand import Case
    from p4cc.scenario.findings import Places


def transport_warnings(cases: Iterable[Case], places: Places) -> list[str]:
    """One warning for each way in which variants of one point differ in transport; none where that is on purpose."""
    points: dict[str, list[Case]] = {}
    for case in cases:
        points.setdefault(repr(case.point), []).append(case)
    found: dict[str, None] = {}
    for together in points.values():
        scenario = together[0].scenario
        if scenario.own_transports or len(together) < 2:
            continue
        data = scenario.model_dump(include={"transport", "paced"})
        of = {case.variant.name: (data, case.variant.model_dump()) for case in together}
        if (text := transports.warning(of)) is not None:
            found[f"{places.of(('variants',))}: {text}"] = None
    return list(found)
