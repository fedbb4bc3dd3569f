// Tables of results, with the same numbers as the command line.

import { columnOf, type Results, type Table } from "./answers";
import { make } from "./dom";
import { digits } from "./words";

// Number of rows shown; the CSV has all of them.
const SHOWN = 60;

// The tables of counters; tables of traces, which are long, are collapsed.
export function tables(results: Results): HTMLElement[] {
  const counters = ["flows", "queues", "groups", "classes"];
  return results.tables.map((table) => (counters.includes(table.name) ? shown(table) : make("details", {}, make("summary", {}, `Trace ${table.name}`), shown(table))));
}

function shown(table: Table): HTMLElement {
  const columns = table.columns.filter(([, values]) => values.some((value) => value !== null && value !== 0));
  const rows = table.columns[0]?.[1].length ?? 0;
  const head = make("tr", {}, ...columns.map(([name]) => make("th", { scope: "col" }, name)));
  const body = Array.from({ length: Math.min(rows, SHOWN) }, (_, row) => make("tr", {}, ...columns.map(([, values]) => cell(values[row] ?? null))));
  const caption = rows > SHOWN ? `${table.name}: ${SHOWN} of ${rows} rows` : table.name;
  return make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `Table ${table.name}` }, make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...body)));
}

function cell(value: number | string | null): HTMLElement {
  if (typeof value === "string") {
    return make("td", {}, value);
  }
  return make("td", { class: "n", title: value === null ? "missing" : String(value) }, value === null ? "\u2013" : Number.isInteger(value) ? value.toLocaleString("en") : digits(value, 5));
}

// A value of a table.
export function valueOf(results: Results, table: string, column: string, row = 0): number | null {
  const value = columnOf(results.tables.find((one) => one.name === table), column)?.[row];
  return typeof value === "number" ? value : null;
}

// All digits, as in the Python package; missing values are empty.
export function csv(table: Table): string {
  const { columns } = table;
  const rows = columns[0]?.[1].length ?? 0;
  const lines = [columns.map(([name]) => name).join(",")];
  for (let row = 0; row < rows; row++) {
    lines.push(columns.map(([, values]) => written(values[row] ?? null)).join(","));
  }
  return `${lines.join("\n")}\n`;
}

function written(value: number | string | null): string {
  if (value === null) {
    return "";
  }
  const text = String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
