// The network: links coloured by load, nodes as markers, ports that PFC holds or that dropped since the last look.

import { Chart, layout } from "./chart.js";
import { byId, element, label, say, short } from "./dom.js";
import { count, rate, span } from "./format.js";
import { colour } from "./theme.js";

// Upper ends of the load classes in percent of the line rate; a link without packets is a class of its own.
const CLASSES = [0, 15, 30, 45, 60, 75, 90, 100];
const WIDTHS = [1, 1.4, 1.8, 2.2, 2.6, 3, 3.5, 4];
const NAMES = CLASSES.map((end, at) => (at === 0 ? "idle" : `${CLASSES[at - 1] + 1}–${end} %`));
const INTERVAL_MS = 300;
// A path must not be empty: this one has no length.
const NOTHING = "M0,0L0,0";
const SQUARE = [
  [-1, -1],
  [1, -1],
  [1, 1],
  [-1, 1],
];
const TRIANGLE = [
  [0, -1],
  [1.1, 0.8],
  [-1.1, 0.8],
];
const OCTAGON = [...Array(8).keys()].map((corner) => [
  Math.cos((corner * Math.PI) / 4),
  Math.sin((corner * Math.PI) / 4),
]);
// Spaces that keep a name off its switch.
const BESIDE = "\u2003";
const GLYPH_PX = 5;
const NAME_CHARACTERS = 14;
const HOST_NAMES_UP_TO = 20;
const SWITCH_NAMES_UP_TO = 60;
// How far the rest of the figure stands from its edges, in pixels.
const MARGIN = { l: 18, r: 18, t: 12, b: 12 };

// A place in a path; shorter numbers are read faster.
const at = (x, y) => `${x.toFixed(5)},${y.toFixed(4)}`;
const classOf = (load) => CLASSES.findIndex((end) => load <= end);

export class Topology {
  /** Draws `network` in `node`; `onSwitch(name)` when one is clicked. */
  constructor(node, readout, network, onSwitch) {
    Object.assign(this, { node, readout, network, onSwitch });
    this.load = new Array(2 * network.links.length).fill(0);
    this.depth = [];
    this.drops = new Map();
    this.knowsDrops = false;
    this.dropped = [];
    this.paused = [];
    this.selected = null;
    this.hovered = null;
    this.drawn = "";
    this.levels = Math.max(1, ...network.nodes.map((each) => each.y));
    this.legend();
    this.chart = new Chart(
      node,
      () => this.figure(),
      INTERVAL_MS,
      () => this.redraw(),
    );
    node.on("plotly_hover", (event) => this.hover(event.points[0]));
    node.on("plotly_unhover", () => (this.hovered = null));
    node.on("plotly_click", (event) => {
      const name = event.points[0].customdata?.node;
      if (network.node.get(name)?.kind === "switch") onSwitch(name);
    });
  }

  look(look) {
    this.load = look.load ?? this.load;
    this.depth = look.depth_pkts ?? [];
    this.paused = look.paused ?? [];
    const drops = new Map(look.drops ?? []);
    this.dropped = [...drops.keys()].filter((port) => drops.get(port) > (this.drops.get(port) ?? 0));
    this.drops = drops;
    this.knowsDrops = Boolean(look.drops);
    this.chart.ask();
    if (this.hovered) this.describe();
  }

  select(name) {
    this.selected = name;
    this.chart.draw();
  }

  legend() {
    const links = NAMES.map((text, at) =>
      element("li", { class: "link", style: `--mark: var(--load-${at}); --high: ${WIDTHS[at]}px`, text }),
    );
    const bad = "--mark: var(--bad)";
    const held = element("li", { class: "glyph", "data-glyph": "■", style: bad, text: "held by PFC" });
    const dropped = element("li", {
      class: "glyph",
      "data-glyph": "▼",
      style: "--mark: var(--warn)",
      text: "dropped now",
    });
    byId("topology-legend").replaceChildren(...links, held, dropped);
  }

  /** Pixels of one unit of x and of y. */
  pixels() {
    const wide = Math.max(1, this.node.clientWidth - MARGIN.l - MARGIN.r);
    const high = Math.max(1, this.node.clientHeight - MARGIN.t - MARGIN.b);
    return [wide, high / (this.levels + 0.5)];
  }

  /** Where a link's way runs in the figure's units: beside its other way by pixels. */
  way(link, way) {
    const [from, to] = this.network.ends(link, way).map((name) => this.network.node.get(name));
    const [wide, high] = this.pixels();
    const dx = (to.x - from.x) * wide;
    const dy = (to.y - from.y) * high;
    const length = Math.hypot(dx, dy) || 1;
    const beside = this.network.links.length > 150 ? 1.1 : 2.6;
    const ox = (-dy / length) * (beside / wide);
    const oy = (dx / length) * (beside / high);
    return [from.x + ox, from.y + oy, to.x + ox, to.y + oy];
  }

  /** One path for each load class: all lines of it at once. */
  paths() {
    const paths = CLASSES.map(() => []);
    this.ways.forEach(([x0, y0, x1, y1], way) => {
      paths[classOf(this.load[way] ?? 0)].push(`M${at(x0, y0)}L${at(x1, y1)}`);
    });
    return paths.map((path) => path.join("") || NOTHING);
  }

  /** A path with a glyph at each place; corners are in units of `size_px`. */
  glyphs(places, corners, size_px) {
    const [wide, high] = this.pixels();
    const one = ([x, y]) =>
      corners.map(([dx, dy]) => at(x + (dx * size_px) / wide, y + (dy * size_px) / high)).join("L");
    return places.map((place) => `M${one(place)}Z`).join("") || NOTHING;
  }

  /** Ports that are paused, and those that dropped. */
  ports() {
    const places = (ports) => ports.map((port) => this.portPlace(port));
    return [this.glyphs(places(this.paused), SQUARE, GLYPH_PX), this.glyphs(places(this.dropped), TRIANGLE, GLYPH_PX)];
  }

  portPlace(number) {
    const { link, way } = this.network.ports[number];
    const [x0, y0, x1, y1] = this.ways[2 * link + way];
    return [x0 + 0.22 * (x1 - x0), y0 + 0.22 * (y1 - y0)];
  }

  signature() {
    return JSON.stringify([this.load.map(classOf), this.paused, this.dropped]);
  }

  redraw() {
    if (this.signature() === this.drawn || this.node.clientWidth === 0) return;
    const paths = [...this.paths(), ...this.ports()];
    window.Plotly.relayout(this.node, Object.fromEntries(paths.map((path, shape) => [`shapes[${shape}].path`, path])));
    this.drawn = this.signature();
  }

  /** Links as shapes, one for each load class, and ports: traces would cost an element for each line. */
  shapes() {
    const thin = this.network.links.length > 150 ? 0.55 : 1;
    const links = this.paths().map((path, at) => ({
      type: "path",
      path,
      layer: "below",
      line: { color: colour(`load-${at}`), width: WIDTHS[at] * thin },
    }));
    const filled = (path, fill, line) => ({
      type: "path",
      path,
      layer: "above",
      fillcolor: colour(fill),
      line: { color: colour(line), width: 1.2 },
    });
    const [held, dropped] = this.ports();
    const places = (nodes) => nodes.map((node) => [node.x, node.y]);
    const of = (kind) => this.network.nodes.filter((node) => node.kind === kind);
    const [hosts, switches] = [of("host"), of("switch")];
    const size_px = switches.length > 20 ? 5.5 : 8.5;
    return [
      ...links,
      filled(held, "bad", "card"),
      filled(dropped, "warn", "card"),
      filled(this.glyphs(places(hosts), OCTAGON, hosts.length > 60 ? 2.5 : 5), "muted", "card"),
      filled(this.glyphs(places(switches), SQUARE, size_px), "accent", "card"),
      filled(
        this.glyphs(places(switches.filter((node) => node.name === this.selected)), SQUARE, size_px + 2),
        "accent",
        "text",
      ),
    ];
  }

  /** Nodes are found by the pointer and named by this trace; they are drawn as shapes. */
  nodes(kind) {
    const all = this.network.nodes.filter((node) => node.kind === kind);
    const isHost = kind === "host";
    const isNamed = all.length <= (isHost ? HOST_NAMES_UP_TO : SWITCH_NAMES_UP_TO);
    const isBeside = !isHost && all.length <= 20;
    return {
      x: all.map((node) => node.x),
      // A host's name is below its glyph.
      y: all.map((node) => node.y - (isHost ? 8 / this.pixels()[1] : 0)),
      mode: isNamed ? "text" : "none",
      text: all.map((node) => `${isBeside ? BESIDE : ""}${label(short(node.name, NAME_CHARACTERS))}`),
      textposition: isHost ? "bottom center" : isBeside ? "middle right" : "top center",
      textfont: { size: all.length > 20 ? 9 : 11, color: colour("text") },
      hovertext: all.map((node) => label(node.name)),
      hovertemplate: isHost
        ? "%{hovertext}<extra>host</extra>"
        : "%{hovertext}<extra>switch: click to look inside</extra>",
      customdata: all.map((node) => ({ node: node.name })),
      cliponaxis: false,
    };
  }

  /** Points to hover at, one for each way of a link. */
  middles() {
    const text = this.ways.map((_, at) => {
      const link = this.network.links[at >> 1];
      const [from, to] = this.network.ends(at >> 1, at & 1);
      return `${label(from)} → ${label(to)}<br>${rate(link.rate_bps)}, ${span(link.delay_ns)}`;
    });
    return {
      // Not at the middle itself: there both ways would lie under one another.
      x: this.ways.map(([x0, , x1]) => x0 + 0.4 * (x1 - x0)),
      y: this.ways.map(([, y0, , y1]) => y0 + 0.4 * (y1 - y0)),
      // Nothing is drawn: the pointer finds points all the same.
      mode: "none",
      hovertemplate: "%{text}<extra></extra>",
      text,
      customdata: this.ways.map((_, way) => ({ way })),
    };
  }

  figure() {
    this.ways = this.network.links.flatMap((_, link) => [this.way(link, 0), this.way(link, 1)]);
    this.drawn = this.signature();
    const traces = [this.middles(), this.nodes("host"), this.nodes("switch")];
    const hidden = { visible: false };
    return {
      traces,
      layout: layout({
        shapes: this.shapes(),
        xaxis: { ...hidden, range: [0, 1] },
        yaxis: { ...hidden, range: [-0.25, this.levels + 0.25] },
        margin: MARGIN,
        hovermode: "closest",
        hoverdistance: 12,
        showlegend: false,
      }),
    };
  }

  hover(point) {
    this.hovered = point.customdata ?? null;
    this.describe();
  }

  /** What is known now of what the pointer is at. */
  describe() {
    if (!this.hovered) return;
    const { way, node } = this.hovered;
    if (way === undefined) {
      const own = this.network.ports.flatMap((port, number) => (port.switch === node ? [number] : []));
      const isKnown = own.every((port) => (this.depth[port] ?? null) !== null);
      const waiting = isKnown ? own.reduce((sum, port) => sum + this.depth[port], 0) : null;
      say(this.readout, own.length ? `${node}: ${own.length} ports, ${count(waiting)} packets wait` : `${node}: host`);
      return;
    }
    const [from, to] = this.network.ends(way >> 1, way & 1);
    say(this.readout, `${from} → ${to}: ${this.load[way] ?? "–"} % of ${rate(this.rate(way))}${this.queue(way)}`);
  }

  /** Drops of a port; null where they are not known. */
  dropsOf(port) {
    return this.knowsDrops ? (this.drops.get(port) ?? 0) : null;
  }

  rate(way) {
    return this.network.links[way >> 1].rate_bps;
  }

  queue(way) {
    const number = this.network.sender.get(way);
    if (number === undefined) return "";
    const { k_pkts, k_dc_pkts, port } = this.network.ports[number];
    const limits = [k_pkts !== null && `K ${k_pkts}`, k_dc_pkts !== null && `K_dc ${k_dc_pkts}`].filter(Boolean);
    const parts = [
      `port ${port}`,
      `${count(this.depth[number])} packets wait`,
      ...limits,
      `${count(this.dropsOf(number))} drops`,
    ];
    if (this.paused.includes(number)) parts.push("held by PFC");
    return `; ${parts.join(", ")}`;
  }

  /** Rows of the table of links: one for each way. */
  rows() {
    return this.ways.map((_, at) => {
      const [from, to] = this.network.ends(at >> 1, at & 1);
      const port = this.network.sender.get(at);
      const known = port !== undefined;
      return {
        id: String(at),
        from,
        to,
        rate_bps: this.network.links[at >> 1].rate_bps,
        load: this.load[at] ?? null,
        drops: known ? this.dropsOf(port) : null,
        paused: known && this.paused.includes(port) ? "held" : "",
      };
    });
  }
}

export const LINK_COLUMNS = [
  { name: "from", title: "from" },
  { name: "to", title: "to" },
  { name: "rate_bps", title: "rate (bit/s)", isNumber: true },
  { name: "load", title: "load (%)", isNumber: true },
  { name: "drops", title: "drops", isNumber: true },
  { name: "paused", title: "PFC" },
];
