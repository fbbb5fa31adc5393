// Queues of watched ports over virtual time, against the K and K_dc that held at each instant.

import { UNKNOWN } from "./depths.js";
import { byId, say } from "./dom.js";
import { History, LineChart } from "./history.js";
import { colour } from "./theme.js";

export class Queues {
  constructor(node, network) {
    Object.assign(this, { node, network });
    this.history = new History();
    this.chart = new LineChart(node, this.history, "depth", "waiting packets", " packets", (...span) =>
      this.limits(...span),
    );
  }

  look(look, isFirst) {
    const ports = look.watched?.ports ?? null;
    if (isFirst) this.history.clear();
    if (ports && ports.length > 0) {
      this.history.show(ports.map(({ port }) => ({ key: port, name: this.network.portNames[port] })));
      for (const { port, times_ns, depth_pkts } of ports) this.history.add(port, times_ns, { depth: depth_pkts });
    }
    const names = this.history.shown.map((port) => this.network.portNames[port]);
    const none = look.depth_pkts ? "No port is watched yet." : UNKNOWN;
    say(byId("ports-watched"), names.length ? `${names.length} watched` : none);
    byId("ports-choose").hidden = !look.depth_pkts && names.length === 0;
    this.chart.look(look.time_ns);
  }

  /** Thresholds of the ports shown; those with the same history share a line. */
  limits(unit_ns, start_ns, end_ns) {
    const groups = new Map();
    for (const port of this.history.shown) {
      const steps = this.network.thresholds[port];
      const same = JSON.stringify(steps);
      groups.set(same, { steps, ports: [...(groups.get(same)?.ports ?? []), port] });
    }
    const several = groups.size > 1;
    return [...groups.values()].flatMap(({ steps, ports }) =>
      [
        ["K", 1, "dash"],
        ["K_dc", 2, "dot"],
      ].flatMap(([name, at, dash]) => {
        if (steps.every((step) => step[at] === null)) return [];
        const times = [...steps.map(([time_ns]) => Math.max(time_ns, start_ns)), end_ns];
        const values = [...steps.map((step) => step[at]), steps.at(-1)[at]];
        const of = several ? ` (${ports.length} port${ports.length > 1 ? "s" : ""})` : "";
        return {
          x: times.map((time_ns) => time_ns / unit_ns),
          y: values,
          mode: "lines",
          name: `${name} = ${steps.at(-1)[at] ?? "none"}${of}`,
          line: { color: colour("muted"), width: 1.6, dash, shape: "hv" },
          hovertemplate: `${name} = %{y}<extra></extra>`,
        };
      }),
    );
  }
}
