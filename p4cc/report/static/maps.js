// Maps: values over two axes, one series at a time.

const SCALES = { light: "Viridis", dark: "Viridis" };

function drawHeat(block, place) {
  const choice = element("select", { "aria-label": `${block.title}: variant` });
  const parts = scaffold(place, block, element("div", { class: "picks" }, element("label", {}, "Variant ", choice)));
  const seeds = block.maps.map((map) => map.seed).filter((seed) => seed !== null);
  choice.addEventListener("change", draw);

  function draw() {
    const seed = seeds.length ? shownSeed(seeds) : null;
    offerSeries(choice, block.maps.map((map) => map.series));
    const map = block.maps.find((one) => one.series === Number(choice.value) && (one.point === null || one.point === state.point)
      && (one.seed === null || one.seed === seed));
    const rows = map ? map.y.length : 1;
    const layout = { ...baseLayout(Math.min(900, Math.max(230, 19 * rows + 130))), annotations: [] };
    const numeric = map && map.x.every((one) => typeof one === "number");
    layout.xaxis = axis(block.x_label, false, numeric ? {} : { type: "category" });
    layout.yaxis = axis(block.y_label, false, { type: "category", autorange: "reversed", title: { text: "" }, tickfont: { size: rows > 30 ? 9 : 11 } });
    const traces = [];
    if (map && map.y.length) {
      const log = state.axes === "log";
      const label = `${safe(block.z_label)}${log ? " (logarithm)" : ""}`;
      const data = map.text ? { text: map.text.map((line) => line.map(safe)), texttemplate: "%{text}" } : {};
      traces.push({
        type: "heatmap", x: numeric ? map.x : map.x.map(safe), y: map.y.map(safe), customdata: map.z,
        z: log ? map.z.map((line) => line.map((one) => (one > 0 ? Math.log10(one) : null))) : map.z,
        colorscale: SCALES[state.theme], ...data, hoverongaps: false, xgap: map.text ? 2 : 0, ygap: map.text ? 2 : 1,
        colorbar: { title: { text: label, side: "right" }, thickness: 12, outlinewidth: 0, exponentformat: "power" },
        hovertemplate: `<b>%{y}</b><br>${safe(block.x_label)}: %{x}<br>${safe(block.z_label)}: %{customdata:.8~g}<extra></extra>`,
      });
    } else {
      layout.annotations.push(nothing(0.5, 0.5));
    }
    Plotly.react(parts.plot, traces, layout, CONFIG);
    parts.say(seeds.length ? shownText(seed, seeds) : "");
    parts.numbers(() => mapNumbers(map, block));
  }
  return draw;
}

/** The series of a map or drawing that are on, the choice kept where it can be. */
function offerSeries(choice, known) {
  const here = [...new Set(known)].filter((series) => state.series.has(series));
  const before = choice.value;
  choice.replaceChildren(...here.map((series) => element("option", { value: String(series) }, held.series[series].label)));
  if (here.includes(Number(before)) && before !== "") choice.value = before;
}

function mapNumbers(map, block) {
  if (!map) return { heads: ["row", "largest"], rows: [], left: 0 };
  if (map.text) {
    const rows = map.y.flatMap((name, row) => map.x.map((x, column) => [name, x, map.z[row][column]]));
    return { heads: ["row", block.x_label, block.z_label], rows: rows.slice(0, 400), left: Math.max(0, rows.length - 400) };
  }
  const rows = map.y.map((name, row) => {
    const line = map.z[row], most = Math.max(...line);
    return [name, most, map.x[line.indexOf(most)]];
  });
  return { heads: [block.y_label, `largest (${block.z_label})`, `first at ${block.x_label}`], rows, left: 0 };
}
