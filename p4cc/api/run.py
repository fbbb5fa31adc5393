"""Scenarios from Python: run one, sweep one, compile a program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p4cc.api.given import request_of
from p4cc.api.result import Result
from p4cc.planning.programs import compile_program
from p4cc.running.runner import run_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from p4cc.json_data import JsonObject, JsonValue
    from p4cc.planning.programs import CompiledProgram
    from p4cc.scenario.built import Scenario


def run(
    scenario: str | PathLike[str] | JsonObject | Scenario,
    changes: JsonObject | None = None,
    *,
    variants: Sequence[str] = (),
    out: str | PathLike[str] | None = None,
    jobs: int = 1,
    threads: int = 1,
    figures: bool = False,
    quiet: bool = False,
    use_cache: bool = True,
    force: bool = False,
    **overrides: JsonValue,
) -> Result:
    """Runs a scenario and returns its results, which are stored in `out` as by `p4cc run`.

    `scenario` is a file, an experiment's name such as `gst/incast`, a mapping, or a `Scenario`. `changes` maps dotted
    paths of fields to values, `{"topology.senders": 25}`; `overrides` are the same as keywords, `topology__senders=25`.
    By default, results go to `results/NAME`, or to a separate folder for changed settings, or if that folder holds
    results of another file or another scenario made in Python. Finished runs are cached: an interrupted call continues
    where it stopped.

    `jobs` runs execute in parallel, each on `threads` threads; results depend on neither. The function also works in
    notebooks, which already run an event loop. Raises UserError for an invalid scenario, and InterruptedRunError on
    Ctrl-C.
    """
    request = replace(
        request_of(scenario, changes, overrides, variants),
        out=None if out is None else Path(out),
        jobs=jobs,
        threads=threads,
        figures=figures,
        quiet=quiet,
        use_cache=use_cache,
        force=force,
    )
    return Result(run_scenario(request).folder)


def sweep(
    scenario: str | PathLike[str] | JsonObject | Scenario, over: Mapping[str, Sequence[JsonValue]], **options: Any
) -> Result:
    """Runs a scenario for all combinations of values: `over` maps dotted paths to values; `options` as for `run`.

    The values are columns in `result.runs` and in every table. Raises UserError as `run` does.
    """
    given: JsonObject = options.pop("changes", None) or {}
    return run(scenario, {**given, **{f"sweep.{path}": list(values) for path, values in over.items()}}, **options)


def compile(  # noqa: A001 - what `p4cc compile` does
    program: str | PathLike[str],
    *,
    include: Sequence[str | PathLike[str]] = (),
    defines: Mapping[str, str] | None = None,
    strict: str | None = None,
) -> CompiledProgram:
    """Compiles P4-16 source or reads BMv2 JSON; p4cc's headers and controls are on the include path.

    `ok` is false for a program with errors, and `rendered` shows them like `p4cc compile`; `p4info_text()`, `ir_text()`
    and `header_types()` require a program without errors. With `strict`, whatever the chip (`tofino`) rejects is an
    error. Raises UserError for an unreadable file.
    """
    macros = tuple(f"{name}={value}" for name, value in (defines or {}).items())
    return compile_program(Path(program), tuple(Path(folder) for folder in include), macros, strict)
