// Waiting packets of all ports now: the deepest as bars against K and K_dc.

import { Chart, layout } from "./chart.js";
import { byId, label, say } from "./dom.js";
import { throttled } from "./frames.js";
import { colour, depthColours } from "./theme.js";

const ROWS = 40;
const ROW_PX = 17;
const INTERVAL_MS = 250;
// Bars change places only this often, so that the eye can follow one.
const ORDER_MS = 1000;
const NAMES = ["below K", "from K on", "from K_dc on"];
const PATTERNS = ["", "/", "x"];

export class Depths {
  /** `onSwitch(name)` when a bar is clicked. */
  constructor(node, network, onSwitch) {
    Object.assign(this, { node, network });
    this.depth = network.ports.map(() => null);
    this.drops = new Map();
    this.paused = new Set();
    this.ordered_ms = -Infinity;
    this.order = [];
    const rows = Math.min(ROWS, network.ports.length, Math.floor((node.clientHeight - 70) / ROW_PX));
    this.rows = Math.max(1, rows);
    say(byId("depths-note"), `Waiting packets against K and K_dc: ${this.rows} of ${network.ports.length} ports, the deepest first.`);
    this.chart = new Chart(node, () => this.figure());
    this.chart.draw();
    this.ask = throttled(() => this.chart.draw(), INTERVAL_MS);
    node.on("plotly_click", (event) => onSwitch(network.ports[event.points[0].customdata].switch));
  }

  look(look) {
    if (look.depth_pkts) this.depth = look.depth_pkts;
    this.drops = new Map(look.drops ?? []);
    this.paused = new Set(look.paused ?? []);
    this.ask();
  }

  sort() {
    const now_ms = performance.now();
    if (this.order.length > 0 && now_ms - this.ordered_ms < ORDER_MS) return;
    this.ordered_ms = now_ms;
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
    const colours = depthColours();
    return NAMES.map((name, which) => {
      const own = this.order.map((number, row) => [number, row]).filter(([number]) => this.classOf(number) === which);
      return {
        type: "bar",
        orientation: "h",
        name,
        x: own.length ? own.map(([number]) => this.depth[number]) : [null],
        y: own.length ? own.map(([, row]) => row) : [0],
        customdata: own.map(([number]) => number),
        text: own.map(([number]) => label(this.network.portNames[number])),
        textposition: "none",
        hovertemplate: "%{text}: %{x} packets<extra></extra>",
        marker: { color: colours[which], pattern: { shape: PATTERNS[which], size: 5, solidity: 0.25, fgcolor: colour("card") } },
      };
    });
  }

  limits(name, field, symbol) {
    const own = this.order.map((number, row) => [number, row]).filter(([number]) => this.network.ports[number][field] !== null);
    return {
      mode: "markers",
      name,
      x: own.length ? own.map(([number]) => this.network.ports[number][field]) : [null],
      y: own.length ? own.map(([, row]) => row) : [0],
      customdata: own.map(([number]) => number),
      hovertemplate: `${name} = %{x}<extra></extra>`,
      marker: { symbol, size: 11, color: colour("text"), line: { width: 2, color: colour("text") } },
    };
  }

  figure() {
    this.sort();
    return {
      traces: [...this.bars(), this.limits("K", "k_pkts", "line-ns-open"), this.limits("K_dc", "k_dc_pkts", "diamond-tall-open")],
      layout: layout({
        barmode: "overlay",
        bargap: 0.25,
        hovermode: "closest",
        margin: { l: 60, r: 12, t: 8, b: 36 },
        xaxis: { title: { text: "waiting packets", standoff: 6 }, rangemode: "tozero" },
        yaxis: {
          range: [this.rows - 0.5, -0.5],
          tickvals: [...this.order.keys()],
          ticktext: this.order.map((number) => label(this.network.portNames[number])),
          tickfont: { size: 11 },
          fixedrange: true,
          showgrid: false,
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
      drops: this.drops.get(number) ?? 0,
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
