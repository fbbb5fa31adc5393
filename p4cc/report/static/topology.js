// The drawing of the network: links coloured by their load, and what is known of each way at its middle.

const CLASSES = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, Infinity];
const CLASS_NAMES = ["below 1 %", "1 to 10 %", "10 to 25 %", "25 to 50 %", "50 to 75 %", "75 to 90 %", "90 % and more"];
const CLASS_INKS = {
  light: ["#c3c9d1", "#c7b55a", "#9ec24a", "#4cb070", "#2a8a8c", "#365c8d", "#440154"],
  dark: ["#4a5462", "#365c8d", "#2a8a8c", "#4cb070", "#9ec24a", "#e0d24a", "#fff2a0"],
};

function drawTopology(block, place) {
  const choice = element("select", { "aria-label": "The network: variant" });
  const parts = scaffold(place, block, element("div", { class: "picks" }, element("label", {}, "Variant ", choice)));
  const seeds = block.loads.map((load) => load.seed);
  choice.addEventListener("change", draw);

  function draw() {
    const seed = shownSeed(seeds);
    offerSeries(choice, block.loads.map((load) => load.series));
    const load = block.loads.find((one) => one.series === Number(choice.value) && one.point === state.point && one.seed === seed);
    const layout = baseLayout(430);
    layout.margin = { l: 10, r: 10, t: 10, b: 50 };
    layout.xaxis = { visible: false, fixedrange: false };
    layout.yaxis = { visible: false };
    if (parts.plot.clientWidth > 640) layout.legend.title = { text: "mean load" };
    const traces = load ? networkTraces(block.networks[load.network], load, parts.plot.clientWidth) : [];
    layout.annotations = load ? switchNames(block.networks[load.network]) : [nothing(0.5, 0.5)];
    makeRoom(layout, traces, parts.plot.clientWidth - 80);
    Plotly.react(parts.plot, traces, layout, CONFIG);
    parts.say(shownText(seed, seeds));
    parts.numbers(() => linkNumbers(load ? block.networks[load.network] : null, load));
  }
  return draw;
}

/** Names above their switches, readable where links cross them. */
function switchNames(network) {
  if (network.switches > 40) return [];
  const bgcolor = getComputedStyle(document.documentElement).getPropertyValue("--ground").trim();
  return network.names.slice(0, network.switches).map((name, at) => ({
    x: network.x[at], y: network.y[at], text: safe(name), yshift: 15, showarrow: false, font: { size: 10 }, bgcolor, borderpad: 1,
  }));
}

function loadsOf(network, load, link) {
  return [0, 1].map((way) => (load.span_ns ? load.bytes[way][link] * 8e9 / (network.rates_bps[link] * load.span_ns) : 0));
}

function networkTraces(network, load, width) {
  const inks = CLASS_INKS[state.theme], quiet = getComputedStyle(document.documentElement).getPropertyValue("--quiet").trim();
  const classes = CLASSES.map(() => ({ x: [], y: [] }));
  const middle = { x: [], y: [], text: [] }, rings = { x: [], y: [], text: [], size: [] };
  const mostDrops = Math.max(1, ...load.drops.flat());
  network.ends.forEach(([a, b], link) => {
    const shares = loadsOf(network, load, link), of = CLASSES.findIndex((limit) => Math.max(...shares) < limit);
    classes[of].x.push(network.x[a], network.x[b], null);
    classes[of].y.push(network.y[a], network.y[b], null);
    middle.x.push((network.x[a] + network.x[b]) / 2);
    middle.y.push((network.y[a] + network.y[b]) / 2);
    middle.text.push(linkText(network, load, link, shares));
    [[a, b], [b, a]].forEach(([from, to], way) => {
      const drops = load.drops[way][link];
      if (!drops) return;
      rings.x.push(network.x[from] + (network.x[to] - network.x[from]) * 0.15);
      rings.y.push(network.y[from] + (network.y[to] - network.y[from]) * 0.15);
      rings.text.push(`${safe(network.names[from])} to ${safe(network.names[to])}: ${told(drops)} packets dropped`);
      rings.size.push(9 + 12 * Math.sqrt(drops / mostDrops));
    });
  });
  const lines = classes.map((one, at) => ({
    type: "scatter", mode: "lines", ...one, name: CLASS_NAMES[at], hoverinfo: "skip",
    line: { color: inks[at], width: 1.2 + at * 0.7 }, showlegend: one.x.length > 0, meta: { role: "links" },
  })).filter((one) => one.x.length);
  // Hosts are named where there is room.
  const many = (network.names.length - network.switches) * 28 > width;
  const node = (from, to, name, symbol, ink, size, isNamed) => ({
    type: "scatter", mode: isNamed ? "markers+text" : "markers", name, x: network.x.slice(from, to), y: network.y.slice(from, to),
    text: network.names.slice(from, to).map(safe), textposition: "bottom center", textfont: { size: 10 },
    marker: { symbol, size, color: ink, line: { width: 1, color: quiet } }, hovertemplate: "%{text}<extra></extra>", cliponaxis: false, meta: { role: name },
  });
  return [
    ...lines,
    {
      type: "scatter", mode: "markers", ...middle, name: "links", marker: { size: 9, color: "rgba(128,128,128,0.02)" },
      hovertemplate: "%{text}<extra></extra>", showlegend: false, meta: { role: "middle" },
    },
    node(network.switches, network.names.length, "hosts", "circle", colour(0), many ? 5 : 9, !many),
    node(0, network.switches, "switches", "square", colour(1), network.switches > 40 ? 8 : 13, false),
    ...(rings.x.length ? [{
      type: "scatter", mode: "markers", x: rings.x, y: rings.y, text: rings.text, name: "drops",
      marker: { symbol: "circle-open", size: rings.size, color: colour(3), line: { width: 2.5 } }, hovertemplate: "%{text}<extra></extra>", meta: { role: "drops" },
    }] : []),
  ];
}

function linkText(network, load, link, shares) {
  const [a, b] = network.ends[link], lines = [`<b>${safe(network.names[a])} - ${safe(network.names[b])}</b>, ${told(network.rates_bps[link] / 1e9)} Gb/s`];
  [[a, b], [b, a]].forEach(([from, to], way) => {
    const marks = load.marks[way][link], drops = load.drops[way][link], paused = load.paused_ns[way][link];
    lines.push(`${safe(network.names[from])} to ${safe(network.names[to])}: load ${told(100 * shares[way], 4)} %, ${told(marks)} marks, `
      + `${told(drops)} drops, paused ${told(paused / 1e3)} us`);
  });
  return lines.join("<br>");
}

function linkNumbers(network, load) {
  const heads = ["from", "to", "rate (Gb/s)", "load (%)", "marks", "drops", "paused (us)"];
  if (!load) return { heads, rows: [], left: 0 };
  const rows = network.ends.flatMap((ends, link) => [0, 1].map((way) => [
    network.names[ends[way]], network.names[ends[1 - way]], network.rates_bps[link] / 1e9, 100 * loadsOf(network, load, link)[way],
    load.marks[way][link], load.drops[way][link], load.paused_ns[way][link] / 1e3,
  ]));
  rows.sort((one, other) => other[3] - one[3]);
  return { heads, rows: rows.slice(0, 400), left: Math.max(0, rows.length - 400) };
}
