// Lines over virtual time: what is kept of each, and their figure.

import { Chart, layout } from "./chart.js";
import { label } from "./dom.js";
import { instant, timeUnit } from "./format.js";
import { DASHES, lineColours } from "./theme.js";

const POINTS = 2000;
const REMEMBERED = 24;
// A figure draws at most two points of a line in this many pixels of its width.
const PIXELS = 3;
const INTERVAL_MS = 500;

/** Points of watched things by key, each with a slot (colour and dash) that it keeps while it is watched. */
export class History {
  constructor() {
    this.lines = new Map();
    this.shown = [];
  }

  clear() {
    this.lines.clear();
    this.shown = [];
  }

  /** Which lines are shown, `[{key, name}]`; slots of those that were shown before stay. */
  show(things) {
    const keys = new Set(things.map((thing) => thing.key));
    const free = new Set(DASHES.keys());
    for (const key of this.shown) {
      const line = this.lines.get(key);
      if (!keys.has(key)) line.slot = null;
      else free.delete(line.slot);
    }
    for (const { key, name } of things) {
      const line = this.lines.get(key) ?? { slot: null, times_ns: [], values: {} };
      // The newest stand last, so that those unseen for longest are forgotten first.
      this.lines.delete(key);
      this.lines.set(key, Object.assign(line, { name }));
      if (line.slot !== null) continue;
      [line.slot] = free;
      free.delete(line.slot);
    }
    this.shown = [...keys];
    for (const key of this.lines.keys()) {
      if (this.lines.size <= REMEMBERED) break;
      if (!keys.has(key)) this.lines.delete(key);
    }
  }

  /** Adds samples that are newer than what the line has; `values` are arrays by name. */
  add(key, times_ns, values) {
    const line = this.lines.get(key);
    const last = line.times_ns.at(-1) ?? -Infinity;
    const from = times_ns.findIndex((time_ns) => time_ns > last);
    if (from < 0) return;
    const columns = Object.entries(values).map(([name, added]) => [(line.values[name] ??= []), added]);
    for (let at = from; at < times_ns.length; at++) {
      // What says the same as the last two takes the place of the last: a constant line has two points.
      const isSame = columns.every(
        ([kept, added]) => kept.length > 1 && kept.at(-1) === added[at] && kept.at(-2) === added[at],
      );
      if (isSame) line.times_ns[line.times_ns.length - 1] = times_ns[at];
      else {
        line.times_ns.push(times_ns[at]);
        for (const [kept, added] of columns) kept.push(added[at]);
      }
    }
    const over = Math.max(0, line.times_ns.length - POINTS);
    for (const kept of [line.times_ns, ...columns.map(([each]) => each)]) kept.splice(0, over);
  }

  /** The lines that are shown, in their slots' order. */
  *visible() {
    const lines = this.shown.map((key) => ({ key, ...this.lines.get(key) }));
    yield* lines.sort((one, other) => one.slot - other.slot);
  }

  /** Whether any shown line has a value of this name. */
  knows(name) {
    return this.shown.some((key) => this.lines.get(key).values[name]?.some((value) => value !== null));
  }

  start_ns() {
    return Math.min(...this.shown.map((key) => this.lines.get(key).times_ns[0] ?? Infinity));
  }
}

/** Points for a figure of this many columns: of a column's points the least and the most. */
function thinned(times, values, columns) {
  if (times.length <= 2 * columns) return [times, values];
  const kept = [];
  const wide = (times.at(-1) - times[0]) / columns || 1;
  for (let from = 0; from < times.length;) {
    const end = times[from] + wide;
    let [to, low, high] = [from, from, from];
    for (; to < times.length && times[to] < end; to++) {
      // A gap is kept: it compares as neither less nor more.
      if (values[to] < values[low] || values[low] === null) low = to;
      if (values[to] > values[high] || values[high] === null) high = to;
    }
    kept.push(...new Set([low, high].sort((one, other) => one - other)));
    from = Math.max(to, from + 1);
  }
  return [kept.map((at) => times[at]), kept.map((at) => values[at])];
}

/** A figure of one value of a history; `more(unit_ns)` gives traces beside the lines. */
export class LineChart {
  constructor(node, history, value, title, unit, more = () => []) {
    Object.assign(this, { node, history, value, title, unit, more, end_ns: 0 });
    this.chart = new Chart(node, () => this.figure(), INTERVAL_MS);
  }

  figure() {
    const [unit_ns, unit] = timeUnit(this.end_ns);
    const colours = lineColours();
    const start_ns = Math.min(this.history.start_ns(), this.end_ns);
    const columns = Math.max(50, Math.floor(this.node.clientWidth / PIXELS));
    const traces = [...this.history.visible()].map((line) => {
      const [times_ns, y] = thinned(line.times_ns, line.values[this.value] ?? [], columns);
      return {
        x: times_ns.map((time_ns) => time_ns / unit_ns),
        y,
        mode: "lines",
        name: label(line.name),
        line: { color: colours[line.slot], width: 1.7, dash: DASHES[line.slot], shape: "hv" },
        hovertemplate: `%{y}${this.unit} at %{x} ${unit}<extra>%{fullData.name}</extra>`,
      };
    });
    this.node.setAttribute("aria-label", this.words());
    return {
      traces: [...traces, ...this.more(unit_ns, start_ns, this.end_ns)],
      layout: layout({
        showlegend: true,
        hovermode: "closest",
        xaxis: {
          title: { text: `time (${unit})`, standoff: 6 },
          range: [start_ns / unit_ns, Math.max(this.end_ns, start_ns + 1) / unit_ns],
        },
        yaxis: {
          title: { text: this.title, standoff: 8 },
          rangemode: "tozero",
          exponentformat: "SI",
          hoverformat: ".4~s",
        },
        uirevision: unit,
      }),
    };
  }

  /** The figure for people who do not see it: the newest value of each line. */
  words() {
    const values = [...this.history.visible()].map(
      (line) => `${line.name} ${line.values[this.value]?.at(-1) ?? "none"}`,
    );
    return `${this.title} at ${instant(this.end_ns)}: ${values.join("; ") || "nothing yet"}`;
  }

  /** Redraws up to this instant. */
  look(end_ns) {
    this.end_ns = end_ns;
    this.chart.ask();
  }
}
