// Numbers with units, as people read them.

const COUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const FEW = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const DASH = "–";

/** A count with separators; a dash where it is not known. */
export const count = (value) => (value === null || value === undefined ? DASH : COUNT.format(value));

function scaled(value, steps) {
  const [size, unit] = steps.find(([least]) => Math.abs(value) >= least) ?? steps[steps.length - 1];
  return `${FEW.format(value / size)} ${unit}`.trimEnd();
}

/** A large number with three digits: 1.23 M. */
export const large = (value) =>
  value === null || value === undefined
    ? DASH
    : scaled(value, [
        [1e9, "G"],
        [1e6, "M"],
        [1e3, "k"],
        [1, ""],
      ]);

/** A line rate or a flow's rate. */
export const rate = (bps) =>
  bps === null || bps === undefined
    ? DASH
    : scaled(bps, [
        [1e12, "Tbit/s"],
        [1e9, "Gbit/s"],
        [1e6, "Mbit/s"],
        [1e3, "kbit/s"],
        [1, "bit/s"],
      ]);

/** A span of time with three digits. */
export const span = (ns) =>
  scaled(ns, [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
    [1, "ns"],
  ]);

/** An instant with its digits down to nanoseconds, of constant width while it moves. */
export function instant(ns) {
  if (ns === null || ns === undefined) return DASH;
  if (ns < 1e6) return `${(ns / 1e3).toFixed(3)} µs`;
  if (ns < 1e9) return `${(ns / 1e6).toFixed(3)} ms`;
  return `${(ns / 1e9).toFixed(6)} s`;
}

/** The unit of a time axis that ends here: what nanoseconds are divided by, and the unit's name. */
export function timeUnit(end_ns) {
  if (end_ns < 1e6) return [1e3, "µs"];
  return end_ns < 1e10 ? [1e6, "ms"] : [1e9, "s"];
}
