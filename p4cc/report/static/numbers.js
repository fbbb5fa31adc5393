// Medians and distributions of the seeds that are on, and numbers as text.

/** The value at a share of ordered values, between two of them by the distance (numpy's and polars' "linear"). */
function quantile(ordered, share) {
  if (!ordered.length) return null;
  const place = (ordered.length - 1) * share, low = Math.floor(place), high = Math.ceil(place);
  return ordered[low] + (ordered[high] - ordered[low]) * (place - low);
}

/** Median, 5th and 95th percentile, count, least and largest of the values that are there. */
function spreadOf(values) {
  const held = values.filter((one) => one !== null && one !== undefined).sort((a, b) => a - b);
  if (!held.length) return null;
  return {
    median: quantile(held, 0.5), low: quantile(held, 0.05), high: quantile(held, 0.95),
    least: held[0], most: held[held.length - 1], count: held.length,
  };
}

/** Distributions of several seeds as one: every step of a seed counts as many rows as it stands for. */
function merged(line, isOn) {
  const steps = [];
  let rows = 0;
  line.seeds.forEach((seed, at) => {
    if (!isOn(seed)) return;
    rows += line.rows[at];
    let before = 0;
    line.x[at].forEach((value, place) => {
      const share = line.y[at][place];
      if (share > before) steps.push([value, (share - before) * line.rows[at]]);
      before = share;
    });
  });
  steps.sort((a, b) => a[0] - b[0]);
  const x = [], y = [];
  let passed = 0;
  for (const [value, count] of steps) {
    if (!x.length) { x.push(value); y.push(0); }
    passed += count;
    x.push(value);
    y.push(passed / rows);
  }
  return { x, y, rows };
}

/** A number for people: digits that count, thousands apart. */
function told(value, digits = 5) {
  if (value === null || value === undefined) return "-";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  return Number(value.toPrecision(digits)).toLocaleString("en-US", { maximumSignificantDigits: digits });
}
