// Unpacks what the page carries, and draws each figure and table when the reader comes to it.

const DRAW = { figure: drawFigure, heat: drawHeat, topology: drawTopology, table: drawTable, summary: drawSummary };

async function unpacked(name) {
  const text = document.getElementById(name).textContent.trim();
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function sentence(text) { return text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : "."); }

/** The elements of a block below its heading: caption, picker, figure, what is shown, notes, numbers. */
function scaffold(place, block, picker) {
  const root = document.querySelector(`[data-block="${place}"]`);
  const isFigure = block.block !== "table" && block.block !== "summary";
  const plot = element("div", { class: "plot", ...(isFigure ? { role: "group", "aria-label": `Figure: ${block.title}` } : {}) });
  const shown = element("p", { class: "shown", "aria-live": "polite" });
  const figure = element("figure");
  if (picker) figure.append(picker);
  figure.append(plot, shown, element("figcaption", {}, [block.caption, ...(block.notes ?? [])].filter(Boolean).map(sentence).join(" ")));
  root.append(figure);
  const details = element("details", {}, element("summary", {}, "Numbers of this figure"));
  const inside = element("div", { class: "numbers", tabindex: "0", role: "region", "aria-label": `Numbers of ${block.title}` });
  details.append(inside);
  if (isFigure) root.append(details);
  let make = null;
  const fill = () => { if (details.open && make) inside.replaceChildren(numbersTable(make())); };
  details.addEventListener("toggle", fill);
  return {
    plot,
    say: (text) => { if (shown.textContent !== text) shown.textContent = text; },
    numbers: (made) => { make = made; fill(); },
  };
}

function numbersTable({ heads, rows, left }) {
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads.map((one) => element("th", { scope: "col" }, one)))));
  table.append(element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((one) => element("td", {}, told(one, 8)))))));
  return element("div", {}, table, ...(left > 0 ? [element("p", {}, `${told(left)} more are left out here.`)] : []));
}

/** Draws a block when it comes near the window, and again after a change, at once if it can be seen. */
function drawWhenSeen(blocks) {
  const items = blocks.map((block, place) => ({ draw: null, block, place, root: document.querySelector(`[data-block="${place}"]`), stale: true, near: false }));
  const drawNow = (item) => {
    if (!item.stale) return;
    item.stale = false;
    item.draw ??= DRAW[item.block.block](item.block, item.place);
    item.draw();
    item.root.dataset.state = "drawn";
  };
  const watcher = new IntersectionObserver((seen) => {
    seen.forEach((one) => {
      const item = items.find((each) => each.root === one.target);
      item.near = one.isIntersecting;
      if (item.near) drawNow(item);
    });
  }, { rootMargin: "600px" });
  items.forEach((item) => watcher.observe(item.root));
  listeners.push(() => items.forEach((item) => {
    item.stale = true;
    if (item.near) drawNow(item);
  }));
  window.addEventListener("beforeprint", () => items.forEach(drawNow));
}

async function start() {
  held = JSON.parse(await unpacked("held"));
  setUpControls();
  setUpTheme();
  if (!held.blocks.length) return;
  const [plotly, datatables] = await Promise.all([unpacked("plotly"), unpacked("datatables")]);
  document.head.append(element("script", {}, plotly));
  const address = URL.createObjectURL(new Blob([datatables], { type: "text/javascript" }));
  globalThis.DataTable = (await import(address)).default;
  URL.revokeObjectURL(address);
  drawWhenSeen(held.blocks);
  document.documentElement.dataset.state = "ready";
}

await start();
