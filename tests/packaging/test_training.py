"""What a tuned wheel is trained with: scenarios of the wheel, each with what it changes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from p4cc.bundled import find_scenario
from p4cc.scenario.load import load_scenario

ROOT = Path(__file__).resolve().parents[2]


def training() -> ModuleType:
    spec = importlib.util.spec_from_file_location("training", ROOT / "engine/training.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("arguments", training().SCENARIOS, ids=" ".join)
def test_scenarios_are_in_the_wheel(arguments: tuple[str, ...]) -> None:
    name, *options = arguments
    given = dict(zip(options[::2], options[1::2], strict=True))
    assert (ROOT / "p4cc/data/experiments" / f"{name}.yaml").exists()
    scenario = load_scenario(find_scenario(name), [given["--set"]] if "--set" in given else [])
    if "--variant" in given:
        assert given["--variant"] in {variant.name for variant in scenario.variants}


def test_the_build_calls_it() -> None:
    assert 'pgo-command = "python engine/training.py"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
