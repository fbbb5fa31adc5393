// Light and dark: the system's choice, or that of the button. Figures take their colours from the style sheet.

import { byId, say } from "./dom.js";

const CHOICES = ["system", "light", "dark"];
const PLACE = "p4cc-live-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

// Lines of ports and flows, after Okabe and Ito; from the fifth on a dash tells them apart too.
const LINES = {
  light: ["#0072b2", "#d55e00", "#008763", "#b8558f", "#2b8cc4", "#b87a00", "#6b5fb5", "#4d4d4d"],
  dark: ["#6cbcf0", "#ff9a52", "#2fc79a", "#e79cc8", "#9ad6ff", "#f2c14e", "#b3a6f5", "#d0d0d0"],
};
export const DASHES = ["solid", "solid", "solid", "solid", "dashdot", "dashdot", "dashdot", "dashdot"];

const listeners = [];

function chosen() {
  const stored = localStorage.getItem(PLACE);
  return CHOICES.includes(stored) ? stored : "system";
}

/** Whether the page is dark now. */
const isDark = () => (chosen() === "system" ? dark.matches : chosen() === "dark");

const pick = (sets) => (isDark() ? sets.dark : sets.light);
export const lineColours = () => pick(LINES);

/** A colour of the style sheet as the browser computes it. */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Calls back each time that colours change. */
export const onTheme = (act) => listeners.push(act);

function apply() {
  document.documentElement.classList.toggle("dark", isDark());
  say(byId("theme"), `Theme: ${chosen()}`);
  for (const act of listeners) act();
}

export function startTheme() {
  byId("theme").addEventListener("click", () => {
    localStorage.setItem(PLACE, CHOICES[(CHOICES.indexOf(chosen()) + 1) % CHOICES.length]);
    apply();
  });
  dark.addEventListener("change", apply);
  apply();
}
