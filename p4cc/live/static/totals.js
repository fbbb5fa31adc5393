// Totals of the run, each with how fast it grows in virtual time.

import { byId, element, say } from "./dom.js";
import { count, large } from "./format.js";

// Rates are those of the looks within this span of real time.
const OVER_MS = 1500;

const GROWING = [
  ["marks_level1", "Marks, level 1"],
  ["marks_level2", "Marks, level 2"],
  ["drops", "Drops"],
  ["pauses", "PFC pauses"],
  ["digests", "Digests"],
];

export class Totals {
  constructor() {
    this.past = [];
    this.fields = new Map();
    const tiles = [...GROWING, ["flows", "Flows"], ["hops", "Packet hops"]].map(([key, title]) => {
      const [value, rate] = [element("dd", { text: "–" }), element("dd", { text: "" })];
      this.fields.set(key, [value, rate]);
      return element("div", { "data-total": key }, element("dt", { text: title }), value, rate);
    });
    byId("totals").replaceChildren(...tiles);
  }

  look(look) {
    const now_ms = performance.now();
    this.past.push({ now_ms, time_ns: look.time_ns, totals: look.totals });
    while (this.past.length > 2 && now_ms - this.past[0].now_ms > OVER_MS) this.past.shift();
    const since = this.past[0];
    const passed_ms = (look.time_ns - since.time_ns) / 1e6;
    for (const [key] of GROWING) {
      const now = look.totals[key];
      const grown = passed_ms > 0 && now !== null ? (now - since.totals[key]) / passed_ms : null;
      this.set(key, count(now), grown === null ? "" : `${large(grown)} per ms`);
      // What this kind of run does not count is left out: a zero would be an answer.
      this.fields.get(key)[0].parentElement.hidden = now === null;
    }
    const { flows } = look;
    if (!flows) this.set("flows", "not known", "in a lab");
    else {
      const timeouts = flows.timeouts ? `, ${count(flows.timeouts)} timeouts` : "";
      this.set(
        "flows",
        `${count(flows.active)} active`,
        `${count(flows.completed)} of ${count(flows.finite)} complete${timeouts}`,
      );
    }
    const hops = look.hops_per_s === null ? "" : `${large(look.hops_per_s)} per second`;
    this.set("hops", large(look.packet_hops), hops);
  }

  set(key, value, rate) {
    const [first, second] = this.fields.get(key);
    say(first, value);
    say(second, rate);
  }
}
