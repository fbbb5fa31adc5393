// Inside a switch: thresholds of its ports, tables with hit counters, registers, counters, what its next packets meet.

import { get, post } from "./api.js";
import { PORT_COLUMNS } from "./depths.js";
import { byId, complain, element, say } from "./dom.js";
import { editEntry, editThresholds } from "./edit.js";
import { count, instant } from "./format.js";
import { Table } from "./tables.js";

const AGAIN_MS = 2000;
const PACKETS = [1, 3, 10];

const UNITS = { both: "packets and bytes" };

/** An entry's action with its parameters. */
function described({ action, params, is_const }) {
  const given = Object.entries(params)
    .map(([param, text]) => `${param} = ${text}`)
    .join(", ");
  return `${action}${given ? `(${given})` : ""}${is_const ? ", const in the program" : ""}`;
}

export class SwitchPanel {
  /** `depths` knows the ports; `onSelect(name)` when another switch is shown; `onChange(written)` after a change. */
  constructor(network, depths, { onSelect, onChange }) {
    Object.assign(this, { network, depths, onSelect, onChange });
    this.name = null;
    this.told = null;
    this.parts = new Map();
    this.isReading = false;
    this.isGone = false;
    const select = byId("switch");
    select.append(
      element("option", { value: "", text: "choose …" }),
      ...network.switches.map((name) => element("option", { value: name, text: name })),
    );
    select.addEventListener("change", () => this.select(select.value || null));
    byId("switch-read").addEventListener("click", () => this.read());
    setInterval(() => {
      const isOpen = document.querySelector("dialog[open]") !== null;
      if (byId("switch-follow").checked && !document.hidden && !isOpen && !this.isGone) this.read();
    }, AGAIN_MS);
  }

  /** Shows a switch; `scroll` brings the panel into view. */
  async select(name, scroll = false) {
    this.name = name;
    byId("switch").value = name ?? "";
    this.parts.clear();
    this.told = null;
    byId("switch-body").replaceChildren();
    this.onSelect(name);
    if (name === null) return say(byId("switch-note"), "");
    say(byId("switch-note"), "reading …");
    await this.read();
    if (scroll) byId("switch-card").scrollIntoView({ block: "start", behavior: "instant" });
  }

  async read() {
    const { name } = this;
    if (name === null || this.isReading) return;
    this.isReading = true;
    try {
      const told = await get(`/api/switch/${encodeURIComponent(name)}`);
      if (name === this.name) this.show(told);
    } catch (error) {
      say(byId("switch-note"), "");
      complain(error);
    } finally {
      this.isReading = false;
    }
    // Another switch was chosen while this one was read.
    if (name !== this.name && this.told === null) await this.read();
  }

  /** A part of the panel, made when it is first needed. */
  part(key, title, make) {
    if (!this.parts.has(key)) {
      const [note, box] = [element("p", { class: "muted" }), element("div")];
      byId("switch-body").append(
        element("section", { class: "inside", "data-part": key }, element("h3", { text: title }), note, box),
      );
      this.parts.set(key, { note, content: make(box) });
    }
    return this.parts.get(key);
  }

  show(told) {
    const isFirst = this.told === null;
    this.told = told;
    say(byId("switch-note"), `device ${told.device_id}, ${told.program}`);
    this.showPorts();
    for (const table of told.tables) this.showTable(table.name);
    for (const register of told.registers) this.showRegister(register);
    for (const counter of told.counters) this.showCounter(counter);
    if (isFirst && this.network.can.trace) this.part("trace", "Follow packets", (box) => this.traceBox(box));
  }

  showPorts() {
    const change = {
      title: "",
      text: "Change",
      isOff: (row) => row.k === null || !this.network.can.change,
      act: (row) => editThresholds(this.network.ports[Number(row.id)], (written) => this.onChange(written)),
    };
    const { note, content } = this.part(
      "ports",
      "Ports",
      (box) => new Table(box, "Ports of the switch", PORT_COLUMNS.slice(1), change),
    );
    const rows = this.depths.tableRows().filter((row) => row.switch === this.name);
    if (rows.every((row) => row.k === null)) say(note, "The program of this switch has no thresholds.");
    content.show(rows);
  }

  showTable(name) {
    const table = this.told.tables.find((each) => each.name === name);
    const named = (entry) =>
      entry.is_default ? "default action" : table.keys.map((key) => entry.match[key.name] ?? "any").join(", ");
    const make = (box) => {
      const columns = [
        {
          name: "match",
          title: table.keys.map((key) => `${key.name} (${key.match}, ${key.bits} bits)`).join(", ") || "no key",
        },
        ...(table.entries.some((entry) => entry.priority !== null)
          ? [{ name: "priority", title: "priority", isNumber: true }]
          : []),
        { name: "action", title: "action" },
        { name: "hits", title: "hits", isNumber: true },
      ];
      return new Table(box, `Entries of ${name}`, columns, {
        title: "",
        text: "Change",
        isOff: (row) => !row.canChange || !this.network.can.change,
        act: (row) => {
          const now = this.told.tables.find((each) => each.name === name);
          const entry = now.entries.find((each) => each.entry === row.id);
          if (entry) editEntry(this.name, now, entry, (written) => this.onChange(written));
        },
      });
    };
    const { note, content } = this.part(`table ${name}`, `Table ${name}`, make);
    const own = table.entries.filter((entry) => !entry.is_default).length + table.entries_left_out;
    const words = [`${count(own)} of at most ${count(table.size)} entries`];
    if (table.entries_left_out > 0) words.push(`${count(table.entries_left_out)} are not shown`);
    if (table.misses !== null) words.push(`${count(table.misses)} misses`);
    say(note, `${words.join(", ")}.`);
    content.show(
      table.entries.map((entry) => ({
        id: entry.entry,
        name: named(entry),
        match: named(entry),
        priority: entry.priority,
        action: described(entry),
        hits: entry.hits,
        // A member of an action profile is none of the table's own actions.
        canChange: !entry.is_const && table.actions.some((action) => action.name === entry.action),
      })),
    );
  }

  showRegister({ name, size, values, left_out }) {
    const columns = [
      { name: "index", title: "index", isNumber: true },
      { name: "value", title: "value" },
    ];
    const { note, content } = this.part(
      `register ${name}`,
      `Register ${name}`,
      (box) => new Table(box, `Values of ${name}`, columns),
    );
    say(note, `${count(size)} cells${left_out > 0 ? `, ${count(left_out)} are not shown` : ""}.`);
    content.show(values.map(([index, value]) => ({ id: String(index), index, value })));
  }

  showCounter({ name, unit, rows, left_out }) {
    const columns = ["index", "packets", "bytes"].map((each) => ({ name: each, title: each, isNumber: true }));
    const { note, content } = this.part(
      `counter ${name}`,
      `Counter ${name}`,
      (box) => new Table(box, `Counts of ${name}`, columns),
    );
    say(note, `Counts ${UNITS[unit] ?? unit}${left_out > 0 ? `; ${count(left_out)} rows are not shown` : ""}.`);
    content.show(rows.map(([index, packets, bytes]) => ({ id: String(index), index, packets, bytes })));
  }

  traceBox(box) {
    const select = element(
      "select",
      { id: "trace-packets" },
      ...PACKETS.map((number) => element("option", { value: String(number), text: String(number) })),
    );
    select.value = "3";
    const found = element("div", { role: "region", "aria-label": "What the packets met" });
    const read = async () => {
      try {
        found.replaceChildren(element("p", { class: "muted", text: "waiting for packets …" }));
        this.showTrace(found, await post("/api/trace", { switch: this.name, packets: Number(select.value) }));
      } catch (error) {
        found.replaceChildren();
        complain(error);
      }
    };
    const button = element("button", {
      type: "button",
      id: "trace",
      class: "small",
      text: "Follow",
      on: { click: read },
    });
    const about =
      this.network.kind === "lab"
        ? "The switch keeps what it does with them."
        : "Time moves on until the switch is through with them; then it pauses.";
    box.append(
      element(
        "div",
        { class: "actions" },
        element("label", { for: "trace-packets", class: "muted", text: "The next packets" }),
        select,
        button,
        element("span", { class: "muted", text: about }),
      ),
      found,
    );
    return found;
  }

  showTrace(box, { packets, why }) {
    if (packets.length === 0)
      return box.replaceChildren(element("p", { class: "muted", text: why ?? "No packet came." }));
    const blocks = packets.map(({ number, time_ns, steps }, at) => {
      const lines = steps.map(({ text, is_heading, kind, depth }) =>
        element("li", { class: is_heading ? "heading" : `code depth${depth} ${kind}`, text }),
      );
      return element(
        "details",
        { open: at === 0 },
        element("summary", { text: `Packet ${number} at ${instant(time_ns)}` }),
        element("ol", { class: "steps" }, ...lines),
      );
    });
    box.replaceChildren(...blocks);
    if (why) box.append(element("p", { class: "muted", text: why }));
    return undefined;
  }
}
