"""`p4cc sweep`: an algorithm over values of its parameters, and the best setting for each metric.

A scenario's own sweep is kept: settings are compared at each of its points (for example, kinds of traffic), on the
Pareto front of two metrics (`tradeoff`). Runs are those of `p4cc run`, in the same cache.
"""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import polars as pl
import pyarrow.parquet as pq
from polars import selectors

from p4cc.algorithms import registry
from p4cc.analysis.recorded import read_table
from p4cc.analysis.tables import described
from p4cc.analysis.tradeoff import METRICS, best_settings, by_point, measured, with_front
from p4cc.analysis.tradeoff_table import Group
from p4cc.errors import UserError
from p4cc.running.cache_files import FOLDER
from p4cc.running.destination import destination_of
from p4cc.running.prepared import prepare
from p4cc.running.result_folder import Claim, results_into
from p4cc.running.runner import execute
from p4cc.running.shown_progress import progress
from p4cc.scenario.flow_figures import FIGURE_NAME
from p4cc.scenario.load import validate
from p4cc.scenario.overrides import Origins, apply_overrides
from p4cc.scenario.variants import KINDS
from p4cc.scenario.yaml import parse_value, read_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p4cc.running.prepared import Prepared
    from p4cc.running.request import RunRequest
    from p4cc.scenario.schema import ScenarioModel, Variant

TABLE_FILE = "settings.parquet"
DEFAULT_METRICS = ("slowdown_mean", "slowdown_p95", "slowdown_p99", "goodput_bps")
MAX_OVER = 8
MAX_VALUES = 1_000
DEFAULT_OBJECTIVES = ("slowdown_p99", "goodput_bps")
DEFAULT_FIGURE = "tradeoff.png"


@dataclass(frozen=True)
class Over:
    """One `--over`: a parameter or a dotted path, with its values."""

    name: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class SweepRequest:
    """The options of the command line."""

    run: RunRequest
    """The scenario, and how to make its runs."""
    over: tuple[Over, ...]
    metrics: tuple[str, ...] = ()
    """Metrics to find the best setting for; the default ones if empty."""
    front: tuple[str, ...] = ()
    """The two metrics of the Pareto front; see `objectives`."""
    figure: str | None = DEFAULT_FIGURE
    """File name of the figure in the folder; None for no figure."""

    @property
    def compared(self) -> tuple[str, ...]:
        """The metrics to find the best setting for."""
        return self.metrics or DEFAULT_METRICS

    @property
    def objectives(self) -> tuple[str, str]:
        """The two metrics of the front: as set, else the first two requested, else slowdown and goodput."""
        named = dict.fromkeys((*(self.front or self.metrics), *DEFAULT_OBJECTIVES))
        first, second, *_ = named
        return first, second

    @property
    def settings(self) -> str:
        """Short hash of what is swept and changed."""
        over = [(one.name, one.values) for one in self.over]
        return hashlib.sha256(json.dumps([over, self.run.overrides, self.run.variants]).encode()).hexdigest()[:8]


@dataclass
class SweepOutcome:
    """All settings with their metrics, the best ones, and the location of the runs."""

    folder: Path
    objectives: tuple[str, str]
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    best: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    groups: list[Group] = field(default_factory=list["Group"])
    swept: dict[str, str] = field(default_factory=dict[str, str])
    """Key columns of a row, with the path of each in the scenario."""
    figure: Path | None = None
    aside: str = ""
    """Why the folder differs from the one named after the scenario; otherwise empty."""

    def plain(self) -> dict[str, object]:
        """The output of `--json`."""
        return {"objectives": self.objectives, "best": self.best, "settings": self.rows}


def parse_over(text: str) -> Over:
    """Parses `name=a,b,c` or `name=[a, b]`; raises UserError."""
    name, separator, values = text.partition("=")
    if not separator or not name or not values:
        raise UserError(f"{text!r} is not PARAM=a,b,c", place="--over", remedy="for example --over eta=0.9,0.95")
    try:
        parsed = parse_value(values if values.startswith("[") else f"[{values}]")
    except ValueError as error:
        raise UserError(f"the values of {text!r} are not YAML", place="--over", remedy="quote them") from error
    found = cast("list[Any]", parsed) if isinstance(parsed, list) else [parsed]
    if not 1 <= len(found) <= MAX_VALUES:
        raise UserError(f"{len(found)} values", place=f"--over {name}", remedy=f"give 1 to {MAX_VALUES}")
    return Over(name, tuple(found))


def sweep(request: SweepRequest) -> SweepOutcome:
    """Runs every setting of every variant that has the parameters; raises UserError."""
    _check(request)
    run = request.run
    document = read_document(run.scenario)
    origins: Origins = {}
    data = apply_overrides(document.plain(), list(run.overrides), origins)
    scenario = validate(document, data, origins)
    identity = {"kind": "sweep", "scenario": scenario.name, "settings": request.settings}
    wanted = run.out or Path("results") / f"{scenario.name}-sweep-{request.settings}"
    place = destination_of(wanted, run.scenario, identity, is_asked_for=run.out is not None)
    folder = place.folder
    prepared = [
        (variant, paths, prepare(_run_request(request, scenario, variant, paths, folder)))
        for variant, paths in _swept(request, scenario)
    ]
    names = (TABLE_FILE, *((request.figure,) if request.figure else ()))
    with results_into(Claim(folder, place.identity, names, run.force)) as partial:
        outcome = _run_all(request, prepared, folder)
        outcome.aside = place.aside
        _write(outcome, partial / TABLE_FILE)
        if request.figure:
            # Importing the plotting library takes a second; sweeps without a figure need not wait.
            from p4cc.figures.picture import write
            from p4cc.figures.tradeoff import chart

            write(chart(outcome.groups, outcome.objectives), partial / request.figure)
            outcome.figure = folder / request.figure
    return outcome


def _run_all(
    request: SweepRequest, prepared: Sequence[tuple[Variant, dict[str, str], Prepared]], folder: Path
) -> SweepOutcome:
    outcome = SweepOutcome(folder, request.objectives)
    with progress(sum(one.runs for _, _, one in prepared), request.run.quiet) as shown:
        for variant, paths, one in prepared:
            made = execute(one, shown)
            names = {path: _column(path, made.row_keys) for path in paths.values()}
            settings = {over: names[path] for over, path in paths.items()}
            flows = read_table(made.folder, "flows")
            if flows is None:
                raise UserError(
                    "the runs have no flows to compare", place=str(made.folder), remedy="give the scenario traffic"
                )
            runs = pl.DataFrame(made.summary["runs"], infer_schema_length=None)
            found = measured(runs, flows, made.row_keys).rename({column: over for over, column in settings.items()})
            points = [key for key in made.row_keys if key != "variant" and key not in settings.values()]
            rows = with_front(found, points, outcome.objectives)
            outcome.rows.extend(rows.to_dicts())
            outcome.best.extend(best_settings(rows, variant.name, points, list(settings), request.compared))
            outcome.groups.extend(_groups(rows, variant.name, points, tuple(settings)))
            columns = {name: path for case in one.cases for name, path in case.columns().items()}
            outcome.swept.update({**columns, **paths})
    return outcome


def _groups(rows: pl.DataFrame, variant: str, points: Sequence[str], settings: tuple[str, ...]) -> Iterator[Group]:
    for key, group in by_point(rows, points):
        yield Group(variant, dict(zip(points, key, strict=True)), settings, group.to_dicts())


def _write(outcome: SweepOutcome, path: Path) -> None:
    """Writes all settings, each column with its description and unit."""
    rows = pl.DataFrame(outcome.rows, infer_schema_length=None)
    # A metric without values is a column of numbers too.
    table = rows.with_columns(selectors.by_dtype(pl.Null).cast(pl.Float64)).to_arrow()
    schema = described("settings", table, outcome.swept)
    schema = schema.with_metadata({**(schema.metadata or {}), "objectives": ",".join(outcome.objectives)})
    pq.write_table(table.cast(schema), path, compression="zstd", version="2.6")


def _check(request: SweepRequest) -> None:
    if not 1 <= len(request.over) <= MAX_OVER:
        raise UserError(f"{len(request.over)} parameters", place="--over", remedy=f"give 1 to {MAX_OVER}")
    if len({one.name for one in request.over}) != len(request.over):
        raise UserError("a parameter is given twice", place="--over", remedy="give all its values at once")
    for metric in request.metrics:
        if metric not in METRICS:
            raise UserError(f"no metric {metric!r}", place="--metric", remedy=f"metrics: {', '.join(METRICS)}")
    for metric in request.front:
        if metric not in METRICS:
            raise UserError(f"no metric {metric!r}", place="--front", remedy=f"metrics: {', '.join(METRICS)}")
    if request.front and (len(request.front) != 2 or request.front[0] == request.front[1]):
        raise UserError(
            "not two metrics", place="--front", remedy=f"for example --front {','.join(DEFAULT_OBJECTIVES)}"
        )
    if request.figure is not None and not re.fullmatch(FIGURE_NAME, request.figure):
        raise UserError(
            f"{request.figure!r} is not a figure's name",
            place="--figure",
            remedy="a plain name that ends with .png, .pdf or .svg",
        )


def _swept(request: SweepRequest, scenario: ScenarioModel) -> list[tuple[Variant, dict[str, str]]]:
    """Variants with all the parameters, and the path of each; raises UserError if there are none."""
    chosen = request.run.variants
    for name in chosen:
        if name not in {variant.name for variant in scenario.variants}:
            known = ", ".join(variant.name for variant in scenario.variants)
            raise UserError(f"no variant {name!r}", place="--variant", remedy=f"variants: {known}")
    found: list[tuple[Variant, dict[str, str]]] = []
    for place, variant in enumerate(scenario.variants):
        if chosen and variant.name not in chosen:
            continue
        paths = {one.name: _path(one.name, place, variant) for one in request.over}
        if all(paths.values()):
            found.append((variant, cast("dict[str, str]", paths)))
    if found:
        return found
    names = {name for variant in scenario.variants for name in _parameters(variant)}
    raise UserError(
        f"no variant has all of {', '.join(one.name for one in request.over)}",
        place="--over",
        remedy=f"parameters of its algorithms: {', '.join(sorted(names))}; or a dotted path such as switch.red.p_max",
    )


def _path(name: str, place: int, variant: Variant) -> str | None:
    """Path of this variant's parameter in a scenario; a dotted name already is a path."""
    if "." in name:
        return name
    kind = _parameters(variant).get(name)
    return None if kind is None else f"variants.{place}.{kind}.{name}"


def _parameters(variant: Variant) -> dict[str, str]:
    """Parameters of a variant's algorithms, with the kind of each."""
    known = {entry.name: entry for entry in registry()}
    found: dict[str, str] = {}
    for kind in KINDS:
        algorithm = getattr(variant, kind)
        if algorithm is not None and algorithm.name in known:
            for parameter in known[algorithm.name].parameters:
                found.setdefault(parameter.name, kind)
    return found


def _run_request(
    request: SweepRequest, scenario: ScenarioModel, variant: Variant, paths: dict[str, str], folder: Path
) -> RunRequest:
    values = {one.name: list(one.values) for one in request.over}
    swept = {**scenario.sweep, **{path: values[name] for name, path in paths.items()}}
    slug = "".join(letter if letter.isalnum() else "_" for letter in variant.name)
    return replace(
        request.run,
        out=folder / slug,
        overrides=(*request.run.overrides, f"sweep={json.dumps(swept)}"),
        variants=(variant.name,),
        figures=False,
        quiet=True,
        cache=folder.parent / FOLDER,
    )


def _column(path: str, keys: Sequence[str]) -> str:
    """Result column of a swept path: its last step, or all of it if two last steps are equal."""
    last = path.rsplit(".", 1)[-1]
    return last if last in keys else path
