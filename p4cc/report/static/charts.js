// What figures share: their look in the page's colours, what is said below them, their numbers.

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

function nothing(x, y) {
  return { text: "nothing to show of what is switched on", x, y, xref: "paper", yref: "paper", showarrow: false };
}

function pointText() { return held.points.length > 1 ? `Shown: ${held.points[state.point]}.` : ""; }

function shownText(seed, seeds, isOfPoint = true) {
  if (seed === null) return `There are details of seeds ${[...new Set(seeds)].join(", ")} only; none of them is selected.`;
  const what = held.points.length > 1 && isOfPoint ? [held.points[state.point]] : [];
  if (held.seeds.length > 1) what.push(`seed ${seed}, the first selected`);
  return what.length ? `Shown: ${what.join(", ")}.` : "";
}

/** Colour and dash of a variant's trace: a dash for each name; a colour for each name where one series is on. */
function look({ series, name }, { several, order, names }) {
  const place = Math.max(0, order.indexOf(name)), own = names.length > 0 && !several;
  const dash = own ? again(place) : names.length ? place : held.series[series].folder + again(colourPlace(series));
  return { colour: colour(own ? place : colourPlace(series)), dash: DASHES[dash % DASHES.length] };
}

/** How often the palette was used up before a place: more series than colours differ in their dashes. */
function again(place) { return Math.floor(place / PALETTES.light.length); }

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
