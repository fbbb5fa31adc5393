// Control of virtual time: run, pause, step, speed, jump; by buttons and by keys.

import { post } from "./api.js";
import { byId, complain, element, say, tell } from "./dom.js";
import { instant, span } from "./format.js";

// Virtual nanoseconds in a second of real time.
const SPEEDS_NS = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const JUMP_KEYS = { d: "drop", m: "mark", p: "pause" };
const CHORD_MS = 2000;
const KEYS_PLACE = "p4cc-live-keys";
const WORDS = { running: "running", paused: "paused", ended: "ended", failed: "failed" };

export class Controls {
  constructor(network) {
    this.network = network;
    this.can = network.can;
    this.state = null;
    this.isConnected = true;
    this.chord_ms = -Infinity;
    const speed = byId("speed");
    for (const ns of SPEEDS_NS)
      speed.append(
        element("option", { value: String(ns / 1e9), text: ns === 1e9 ? "real time" : `${span(ns)} a second` }),
      );
    speed.append(element("option", { value: "max", text: "as fast as it goes" }));
    byId("run").addEventListener("click", () => this.toggle());
    byId("step").addEventListener("click", () => this.step());
    speed.addEventListener("change", () =>
      this.send({ do: "speed", speed: speed.value === "max" ? null : Number(speed.value) }),
    );
    byId("finish").addEventListener("click", () => this.send({ do: "finish" }));
    for (const button of document.querySelectorAll("[data-jump]")) {
      button.addEventListener("click", () => this.jump(button.dataset.jump));
    }
    const keys = byId("keys-on");
    keys.checked = localStorage.getItem(KEYS_PLACE) !== "off";
    keys.addEventListener("change", () => localStorage.setItem(KEYS_PLACE, keys.checked ? "on" : "off"));
    byId("help-open").addEventListener("click", () => byId("help").showModal());
    document.addEventListener("keydown", (event) => this.key(event));
    this.show();
  }

  /** What this kind of run can do is shown; the rest is left out, and said. */
  show() {
    const over = !this.isConnected || this.state === "ended" || this.state === "failed";
    byId("run").hidden = !this.can.pause;
    byId("step-group").hidden = !this.can.step;
    byId("speed-group").hidden = !this.can.speed;
    byId("finish").hidden = !this.can.finish;
    // The command waits at the run's end for those who look: finishing lets it go.
    byId("finish").disabled = !this.isConnected;
    byId("jump-group").hidden = this.can.jump.length === 0;
    for (const button of document.querySelectorAll("[data-jump]")) {
      button.hidden = !this.can.jump.includes(button.dataset.jump);
      button.disabled = over;
    }
    for (const id of ["run", "step", "span", "span-unit", "speed"]) byId(id).disabled = over;
    const note = byId("control-note");
    note.hidden = this.can.pause;
    say(
      note,
      this.network.kind === "lab" ? "A lab runs in real time: it cannot be paused." : "This run cannot be paused.",
    );
    say(byId("run"), this.state === "running" ? "Pause" : "Run");
  }

  connection(isConnected) {
    this.isConnected = isConnected;
    this.show();
  }

  look(look) {
    say(byId("time"), instant(look.time_ns));
    const stop_ns = this.network.stop_ns;
    say(byId("of"), stop_ns === null ? "" : `of ${instant(stop_ns)}`);
    byId("progress").hidden = stop_ns === null;
    if (stop_ns !== null) byId("progress").value = Math.min(1, look.time_ns / stop_ns);
    this.setSpeed(look.speed);
    say(byId("why"), this.about(look));
    if (look.state === this.state) return;
    this.state = look.state;
    this.badge(WORDS[look.state] ?? look.state, look.state);
    tell(`${WORDS[look.state] ?? look.state} at ${instant(look.time_ns)}${look.why ? `: ${look.why}` : ""}`);
    this.show();
  }

  /** Why time stands still, or how fast it passes. */
  about({ state, why, reached_speed }) {
    if (state === "paused") return why ?? "";
    return state === "running" && reached_speed !== null ? `passes at ${span(reached_speed * 1e9)} a second` : "";
  }

  badge(text, state) {
    const badge = byId("state");
    say(badge, text);
    badge.dataset.state = state;
  }

  setSpeed(speed) {
    const select = byId("speed");
    if (document.activeElement === select) return;
    const value = speed === null ? "max" : String(speed);
    if (![...select.options].some((option) => option.value === value)) {
      select.append(element("option", { value, text: `${span(speed * 1e9)} a second` }));
    }
    select.value = value;
  }

  async send(request) {
    try {
      await post("/api/control", request);
    } catch (error) {
      complain(error);
    }
  }

  toggle() {
    return this.send({ do: this.state === "running" ? "pause" : "run" });
  }

  step() {
    const span_ns = Math.round(Number(byId("span").value) * Number(byId("span-unit").value));
    if (!(span_ns >= 1))
      return complain({ cause: "a step is at least 1 ns long", place: "Step", remedy: "give a positive number" });
    return this.send({ do: "step", span_ns });
  }

  jump(to) {
    return this.send({ do: "jump", to });
  }

  /** Keys without Ctrl or Alt, where nothing else takes them. */
  key(event) {
    const inField = event.target.closest?.("input, select, textarea, dialog, [contenteditable]");
    if (inField || event.ctrlKey || event.altKey || event.metaKey || !byId("keys-on").checked) return;
    const isButton = event.target.closest?.("button, summary, a, .dt-paging-button, th");
    const over = byId("run").disabled;
    if (event.key === " " && !isButton && this.can.pause && !over) this.toggle();
    else if (event.key === "?") byId("help").showModal();
    else if (event.key === "s" && this.can.step && !over) this.step();
    else if (event.key === "j") this.chord_ms = event.timeStamp;
    else if (JUMP_KEYS[event.key] && event.timeStamp - this.chord_ms < CHORD_MS) {
      this.chord_ms = -Infinity;
      if (!over && this.can.jump.includes(JUMP_KEYS[event.key])) this.jump(JUMP_KEYS[event.key]);
    } else return;
    event.preventDefault();
  }
}
