// Windows and rates of watched flows over virtual time.

import { byId, say } from "./dom.js";
import { History, LineChart } from "./history.js";

/** A flow as people call it. */
export function flowName({ flow_id, src, dst, label }) {
  return `${flow_id}: ${src} → ${dst}${label ? ` (${label})` : ""}`;
}

export class Flows {
  constructor(network) {
    this.isLab = network.kind === "lab";
    this.history = new History();
    this.windows = new LineChart(byId("windows"), this.history, "cwnd", "cwnd (segments)", " segments");
    this.rates = new LineChart(byId("rates"), this.history, "rate", "rate (bit/s)", "bit/s");
  }

  look(look, isFirst) {
    const flows = look.watched?.flows ?? null;
    if (isFirst) this.history.clear();
    if (flows && flows.length > 0) {
      this.history.show(
        flows.map((flow) => ({ key: flow.flow_id, name: flowName(flow) + (flow.done ? ", complete" : "") })),
      );
      for (const flow of flows) {
        this.history.add(flow.flow_id, flow.times_ns, { cwnd: flow.cwnd_segments, rate: flow.rate_bps });
      }
    }
    this.words();
    this.windows.look(look.time_ns);
    this.rates.look(look.time_ns);
  }

  /** What the flows that are shown do not have. */
  about() {
    const [windows, rates] = ["cwnd", "rate"].map((value) => this.history.knows(value));
    if (windows === rates) return windows ? "" : "; nothing is known of them yet";
    return windows ? "; they send by window, so that no rate is set" : "; they send by rate, without a window";
  }

  /** Says why a figure is not there, in place of drawing zeros. */
  words() {
    const none = this.history.shown.length === 0;
    const note = byId("flows-note");
    note.hidden = !none;
    say(note, this.isLab ? "Windows and rates of flows are not known in a lab." : "No flow is active.");
    say(byId("flows-watched"), none ? "" : `${this.history.shown.length} watched${this.about()}`);
    byId("flows-choose").hidden = this.isLab && none;
    byId("flows-card").querySelector(".halves").hidden = none;
    for (const [name, value] of [
      ["windows", "cwnd"],
      ["rates", "rate"],
    ]) {
      byId(`${name}-part`).hidden = !this.history.knows(value);
    }
  }
}
