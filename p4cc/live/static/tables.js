// Tables that sort, filter and page (DataTables). Cells are data of the run: they are escaped.

import DataTable from "/assets/datatables.js";
import { element } from "./dom.js";
import { count } from "./format.js";

const SHORT = 10;

function shown(column) {
  if (!column.isNumber) return DataTable.render.text();
  return (value, kind) => {
    if (kind !== "display") return value ?? -1;
    return typeof value === "number" || value === null ? count(value) : DataTable.render.text().display(value);
  };
}

/**
 * A table in `box`. `columns` are `{name, title, isNumber}`; rows have an `id` that stays with them. `button`, if
 * given, is `{title, text, isOff(row), act(row)}`: each row's last cell.
 */
export class Table {
  constructor(box, caption, columns, button = null) {
    this.columns = columns;
    this.box = box;
    this.ids = [];
    this.rows = new Map();
    const node = element("table", { class: "display compact" }, element("caption", { class: "hidden", text: caption }));
    box.replaceChildren(element("div", { class: "wide" }, node));
    const defined = columns.map((column) => ({
      data: column.name,
      title: DataTable.util.escapeHtml(column.title),
      render: shown(column),
      className: column.isNumber ? "dt-right" : "dt-left",
      defaultContent: "",
    }));
    if (button) defined.push(this.buttonColumn(button));
    this.data = new DataTable(node, {
      columns: defined,
      data: [],
      rowId: (row) => `r${row.id}`,
      autoWidth: false,
      deferRender: true,
      order: [],
      pageLength: SHORT,
      lengthMenu: [SHORT, 25, 100],
      layout: { topStart: null, topEnd: "search", bottomStart: "info", bottomEnd: { paging: { buttons: 5 } } },
      language: {
        search: `<span class="hidden">${DataTable.util.escapeHtml(caption)}: </span>Filter:`,
        emptyTable: "nothing here",
        info: "_START_ to _END_ of _TOTAL_",
      },
    });
  }

  buttonColumn(button) {
    return {
      data: null,
      title: button.title,
      orderable: false,
      searchable: false,
      defaultContent: "",
      createdCell: (cell, _value, row) => {
        const act = () => button.act(this.rows.get(row.id));
        const name = `${button.text}: ${row.name ?? row.id}`;
        cell.replaceChildren(
          element("button", {
            type: "button",
            class: "small",
            text: button.text,
            "aria-label": name,
            disabled: button.isOff(row),
            title: button.isOff(row) || null,
            on: { click: act },
          }),
        );
      },
    };
  }

  /** Shows these rows; those that are there already keep their place, page and focus. */
  show(rows) {
    this.box.classList.toggle("few", rows.length <= SHORT);
    const focused = document.activeElement;
    const before = this.rows;
    this.rows = new Map(rows.map((row) => [row.id, row]));
    if (rows.length === this.ids.length && rows.every((row, at) => row.id === this.ids[at])) this.renew(rows, before);
    else {
      this.ids = rows.map((row) => row.id);
      this.data.clear();
      this.data.rows.add(rows);
      this.data.draw(false);
    }
    if (focused && focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  }

  renew(rows, before) {
    let changed = false;
    rows.forEach((row, at) => {
      const old = before.get(row.id);
      this.columns.forEach((column, place) => {
        if (old[column.name] === row[column.name]) return;
        changed = true;
        this.data.cell(at, place).data(row[column.name]);
      });
    });
    if (changed) this.data.draw(false);
  }
}

/** Fills the table within a `details` when it is opened, and each second while it is open. */
export function tableOnDemand(details, caption, columns, rows) {
  let table = null;
  const fill = () => {
    if (!details.open || document.hidden) return;
    table ??= new Table(details.querySelector("div"), caption, columns);
    table.show(rows());
  };
  details.addEventListener("toggle", fill);
  setInterval(fill, 1000);
}
