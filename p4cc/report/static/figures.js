// Figures: Python has made their traces (interactive.py); here are colours, what is switched on and what is picked.

function drawFigure(block, place) {
  const every = block.views.flatMap((view) => view.data.map(({ meta }) => meta));
  const names = block.pick ? [...new Set(every.map((meta) => meta.name).filter(Boolean))] : [];
  const picked = new Set();
  const picker = block.pick ? element("div", { class: "picks" }) : null;
  const parts = scaffold(place, block, picker);
  const seeds = [...block.views, ...every].map((one) => one.seed ?? null).filter((seed) => seed !== null);
  const isOfPoint = [...block.views, ...every].some((one) => (one.point ?? null) !== null);
  let offered = "";

  /** The names that there are here; those in front are picked until the reader picks. */
  function offer(data) {
    const here = [...new Set(data.map(({ meta }) => meta.name))].filter(Boolean);
    if (!picker || offered === here.join("\n")) return;
    offered = here.join("\n");
    const kept = here.filter((name) => picked.has(name));
    picked.clear();
    (kept.length ? kept : here.slice(0, block.picked)).forEach((name) => picked.add(name));
    const fieldset = element("fieldset", {}, element("legend", {}, `Choose ${block.pick}`));
    here.forEach((name) => {
      const box = element("input", { type: "checkbox", checked: picked.has(name) });
      box.addEventListener("change", () => { if (box.checked) picked.add(name); else picked.delete(name); draw(); });
      fieldset.append(element("label", {}, box, name));
    });
    picker.replaceChildren(fieldset);
  }

  function draw() {
    const seed = seeds.length ? shownSeed(seeds) : null;
    const isHere = (one) => (one.point ?? state.point) === state.point && (one.seed ?? seed) === seed;
    const view = block.views.find(isHere);
    const all = (view?.data ?? []).map((trace) => ({ ...trace, meta: { ...trace.meta, series: held.series.findIndex((one) => one.label === trace.meta.variant) } }));
    const here = all.filter(({ meta }) => isHere(meta) && (meta.series < 0 || state.series.has(meta.series)));
    offer(here);
    const traces = shownOf(all, here.filter(({ meta }) => !picker || picked.has(meta.name)), names);
    const width = parts.plot.clientWidth;
    const layout = traces.length ? dressed(view.layout, traces, width) : { ...baseLayout(390), annotations: [nothing(0.5, 0.5)] };
    makeRoom(layout, traces, width);
    Plotly.react(parts.plot, traces, layout, CONFIG);
    parts.say(seeds.length ? shownText(view ? seed : null, seeds, isOfPoint) : isOfPoint ? pointText() : "");
    parts.numbers(() => numbersOf(traces));
  }
  return draw;
}

/** Traces that are on, of the seeds that are on, in the page's colours; every panel keeps its axes. */
function shownOf(all, here, names) {
  const on = here.map(reseeded).filter(Boolean);
  if (!on.length) return [];
  const several = new Set(on.map(({ meta }) => meta.series)).size > 1, order = [...new Set(on.map(({ meta }) => meta.name))];
  const legends = new Set(), panels = new Set(on.map((trace) => trace.xaxis));
  const empty = all.filter((trace) => !panels.has(trace.xaxis) && panels.add(trace.xaxis));
  return [
    ...on.map((trace) => {
      const showlegend = trace.showlegend === true && !legends.has(trace.legendgroup);
      if (showlegend) legends.add(trace.legendgroup);
      return painted({ ...trace, showlegend }, { several, order, names });
    }),
    ...empty.map(({ xaxis, yaxis }) => ({ type: "scatter", x: [null], y: [null], xaxis, yaxis, showlegend: false, hoverinfo: "skip", meta: { role: "empty" } })),
  ];
}

/** A trace with medians or a distribution of the seeds that are on; null where none of them has a value. */
function reseeded(trace) {
  const { samples, parts, along, role } = trace.meta;
  const isOff = ([seed]) => !state.seeds.has(seed);
  if (parts?.some((one) => !state.seeds.has(one.seed))) {
    const of = (key) => parts.map((one) => one[key]);
    const { x, y, rows } = merged({ seeds: of("seed"), rows: of("rows"), x: of("x"), y: of("y") }, (seed) => state.seeds.has(seed));
    return x.length ? { ...trace, x, y, name: trace.name.replace(/ \(n = .*\)$/, ` (n = ${told(rows)})`) } : null;
  }
  if (!samples?.some((runs) => runs.some(isOff))) return trace;
  const spreads = samples.map((runs) => spreadOf(runs.filter((run) => !isOff(run)).map(([, value]) => value)));
  if (spreads.every((one) => one === null)) return null;
  if (role === "band") {
    const kept = spreads.map((one, at) => [one, along[at]]).filter(([one]) => one !== null), back = [...kept].reverse();
    return { ...trace, x: [...kept, ...back].map(([, x]) => x), y: [...kept.map(([one]) => one.high), ...back.map(([one]) => one.low)] };
  }
  const text = spreads.map((one) => (one === null ? "" : `<br>5 to 95 %: ${told(one.low)} to ${told(one.high)}<br>runs: ${one.count}`));
  const y = spreads.map((one) => one?.median ?? null), changed = { ...trace, y, [trace.type === "bar" ? "hovertext" : "text"]: text };
  if (trace.error_y) {
    const ends = { array: spreads.map((one) => (one ? one.high - one.median : 0)), arrayminus: spreads.map((one) => (one ? one.median - one.low : 0)) };
    changed.error_y = { ...trace.error_y, ...ends };
  }
  return changed;
}

/** A trace in the colour that its place in the palette, or its variant, has on this page. */
function painted(trace, how) {
  const { role, colour: own, series } = trace.meta;
  if (own === undefined) return trace;
  const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue(name).trim();
  const looks = own === "variant" && series >= 0 ? look(trace.meta, how) : {};
  const ink = looks.colour ?? { black: of("--ink"), grey: of("--quiet"), variant: colour(0) }[own] ?? colour(own);
  const result = { ...trace };
  if (trace.line) result.line = { ...trace.line, color: ink, ...(trace.line.dash === "solid" && looks.dash ? { dash: looks.dash } : {}) };
  if (role === "band") result.fillcolor = faint(ink);
  if (trace.marker) result.marker = { color: ink, ...trace.marker };
  if (trace.marker?.pattern) result.marker.pattern = { ...trace.marker.pattern, fgcolor: of("--ground"), bgcolor: ink };
  for (const key of ["error_x", "error_y"]) if (trace[key]) result[key] = { ...trace[key], color: trace.type === "bar" ? of("--quiet") : ink };
  if (trace.mode === "text") result.textfont = { color: ink, size: 10 };
  return result;
}

/** A layout of Python's in the page's colours, with panels below each other where there is little room. */
function dressed(own, traces, width) {
  const { grid, height } = own, count = grid.rows * grid.columns, columns = width < 640 ? 1 : grid.columns;
  const rows = columns === grid.columns ? grid.rows : count;
  const layout = { ...baseLayout(Math.max(390, (height + 20) * rows + 70)), barmode: own.barmode, coloraxis: own.coloraxis };
  layout.grid = { ...grid, rows, columns, xgap: 0.2, ygap: Math.min(0.6, 110 / height) };
  const inked = getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
  layout.shapes = own.shapes.map((shape) => ({ ...shape, line: { ...shape.line, color: inked } }));
  layout.annotations = [...own.annotations];
  for (const [key, value] of Object.entries(own)) {
    if (!/^[xy]axis/.test(key)) continue;
    // Only axes with a type of their own may change it: times, shares and names stay as they are.
    const isFree = value.type !== undefined && !value.range && state.axes !== "own";
    layout[key] = { ...axis("", false), ...value, title: { ...value.title, standoff: 6 }, ...(isFree ? { type: state.axes } : {}) };
  }
  for (const trace of traces) {
    if (trace.meta.role !== "empty") continue;
    const at = { xref: `${trace.xaxis} domain`, yref: `${trace.yaxis} domain` };
    if (!own.annotations.some((one) => one.xref === at.xref && one.y === 0.5)) layout.annotations.push({ ...nothing(0.5, 0.5), ...at });
  }
  return layout;
}
