// Figures of lines and bars: which traces Plotly draws for what is switched on.

// Plotly 4 offers to upload figures ("Share chart...") unless it is told not to: a report asks nobody for anything.
const CONFIG = {
  displaylogo: false, responsive: true, showSendToCloud: false, plotlyServerURL: "", modeBarButtonsToRemove: ["lasso2d", "select2d"],
};

/** What every figure shares: fonts and colours of the page. */
function baseLayout(height) {
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink").trim();
  return {
    height, autosize: true, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: style.getPropertyValue("--font").trim(), size: 12.5, color: ink },
    margin: { l: 62, r: 16, t: 34, b: 48 }, hovermode: "closest", bargap: 0.25,
    legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom", x: 0 },
    hoverlabel: { bgcolor: style.getPropertyValue("--raised").trim(), font: { color: ink }, namelength: -1 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: style.getPropertyValue("--quiet").trim() },
  };
}

function axis(title, isLog, more = {}) {
  const style = getComputedStyle(document.documentElement);
  const rule = style.getPropertyValue("--rule").trim();
  return {
    title: { text: safe(title), standoff: 6 }, type: isLog ? "log" : undefined, gridcolor: rule, linecolor: rule, zerolinecolor: rule,
    automargin: true, exponentformat: "power", minexponent: 6, ...(isLog ? { dtick: undefined, minor: { showgrid: false } } : {}), ...more,
  };
}

function isLog(own) { return state.axes === "own" ? own : state.axes === "log"; }

/** A figure with a picker of names, where it has one. */
function drawChart(block, place) {
  const names = [...new Set(block.panels.flatMap((panel) => panel.lines.map((line) => line.name)))].filter(Boolean);
  const picked = new Set();
  const picker = block.pick ? element("div", { class: "picks" }) : null;
  const seeds = block.panels.flatMap((panel) => panel.lines.map((line) => line.seed)).filter((seed) => seed !== null);
  const parts = scaffold(place, block, picker);
  let offered = "";

  function isHere(line, seed) {
    return state.series.has(line.series) && (line.point === null || line.point === state.point)
      && (line.seed === null || line.seed === seed);
  }

  /** The names that there are here; those in front are picked until the reader picks. */
  function offer(seed) {
    if (!picker) return;
    const lines = block.panels.flatMap((panel) => panel.lines).filter((line) => isHere(line, seed));
    const here = [...new Set(lines.map((line) => line.name))];
    if (offered === here.join("\n")) return;
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
    offer(seed);
    const traces = [], layout = { ...baseLayout(390) };
    const columns = parts.plot.clientWidth < 640 ? 1 : Math.min(block.panels.length, block.panels.length > 3 ? 3 : block.panels.length);
    const rows = Math.ceil(block.panels.length / columns);
    const gap = { x: columns > 1 ? 0.07 : 0, y: 0.3 / Math.max(rows, 1) };
    layout.height = Math.max(390, 320 * rows + 60);
    layout.annotations = [];
    const legends = new Set();
    block.panels.forEach((panel, number) => {
      const x = `x${number ? number + 1 : ""}`, y = `y${number ? number + 1 : ""}`;
      const width = (1 - gap.x * (columns - 1)) / columns, height = (1 - gap.y * (rows - 1)) / rows;
      const column = number % columns, row = Math.floor(number / columns);
      const left = column * (width + gap.x), top = 1 - row * (height + gap.y);
      const drawn = panel.lines.filter((line) => isHere(line, seed) && (!picker || picked.has(line.name)));
      const several = new Set(drawn.map((line) => line.series)).size > 1;
      const order = [...new Set(drawn.map((line) => line.name))];
      const made = drawn.flatMap((line) => tracesOf(line, panel, { several, order, names }));
      made.forEach((trace) => {
        trace.xaxis = x; trace.yaxis = y;
        trace.showlegend = trace.showlegend !== false && !legends.has(trace.legendgroup);
        if (trace.showlegend) legends.add(trace.legendgroup);
      });
      traces.push(...made);
      const cdf = panel.lines.some((line) => line.kind === "cdf"), bars = panel.lines.some((line) => line.kind === "bars");
      const logX = !bars && isLog(panel.x_log) && !panel.x_label.startsWith("time ("), logY = !cdf && isLog(panel.y_log);
      layout[`xaxis${number ? number + 1 : ""}`] = axis(panel.x_label, logX, {
        domain: [left, left + width], anchor: y, ...(bars ? { type: "category" } : {}),
        ...(panel.until && !logX ? { range: [0, panel.until] } : {}),
      });
      layout[`yaxis${number ? number + 1 : ""}`] = axis(panel.y_label, logY, {
        domain: [Math.max(0, top - height), top], anchor: x, ...(cdf ? { range: [0, 1.02] } : logY ? {} : { rangemode: "tozero" }),
      });
      if (panel.title) layout.annotations.push(heading(panel.title, left + width / 2, top));
      if (!made.length) layout.annotations.push(nothing(left + width / 2, top - height / 2));
    });
    layout.barmode = "group";
    makeRoom(layout, traces, parts.plot.clientWidth);
    Plotly.react(parts.plot, traces, layout, CONFIG);
    parts.say(seeds.length ? shownText(seed, seeds) : block.panels.some((panel) => panel.lines.some((line) => line.point !== null)) ? pointText() : "");
    parts.numbers(() => numbersOf(traces));
  }
  return draw;
}

/** Room below a figure for its legend, by the width that its entries need. */
function makeRoom(layout, traces, width) {
  const room = width - layout.margin.l - layout.margin.r;
  let lines = 1, used = 0;
  for (const trace of traces) {
    if (trace.showlegend === false) continue;
    const needed = 52 + 7 * plainText(trace.name).length;
    if (used && used + needed > room) { lines += 1; used = 0; }
    used += needed;
  }
  layout.margin.b = 56 + 21 * lines;
  layout.height += 21 * (lines - 1);
}

function heading(text, x, y) {
  return { text: `<b>${safe(text)}</b>`, x, y, xref: "paper", yref: "paper", xanchor: "center", yanchor: "bottom", showarrow: false, yshift: 4 };
}

function nothing(x, y) {
  return { text: "nothing to show of what is switched on", x, y, xref: "paper", yref: "paper", showarrow: false };
}

function pointText() { return held.points.length > 1 ? `Shown: ${held.points[state.point]}.` : ""; }

function shownText(seed, seeds, isOfPoint = true) {
  if (seed === null) return `There are details of seeds ${[...new Set(seeds)].join(", ")} only; none of them is on.`;
  const more = held.seeds.length > 1 ? `, seed ${seed}, the first that is on` : "";
  return `Shown: ${held.points.length > 1 && isOfPoint ? held.points[state.point] : "the run"}${more}.`;
}

/** Colour and dash of a line: the series' colour, and a dash for each name; a colour for each name where one series is on. */
function look(line, { several, order, names }) {
  const name = Math.max(0, order.indexOf(line.name)), folder = held.series[line.series].folder;
  const own = names.length > 0 && !several;
  return {
    colour: colour(own ? name : colourPlace(line.series)),
    dash: DASHES[(own ? again(name) : names.length ? name : folder + again(colourPlace(line.series))) % DASHES.length],
    symbol: SYMBOLS[(colourPlace(line.series) + 4 * folder) % SYMBOLS.length],
  };
}

/** How often the palette was used up before a place: more series than colours differ in their dashes. */
function again(place) { return Math.floor(place / PALETTES.light.length); }

function tracesOf(line, panel, how) {
  const { colour: ink, dash, symbol } = look(line, how);
  const label = [held.series[line.series].label, line.name].filter(Boolean).join(", ");
  const name = safe(label), group = `${label} ${line.role}`;
  const units = `${safe(panel.x_label) || "x"}: %{x}<br>${safe(panel.y_label) || "y"}: %{y:.8~g}`;
  const hover = (more) => `<b>${name}</b><br>${units}${more}<extra></extra>`;
  const common = { name, legendgroup: group, meta: { series: line.series, name: line.name, role: line.role } };
  if (line.kind === "steps") {
    const role = line.role ? `, ${line.role}` : "";
    return [{
      ...common, name: name + safe(role), type: "scatter", mode: "lines", x: line.x, y: line.y,
      line: { shape: "hv", width: line.role ? 1 : 1.6, dash: line.role ? (line.role === "K" ? "dot" : "dashdot") : dash, color: ink },
      hovertemplate: hover(safe(role)), showlegend: !line.role || undefined,
    }];
  }
  if (line.kind === "cdf") {
    const { x, y, rows } = merged(line, (seed) => state.seeds.has(seed));
    if (!x.length) return [];
    return [{
      ...common, name: `${name} (n = ${told(rows)})`, type: "scatter", mode: "lines", x, y,
      line: { shape: "hv", width: 1.8, dash, color: ink }, hovertemplate: hover(""),
    }];
  }
  const on = line.seeds.map((seed) => state.seeds.has(seed));
  const spreads = line.y.map((values) => spreadOf(values.filter((_, at) => on[at])));
  if (spreads.every((one) => one === null)) return [];
  const text = spreads.map((one) => (one === null ? "" : `<br>5 to 95 %: ${told(one.low)} to ${told(one.high)}<br>runs: ${one.count}`));
  const middle = spreads.map((one) => one?.median ?? null);
  if (line.kind === "bars") {
    return [{
      ...common, type: "bar", x: line.x.map(safe), y: middle, text, textposition: "none", hovertemplate: hover("%{text}"),
      marker: { color: ink, pattern: { shape: ["", "/", ".", "x"][held.series[line.series].folder % 4], fgcolor: ink, solidity: 0.5 } },
      error_y: {
        type: "data", symmetric: false, thickness: 1.2, width: 3, color: getComputedStyle(document.documentElement).getPropertyValue("--quiet").trim(),
        array: spreads.map((one) => (one ? one.high - one.median : 0)), arrayminus: spreads.map((one) => (one ? one.median - one.low : 0)),
      },
    }];
  }
  const kept = spreads.map((one, at) => [one, line.x[at]]).filter(([one]) => one !== null);
  const band = {
    ...common, type: "scatter", mode: "lines", x: [...kept.map(([, x]) => x), ...kept.map(([, x]) => x).reverse()],
    y: [...kept.map(([one]) => one.high), ...kept.map(([one]) => one.low).reverse()], fill: "toself", fillcolor: faint(ink),
    line: { width: 0 }, hoverinfo: "skip", showlegend: false, meta: { ...common.meta, role: "band" },
  };
  const median = {
    ...common, type: "scatter", mode: "lines+markers", x: line.x, y: middle, text, marker: { symbol, size: 7, color: ink },
    line: { width: 1.8, dash, color: ink }, hovertemplate: hover("%{text}"), connectgaps: false,
  };
  return kept.some(([one]) => one.count > 1) ? [band, median] : [median];
}

function faint(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return `rgba(${r},${g},${b},0.18)`;
}

/** Rows for people who cannot see, or do not want, the figure: what, x, y. */
function numbersOf(traces) {
  const most = 400, rows = [];
  const shown = traces.filter((trace) => trace.mode !== "text" && !["band", "empty"].includes(trace.meta?.role)).map(valuesOf);
  const each = Math.max(2, Math.floor(most / Math.max(shown.length, 1)));
  let count = 0;
  for (const values of shown) {
    count += values.length;
    const step = Math.max(1, Math.ceil(values.length / each));
    for (let at = 0; at < values.length; at += step) rows.push(values[at]);
  }
  return { heads: ["line", "x", "y"], rows, left: count - rows.length };
}

/** The values of a trace, each with what it is of: a line, a bar or a cell. */
function valuesOf(trace) {
  const name = plainText(trace.name ?? "");
  if (trace.type === "heatmap") {
    const named = (row, column) => (trace.hovertext ? plainText(trace.hovertext[row][column]) : row);
    return trace.z.flatMap((line, row) => line.map((value, column) => [name, named(row, column), value]).filter(([, , value]) => value !== null));
  }
  if (trace.customdata) return trace.customdata.map((of, at) => [name, plainText(of), (trace.orientation === "h" ? trace.x : trace.y)[at]]);
  return trace.x.map((x, at) => [name, x, trace.y[at]]);
}

function plainText(text) { return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"); }
