"""`p4cc sweep`: an algorithm over values of its own parameters, and the best setting for each metric.

A scenario's own sweep stays: its points are the kinds of traffic (or whatever it sweeps) for which settings are
compared. Runs are those of `p4cc run`, kept in the same cache.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import polars as pl
from polars import selectors

from p4cc.algorithms import registry
from p4cc.cache import FOLDER
from p4cc.errors import UserError
from p4cc.percentiles import percentile
from p4cc.progress import progress
from p4cc.result_folder import Claim, results_into
from p4cc.results import read_table
from p4cc.runner import RunRequest, execute, prepare
from p4cc.scenario.load import validate
from p4cc.scenario.overrides import Origins, apply_overrides
from p4cc.scenario.variants import KINDS
from p4cc.scenario.yaml import parse_value, read_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p4cc.runner import Prepared
    from p4cc.scenario.schema import Scenario, Variant

METRICS: Mapping[str, bool] = {
    "slowdown_mean": False,
    "slowdown_p50": False,
    "slowdown_p95": False,
    "slowdown_p99": False,
    "fct_mean_ns": False,
    "fct_p99_ns": False,
    "goodput_bps": True,
    "finish_ns": False,
    "pauses": False,
    "queue_p99_bytes": False,
    "jain_index": True,
}
"""Metrics by name, and whether more is better."""

TABLE_FILE = "settings.parquet"
DEFAULT_METRICS = ("slowdown_mean", "slowdown_p95", "slowdown_p99", "goodput_bps")
MAX_OVER = 8
MAX_VALUES = 1_000
_UNFINISHED = "unfinished"


@dataclass(frozen=True)
class Over:
    """One `--over`: a parameter or a dotted path, with its values."""

    name: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class SweepRequest:
    """What the command line asks for."""

    scenario: Path
    over: tuple[Over, ...]
    metrics: tuple[str, ...] = DEFAULT_METRICS
    overrides: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    out: Path | None = None
    jobs: int = 1
    quiet: bool = False
    use_cache: bool = True
    force: bool = False
    """Replace results of other settings."""

    @property
    def settings(self) -> str:
        """What is swept and changed, as a short hash."""
        over = [(one.name, one.values) for one in self.over]
        return hashlib.sha256(json.dumps([over, self.overrides, self.variants]).encode()).hexdigest()[:8]


@dataclass
class SweepOutcome:
    """Medians over the seeds for each setting, the best ones, and where the runs are."""

    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    best: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    folder: Path = Path()

    def plain(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {"best": self.best, "settings": self.rows}


def parse_over(text: str) -> Over:
    """Reads `name=a,b,c` or `name=[a, b]`; raises UserError."""
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
    document = read_document(request.scenario)
    origins: Origins = {}
    data = apply_overrides(document.plain(), list(request.overrides), origins)
    scenario = validate(document, data, origins)
    folder = request.out or Path("results") / f"{scenario.name}-sweep-{request.settings}"
    prepared = [
        (variant, paths, prepare(_run_request(request, scenario, variant, paths, folder)))
        for variant, paths in _swept(request, scenario)
    ]
    identity = {"kind": "sweep", "scenario": scenario.name, "settings": request.settings}
    with results_into(Claim(folder, identity, (TABLE_FILE,), request.force)) as partial:
        outcome = _run_all(request, prepared, folder)
        pl.DataFrame(outcome.rows, infer_schema_length=None).write_parquet(partial / TABLE_FILE)
    return outcome


def _run_all(
    request: SweepRequest, prepared: Sequence[tuple[Variant, dict[str, str], Prepared]], folder: Path
) -> SweepOutcome:
    outcome = SweepOutcome(folder=folder)
    with progress(sum(one.runs for _, _, one in prepared), request.quiet) as shown:
        for variant, paths, one in prepared:
            made = execute(one, shown)
            names = {path: _column(path, made.row_keys) for path in paths.values()}
            settings = {over: names[path] for over, path in paths.items()}
            found = _measured(pl.DataFrame(made.summary["runs"], infer_schema_length=None), made.folder, made.row_keys)
            rows = found.rename({column: over for over, column in settings.items()})
            points = [key for key in made.row_keys if key != "variant" and key not in settings.values()]
            outcome.rows.extend(rows.to_dicts())
            outcome.best.extend(best_settings(rows, variant.name, points, list(settings), request.metrics))
    return outcome


def best_settings(
    rows: pl.DataFrame, variant: str, points: Sequence[str], settings: Sequence[str], metrics: Sequence[str]
) -> list[dict[str, Any]]:
    """The best setting of a variant for each point and metric, with the worst beside it.

    Settings that leave more flows unfinished than others do are not compared: what is left out would flatter them.
    """
    found: list[dict[str, Any]] = []
    groups = rows.group_by(*points, maintain_order=True) if points else [((), rows)]
    for key, group in groups:
        whole = group.filter(pl.col(_UNFINISHED) == pl.col(_UNFINISHED).min())
        for metric in metrics:
            values = whole.filter(pl.col(metric).is_not_null() & pl.col(metric).is_not_nan()).sort(
                metric, descending=METRICS[metric], maintain_order=True
            )
            if values.is_empty():
                continue
            first, last = values.row(0, named=True), values.row(-1, named=True)
            found.append(
                {
                    "variant": variant,
                    **dict(zip(points, key, strict=True)),
                    "metric": metric,
                    "best": {name: first[name] for name in settings},
                    "value": first[metric],
                    "worst": {name: last[name] for name in settings},
                    "worst_value": last[metric],
                    "settings": group.height,
                    "left_out": group.height - whole.height,
                }
            )
    return found


def _check(request: SweepRequest) -> None:
    if not 1 <= len(request.over) <= MAX_OVER:
        raise UserError(f"{len(request.over)} parameters", place="--over", remedy=f"give 1 to {MAX_OVER}")
    if len({one.name for one in request.over}) != len(request.over):
        raise UserError("a parameter is given twice", place="--over", remedy="give all its values at once")
    for metric in request.metrics:
        if metric not in METRICS:
            raise UserError(f"no metric {metric!r}", place="--metric", remedy=f"metrics: {', '.join(METRICS)}")


def _swept(request: SweepRequest, scenario: Scenario) -> list[tuple[Variant, dict[str, str]]]:
    """Variants that have all the parameters, with the path of each; raises UserError if none has."""
    for name in request.variants:
        if name not in {variant.name for variant in scenario.variants}:
            known = ", ".join(variant.name for variant in scenario.variants)
            raise UserError(f"no variant {name!r}", place="--variant", remedy=f"variants: {known}")
    found: list[tuple[Variant, dict[str, str]]] = []
    for place, variant in enumerate(scenario.variants):
        if request.variants and variant.name not in request.variants:
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
    """Where a scenario has a parameter of this variant; a dotted name is a path already."""
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
    request: SweepRequest, scenario: Scenario, variant: Variant, paths: dict[str, str], folder: Path
) -> RunRequest:
    values = {one.name: list(one.values) for one in request.over}
    swept = {**scenario.sweep, **{path: values[name] for name, path in paths.items()}}
    slug = "".join(letter if letter.isalnum() else "_" for letter in variant.name)
    return RunRequest(
        scenario=request.scenario,
        out=folder / slug,
        overrides=(*request.overrides, f"sweep={json.dumps(swept)}"),
        variants=(variant.name,),
        jobs=request.jobs,
        figures=False,
        quiet=True,
        use_cache=request.use_cache,
        cache=folder.parent / FOLDER,
        force=request.force,
    )


def _column(path: str, keys: Sequence[str]) -> str:
    """The column that results have for a swept path: its last step, or all of it where two steps are alike."""
    last = path.rsplit(".", 1)[-1]
    return last if last in keys else path


def _measured(runs: pl.DataFrame, folder: Path, keys: list[str]) -> pl.DataFrame:
    """Medians over the seeds of every metric: a row for each combination of `keys`, in their order."""
    table = read_table(folder, "flows")
    if table is None:
        raise UserError("the runs have no flows to compare", place=str(folder), remedy="give the scenario traffic")
    flows = table.select(*keys, "seed", "size_bytes", "fct_ns", "slowdown")
    ends: list[dict[str, Any]] = []
    for key, one in flows.group_by(*keys, "seed", maintain_order=True):
        done = one.filter(pl.col("size_bytes").is_not_null() & pl.col("fct_ns").is_not_null())
        slowdowns, times = (done[name].cast(pl.Float64).to_numpy() for name in ("slowdown", "fct_ns"))
        row = dict(zip((*keys, "seed"), key, strict=True))
        row[_UNFINISHED] = one.filter(pl.col("size_bytes").is_not_null() & pl.col("fct_ns").is_null()).height
        row["slowdown_mean"] = float(slowdowns.mean()) if slowdowns.size else None
        row["fct_mean_ns"] = float(times.mean()) if times.size else None
        row.update({f"slowdown_p{percent}": percentile(slowdowns, percent) for percent in (50, 95, 99)})
        row["fct_p99_ns"] = percentile(times, 99)
        ends.append(row)
    whole = runs.join(pl.DataFrame(ends, infer_schema_length=None), on=[*keys, "seed"])
    known = [metric for metric in METRICS if metric in whole.columns]
    columns = [pl.col(name).cast(pl.Float64).median() for name in (*known, _UNFINISHED)]
    absent = [pl.lit(None, pl.Float64).alias(name) for name in METRICS if name not in known]
    medians = whole.group_by(*keys, maintain_order=True).agg(columns)
    return medians.with_columns(absent).with_columns(selectors.float().fill_nan(None))
