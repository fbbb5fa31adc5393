// The dialog in which a threshold or a table entry is changed. What is wrong is said in it, and it stays open.

import { post } from "./api.js";
import { byId, element } from "./dom.js";

/** Opens the dialog: `request(form)` gives path and body to post, `done(answer)` is called after that. */
function open({ title, about, fields, request, done }) {
  const dialog = byId("edit");
  const failed = element("p", { class: "failed", role: "alert" });
  const submit = element("button", { type: "submit", class: "main", text: "Write" });
  const form = element(
    "form",
    {},
    element("h2", { id: "edit-title", text: title }),
    element("p", { class: "muted", text: about }),
    ...fields,
    failed,
    element(
      "div",
      { class: "actions" },
      submit,
      element("button", { type: "button", text: "Cancel", on: { click: () => dialog.close() } }),
    ),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    failed.textContent = "";
    try {
      const [path, body] = request(form);
      const written = await post(path, body);
      dialog.close();
      await done(written);
    } catch (error) {
      failed.textContent = [error.cause ?? error.message, error.place && `at ${error.place}`, error.remedy]
        .filter(Boolean)
        .join(" · ");
    } finally {
      submit.disabled = false;
    }
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}

function field(name, text, value, settings = {}) {
  const id = `edit-${name}`;
  return [element("label", { for: id, text }), element("input", { id, name, value, autocomplete: "off", ...settings })];
}

const whole = { type: "number", min: "0", step: "1" };

/** Changes K and K_dc of a port. */
export function editThresholds(port, done) {
  const fields = field("k", "K (packets)", port.k_pkts, { ...whole, required: true });
  if (port.k_dc_pkts !== null)
    fields.push(...field("k_dc", "K_dc (packets)", port.k_dc_pkts, { ...whole, required: true }));
  open({
    title: `Thresholds of ${port.switch}, port ${port.port}`,
    about: `The queue towards ${port.peer}. Written over P4Runtime at the present instant.`,
    fields: [element("div", { class: "fields" }, ...fields)],
    request: (form) => [
      "/api/thresholds",
      {
        switch: port.switch,
        port: port.port,
        k_pkts: Number(form.elements.k.value),
        k_dc_pkts: form.elements.k_dc ? Number(form.elements.k_dc.value) : null,
      },
    ],
    done,
  });
}

/** Changes action and parameters of an entry or of a default action. */
export function editEntry(name, table, entry, done) {
  const box = element("div", { class: "fields" });
  const select = element(
    "select",
    { id: "edit-action", name: "action" },
    ...table.actions.map((action) => element("option", { value: action.name, text: action.name })),
  );
  select.value = entry.action;
  const parameters = () => table.actions.find((action) => action.name === select.value)?.params ?? [];
  const fill = () => {
    const inputs = parameters().flatMap((param, at) =>
      field(
        `param-${at}`,
        `${param.name} (${param.bits} bits)`,
        entry.action === select.value ? entry.params[param.name] : "",
        { type: "text", required: true },
      ),
    );
    box.replaceChildren(element("label", { for: "edit-action", text: "action" }), select, ...inputs);
  };
  select.addEventListener("change", () => {
    fill();
    select.focus();
  });
  fill();
  const match = entry.is_default
    ? "default action"
    : Object.entries(entry.match)
        .map(([key, text]) => `${key} = ${text}`)
        .join(", ");
  open({
    title: `${table.name} of ${name}`,
    about: `${match}. Written over P4Runtime at the present instant.`,
    fields: [box],
    request: (form) => {
      const params = Object.fromEntries(
        parameters().map((param, at) => [param.name, form.elements[`param-${at}`].value.trim()]),
      );
      return ["/api/change", { switch: name, table: table.name, entry: entry.entry, action: select.value, params }];
    },
    done,
  });
}
