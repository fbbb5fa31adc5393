// What was done in this page: the list, and the scenario that repeats it.

import { get } from "./api.js";
import { byId, complain, element, say } from "./dom.js";
import { instant } from "./format.js";

export class Changes {
  constructor() {
    this.shown = null;
    this.address = null;
  }

  async read() {
    try {
      this.show(await get("/api/changes"));
    } catch (error) {
      complain(error);
    }
  }

  show(told) {
    const same = JSON.stringify(told);
    if (same === this.shown) return;
    this.shown = same;
    const { changes, scenario, file } = told;
    say(byId("changes-file"), file && changes.length ? `Written to ${file}` : "");
    const body = byId("changes-body");
    if (changes.length === 0) {
      body.replaceChildren(
        element("p", {
          class: "muted",
          text: "None yet. Changes of thresholds and table entries are written down as a scenario that repeats them.",
        }),
      );
      return;
    }
    const list = changes.map(({ at_ns, switch: name, what }) =>
      element("li", {}, element("strong", { text: `${instant(at_ns)} · ${name}` }), ` ${what}`),
    );
    body.replaceChildren(element("ol", { class: "changes" }, ...list));
    if (scenario) body.append(this.scenario(scenario, file));
  }

  scenario(text, file) {
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
    const name = (file ?? "scenario.yaml").split("/").at(-1);
    const copied = element("span", { class: "muted", role: "status" });
    const copy = async () => {
      try {
        await navigator.clipboard.writeText(text);
        copied.textContent = "copied";
      } catch {
        copied.textContent = "the browser does not allow it: select the text below";
      }
    };
    return element(
      "details",
      { open: true },
      element("summary", { text: "The scenario that repeats this run" }),
      element(
        "div",
        { class: "actions" },
        element("a", { href: this.address, download: name, text: `Save ${name}` }),
        element("button", { type: "button", class: "small", text: "Copy", on: { click: copy } }),
        copied,
      ),
      element("pre", {
        class: "code",
        tabindex: "0",
        role: "region",
        "aria-label": "Scenario that repeats this run",
        text,
      }),
    );
  }
}
