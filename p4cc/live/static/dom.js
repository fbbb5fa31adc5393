// Elements of the page. Text from the run is hostile: it goes through textContent, or through `label` for Plotly.

/** The element with this id. */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found;
}

/** A new element: `on` has listeners, `class` and `text` are what they say, all else are attributes. */
export function element(tag, settings = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(settings)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (name === "text") made.textContent = value;
    else if (name === "class") made.className = value;
    else if (name === "value") made.value = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/** Sets a text only where it differs, so that the browser lays out nothing anew for nothing. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A text for Plotly, which takes some HTML in labels: shown as it is written. */
export function label(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** A name that fits beside a figure; the whole one is shown at the pointer. */
export function short(text, most) {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}

/** Shows an error of the server or of the page: cause, place and remedy. */
export function complain(error) {
  const { cause, place, remedy } = error;
  const box = byId("alerts");
  const text = [cause ?? error.message ?? String(error), place && `at ${place}`, remedy].filter(Boolean).join(" · ");
  for (const old of box.children) if (old.firstChild.textContent === text) return;
  const line = element("div", { class: "alert" }, element("span", { text }));
  line.append(element("button", { type: "button", class: "quiet", text: "Close", on: { click: () => line.remove() } }));
  box.append(line);
  while (box.children.length > 3) box.firstChild.remove();
}

/** Tells people with a screen reader of a change of state. */
export function tell(text) {
  say(byId("said"), text);
}
