// Waiting packets of all ports now: the deepest as bars against K and K_dc.

import { Chart, layout } from "./chart.js";
import { byId, label, say, short } from "./dom.js";
import { colour } from "./theme.js";

const ROWS = 40;
const CHARACTER_PX = 6.4;
const ROW_PX = 17;
const INTERVAL_MS = 500;
// Bars change places only this often, so that the eye can follow one.
const ORDER_MS = 1000;
const NAME_CHARACTERS = 24;
export const UNKNOWN = "What waits is not known: these switches do not tell.";
// Colours of the style sheet: below K, K and above, K_dc and above. The figure's legend names them.
const CLASSES = ["depth-low", "depth-k", "depth-k-dc"];

export class Depths {
  /** `onSwitch(name)` when a bar is clicked. */
  constructor(node, network, onSwitch) {
    Object.assign(this, { node, network });
    this.depth = network.ports.map(() => null);
    this.drops = new Map();
    this.knowsDrops = false;
    this.paused = new Set();
    this.ordered_ms = -Infinity;
    this.isMoving = false;
    this.order = [];
    this.chart = new Chart(node, () => this.figure(), INTERVAL_MS);
    node.on("plotly_click", (event) => onSwitch(network.ports[event.points[0].customdata].switch));
  }

  look(look) {
    this.isMoving = look.state === "running";
    this.depth = look.depth_pkts ?? this.network.ports.map(() => null);
    // Where nothing is known, nothing is said: a zero would be an answer.
    this.knowsDrops = Boolean(look.drops);
    this.drops = new Map(look.drops ?? []);
    this.paused = new Set(look.paused ?? []);
    this.chart.ask();
  }

  sort() {
    const now_ms = performance.now();
    if (this.isMoving && now_ms - this.ordered_ms < ORDER_MS) return;
    this.ordered_ms = now_ms;
    const fit = Math.floor((this.node.clientHeight - 50) / ROW_PX);
    this.rows = Math.max(1, Math.min(ROWS, this.network.ports.length, fit));
    const isKnown = this.depth.some((depth) => depth !== null);
    say(byId("depths-note"), isKnown ? `${this.rows} of ${this.network.ports.length} ports` : UNKNOWN);
    const all = [...this.depth.keys()];
    all.sort((one, other) => (this.depth[other] ?? -1) - (this.depth[one] ?? -1) || one - other);
    this.order = all.slice(0, this.rows);
  }

  classOf(number) {
    const { k_pkts, k_dc_pkts } = this.network.ports[number];
    const depth = this.depth[number] ?? 0;
    if (k_dc_pkts !== null && depth >= k_dc_pkts) return 2;
    return k_pkts !== null && depth >= k_pkts ? 1 : 0;
  }

  bars() {
    const colours = CLASSES.map((name) => colour(name));
    return {
      type: "bar",
      orientation: "h",
      x: this.order.map((number) => this.depth[number]),
      y: [...this.order.keys()],
      customdata: this.order,
      text: this.order.map((number) => label(this.network.portNames[number])),
      textposition: "none",
      hovertemplate: "%{text}: %{x} packets<extra></extra>",
      marker: { color: this.order.map((number) => colours[this.classOf(number)]) },
    };
  }

  limits(name, field, marker) {
    const own = [...this.order.entries()].filter(([, number]) => this.network.ports[number][field] !== null);
    return {
      mode: "markers",
      x: own.map(([, number]) => this.network.ports[number][field]),
      y: own.map(([row]) => row),
      customdata: own.map(([, number]) => number),
      hovertemplate: `${name} = %{x}<extra></extra>`,
      marker: { color: colour("text"), ...marker },
    };
  }

  figure() {
    this.sort();
    const names = this.order.map((number) => short(this.network.portNames[number], NAME_CHARACTERS));
    const widest = Math.max(...names.map((name) => name.length));
    return {
      traces: [
        this.bars(),
        this.limits("K", "k_pkts", { symbol: "line-ns", size: 12, line: { width: 2, color: colour("text") } }),
        this.limits("K_dc", "k_dc_pkts", { symbol: "diamond", size: 6 }),
      ],
      layout: layout({
        showlegend: false,
        bargap: 0.25,
        hovermode: "closest",
        margin: { l: 14 + CHARACTER_PX * widest, r: 12, t: 8, b: 40 },
        xaxis: { title: { text: "waiting packets", standoff: 6 }, rangemode: "tozero" },
        yaxis: {
          range: [this.rows - 0.5, -0.5],
          tickvals: [...this.order.keys()],
          ticktext: names.map(label),
          tickfont: { size: 11 },
          fixedrange: true,
          showgrid: false,
          zeroline: false,
        },
      }),
    };
  }

  /** Rows of the table of all ports. */
  tableRows() {
    return this.network.ports.map((port, number) => ({
      id: String(number),
      switch: port.switch,
      port: port.port,
      peer: port.peer,
      depth: this.depth[number],
      k: port.k_pkts,
      k_dc: port.k_dc_pkts,
      drops: this.knowsDrops ? (this.drops.get(number) ?? 0) : null,
      paused: this.paused.has(number) ? "held" : "",
      name: this.network.portNames[number],
    }));
  }
}

export const PORT_COLUMNS = [
  { name: "switch", title: "switch" },
  { name: "port", title: "port", isNumber: true },
  { name: "peer", title: "to" },
  { name: "depth", title: "waiting (packets)", isNumber: true },
  { name: "k", title: "K", isNumber: true },
  { name: "k_dc", title: "K_dc", isNumber: true },
  { name: "drops", title: "drops", isNumber: true },
  { name: "paused", title: "PFC" },
];
