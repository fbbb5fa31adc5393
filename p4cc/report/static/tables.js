// Tables that sort and filter (DataTables), and the summary with its spread over the seeds that are on.

const LENGTHS = [10, 25, 100];
const FEW = 4; // Rows that nobody filters.

/** A row's cells with numbers as people read them; sorting and filtering use the values themselves. */
function cellOf(column) {
  const text = DataTable.render.text().display;
  return (value, kind) => {
    if (kind === "sort" || kind === "type") return value === null ? (column.numeric ? -Infinity : "") : value;
    return text(column.numeric ? told(value, 6) : value === null ? "-" : String(value));
  };
}

function drawTable(block, place) {
  const parts = scaffold(place, block, null);
  setTable(parts.plot, block.title);
  const table = element("table", { class: "display compact", "aria-label": block.title });
  const head = element("tr");
  block.columns.forEach((one) => head.append(element("th", { scope: "col", title: one.tip, ...(one.numeric ? { class: "number" } : {}) }, one.label)));
  table.append(element("thead", {}, head));
  parts.plot.append(table);
  const numbered = block.rows.map((row, number) => [...row, number]);
  let made = null;

  function isOn(number) {
    return (!block.series || state.series.has(block.series[number])) && (!block.seeds || state.seeds.has(block.seeds[number]))
      && (!block.at_point || !block.points || held.points.length < 2 || block.points[number] === state.point);
  }

  return () => {
    const rows = block.series || block.seeds ? numbered.filter((row) => isOn(row[row.length - 1])) : numbered;
    if (made) {
      made.clear().rows.add(rows).draw();
    } else {
      made = new DataTable(table, tableOptions(block.columns.map((one) => ({ render: cellOf(one), className: one.numeric ? "number" : "text" })), rows, block.order ? [block.order] : []));
    }
    parts.say(block.at_point && held.points.length > 1 ? pointText() : "");
  };
}

function tableOptions(columns, data, order) {
  return {
    columns, data, order, deferRender: true, autoWidth: false, pageLength: LENGTHS[0], lengthMenu: LENGTHS, paging: data.length > LENGTHS[0],
    layout: {
      topStart: data.length > LENGTHS[0] ? "pageLength" : null, topEnd: data.length > FEW ? "search" : null,
      bottomStart: data.length > FEW ? "info" : null, bottomEnd: data.length > LENGTHS[0] ? "paging" : null,
    },
    language: { search: "Filter:", emptyTable: "nothing of what is switched on", lengthMenu: "_MENU_ rows" },
  };
}

/** A wide table scrolls within its own region, by keyboard too. */
function setTable(plot, title) {
  plot.className = "table";
  plot.setAttribute("role", "region");
  plot.setAttribute("tabindex", "0");
  plot.setAttribute("aria-label", title);
}

function drawSummary(block, place) {
  const parts = scaffold(place, block, null);
  setTable(parts.plot, block.title);
  const table = element("table", { class: "display compact", "aria-label": block.title });
  const head = element("tr", {}, element("th", { scope: "col" }, "variant"));
  const several = held.points.length > 1;
  if (several) head.append(element("th", { scope: "col" }, "point"));
  block.metrics.forEach((one) => head.append(element("th", { scope: "col", title: one.tip, class: "number" }, one.label)));
  head.append(element("th", { scope: "col", class: "number" }, "runs"));
  table.append(element("thead", {}, head));
  parts.plot.append(table);
  const groups = new Map();
  block.runs.forEach((run) => {
    const key = `${run.series} ${run.point}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(run);
  });
  let made = null;

  function rows() {
    return [...groups.values()].filter((runs) => state.series.has(runs[0].series)).map((runs) => {
      const on = runs.filter((run) => state.seeds.has(run.seed));
      const cells = block.metrics.map((metric, at) => {
        const spread = spreadOf(on.map((run) => (run.values[at] === null ? null : run.values[at] * metric.scale)));
        return { spread, digits: metric.digits, runs: on.length, few: on.some((run) => run.few.includes(at)) };
      });
      return [held.series[runs[0].series].label, ...(several ? [runs[0].point] : []), ...cells, on.length];
    }).filter((row) => row[row.length - 1]);
  }

  return () => {
    if (made) {
      made.clear().rows.add(rows()).draw();
      return;
    }
    const text = DataTable.render.text().display;
    const columns = [{ render: (value) => text(value), className: "text" }];
    if (several) columns.push({ render: (value, kind) => (kind === "display" || kind === "filter" ? text(held.points[value]) : value), className: "text" });
    block.metrics.forEach(() => columns.push({ render: summaryCell, className: "number" }));
    columns.push({ className: "number" });
    made = new DataTable(table, tableOptions(columns, rows(), []));
  };
}

/** Median, and below it the range; numbers only, so that nothing has to be escaped. */
function summaryCell(cell, kind) {
  const { spread, digits, runs, few } = cell;
  if (kind === "sort" || kind === "type") return spread === null ? -Infinity : spread.median;
  if (spread === null) return "-";
  const say = (value) => (digits ? told(value, digits + 1) : told(value, 6));
  const middle = say(spread.median) + (few ? "*" : "") + (spread.count < runs ? ` (${spread.count} of ${runs})` : "");
  if (kind !== "display" || spread.count < 2) return middle;
  const range = spread.least === spread.most ? "all the same" : `${say(spread.least)} to ${say(spread.most)}`;
  return `${middle}<span class="range">${range}</span>`;
}
