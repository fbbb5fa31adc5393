// What the controls say, colours of series, and small helpers for elements.

const PALETTES = {
  light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#3a9bd9", "#000000", "#882255", "#777722"],
  dark: ["#56b4e9", "#ff9f55", "#2fd0a0", "#e79fc6", "#e6c34d", "#9bd0f5", "#ffffff", "#d98bb0", "#c9c95c"],
};
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];

const state = { series: new Set(), seeds: new Set(), point: 0, axes: "own", theme: "light" };
const listeners = [];
let held = null;

function changed() { listeners.forEach((listener) => listener()); }

/** A new element; texts are texts, never HTML. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key in made && typeof value === "boolean") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** A text for Plotly, which reads some HTML in labels. */
function safe(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** The place of a series' colour: that of its variant, so that the same variant of two folders has one colour. */
function colourPlace(series) {
  const variants = [...new Set(held.series.map((one) => one.variant))];
  return variants.indexOf(held.series[series].variant);
}

function colour(place) {
  const palette = PALETTES[state.theme];
  return palette[place % palette.length];
}

/** The first seed that is on and of which there are details; null where there is none. */
function shownSeed(seeds) {
  const known = [...new Set(seeds)].sort((a, b) => a - b);
  return known.find((seed) => state.seeds.has(seed)) ?? null;
}

/** Fills the controls and keeps the state in step with them. */
function setUpControls() {
  held.series.forEach((one, place) => {
    state.series.add(place);
    const swatch = element("span", { class: "swatch", "aria-hidden": "true", "data-colour": String(colourPlace(place)) });
    document.getElementById("series").append(checkbox(one.label, state.series, place, swatch));
  });
  held.seeds.forEach((seed) => {
    state.seeds.add(seed);
    document.getElementById("seeds").append(checkbox(String(seed), state.seeds, seed));
  });
  document.getElementById("series").hidden = !held.series.length;
  document.getElementById("seeds").hidden = held.seeds.length < 2;
  const point = document.getElementById("point");
  held.points.forEach((label, place) => point.append(element("option", { value: String(place) }, label || "the only one")));
  document.getElementById("point-label").hidden = held.points.length < 2;
  state.point = held.first_point;
  point.value = String(state.point);
  point.addEventListener("change", () => { state.point = Number(point.value); changed(); });
  const axes = document.getElementById("axes");
  axes.addEventListener("change", () => { state.axes = axes.value; changed(); });
}

function checkbox(label, set, value, ...before) {
  const box = element("input", { type: "checkbox", checked: set.has(value) });
  box.addEventListener("change", () => {
    if (box.checked) set.add(value); else set.delete(value);
    changed();
  });
  return element("label", {}, box, ...before, label);
}

/** The reader's colours: those of the system until the button says otherwise. */
function setUpTheme() {
  const button = document.getElementById("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const apply = (theme) => {
    state.theme = theme;
    document.documentElement.dataset.theme = theme;
    document.documentElement.style.colorScheme = theme;
    document.documentElement.classList.toggle("dark", theme === "dark");
    button.setAttribute("aria-pressed", String(theme === "dark"));
    document.querySelectorAll(".swatch").forEach((one) => { one.style.background = colour(Number(one.dataset.colour)); });
    changed();
  };
  button.addEventListener("click", () => apply(state.theme === "dark" ? "light" : "dark"));
  dark.addEventListener("change", () => apply(dark.matches ? "dark" : "light"));
  apply(dark.matches ? "dark" : "light");
}
