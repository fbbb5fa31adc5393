// A dialog to choose up to eight ports or flows to watch, or to leave the choice to the run.

import { byId, element } from "./dom.js";

const MOST = 8;
const TYPING_MS = 200;

/**
 * Opens the dialog. `find(text)` gives `{options: [{key, name, about}], total}`; `chosen` are keys with names now;
 * `send(keys)` tells the server, and its error is shown in the dialog.
 */
export function choose({ title, find, chosen, send }) {
  const dialog = byId("picker");
  const picked = new Map(chosen.map(({ key, name }) => [key, name]));
  const list = element("div", { class: "options", role: "group", "aria-label": title, tabindex: "0" });
  const note = element("p", { class: "muted", role: "status" });
  const failed = element("p", { class: "failed", role: "alert" });
  const search = element("input", { type: "search", id: "picker-search", autocomplete: "off" });

  const counted = () => {
    note.textContent = `${picked.size} of at most ${MOST} chosen`;
    for (const box of list.querySelectorAll("input")) box.disabled = !box.checked && picked.size >= MOST;
  };
  const option = ({ key, name, about }) => {
    const change = (event) => {
      if (event.target.checked) picked.set(key, name);
      else picked.delete(key);
      counted();
    };
    const box = element("input", { type: "checkbox", on: { change } });
    box.checked = picked.has(key);
    return element(
      "label",
      {},
      box,
      element("span", { text: name }),
      element("span", { class: "muted", text: about ?? "" }),
    );
  };
  let asked = 0;
  const fill = async () => {
    const mine = ++asked;
    try {
      const { options, total } = await find(search.value.trim());
      if (mine !== asked) return;
      const seen = new Set(options.map(({ key }) => key));
      const rest = [...picked].filter(([key]) => !seen.has(key)).map(([key, name]) => ({ key, name }));
      list.replaceChildren(...[...rest, ...options].map(option));
      if (total > options.length) {
        list.append(element("p", { class: "muted", text: `${options.length} of ${total} shown: search for others` }));
      }
      counted();
    } catch (error) {
      failed.textContent = error.cause ?? error.message;
    }
  };
  const done = async (keys) => {
    try {
      await send(keys);
      dialog.close();
    } catch (error) {
      failed.textContent = [error.cause ?? error.message, error.remedy].filter(Boolean).join(": ");
    }
  };
  let typed = 0;
  search.addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(fill, TYPING_MS);
  });
  const button = (text, act, kind = "") => element("button", { type: "button", class: kind, text, on: { click: act } });
  dialog.replaceChildren(
    element("h2", { id: "picker-title", text: title }),
    element("label", { for: "picker-search", class: "muted", text: "Search " }),
    search,
    list,
    note,
    failed,
    element(
      "div",
      { class: "actions" },
      button("Watch these", () => done([...picked.keys()]), "main"),
      button("Let the run choose", () => done([])),
      button("Cancel", () => dialog.close(), "quiet"),
    ),
  );
  dialog.showModal();
  search.focus();
  fill();
}
