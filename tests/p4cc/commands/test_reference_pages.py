"""Reference pages made of the code: each part of a scenario, each algorithm and each command stands in its page."""

from __future__ import annotations

import re

import pytest

from p4cc.algorithms import registry
from p4cc.reference_pages import PAGES, algorithms_page, command_line_page, scenario_page
from p4cc.scenario import parts


def headings(page: str) -> set[str]:
    return set(re.findall(r"^#{2,} `?([^`\n]*)`?$", page, re.MULTILINE))


def test_every_part_and_kind_of_a_scenario_has_a_heading() -> None:
    found = headings(scenario_page())
    assert set(parts.names()) <= found
    assert {"topology.star", "traffic.poisson", "figures.cdf"} <= found


def test_every_algorithm_has_a_heading_and_its_parameters() -> None:
    page = algorithms_page()
    assert {entry.name for entry in registry()} <= headings(page)
    assert all(f"| `{one.name}` |" in page for entry in registry() for one in entry.parameters)


def test_every_command_has_a_heading() -> None:
    assert {"p4cc run", "p4cc lab", "p4cc controller plan"} <= headings(command_line_page())


@pytest.mark.parametrize("place", PAGES)
def test_a_page_begins_with_its_title(place: str) -> None:
    assert PAGES[place]().startswith("# ")
