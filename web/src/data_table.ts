/** A table whose cells are texts already, as the terminal shows it. */
import { el } from "./dom";
import { visible } from "./text";

export interface TableData {
  title: string;
  columns: { title: string; number: boolean }[];
  rows: string[][];
  left_out: string[][];
  footer: string[][];
  notes: string[];
}

export function dataTable(data: TableData): HTMLElement {
  const classOf = (place: number): string | undefined => (data.columns[place]?.number ? "number" : undefined);
  const heads = data.columns.map(({ title }, i) => el("th", { scope: "col", class: classOf(i) }, visible(title)));
  const line = (row: string[]): HTMLElement =>
    el(
      "tr",
      {},
      ...row.map((cell, i) =>
        el("td", { class: classOf(i) }, i === 0 ? el("span", { class: "code" }, visible(cell)) : visible(cell)),
      ),
    );
  const below = [...data.left_out, ...data.footer];
  const foot = below.length > 0 ? el("tfoot", {}, ...below.map(line)) : null;
  const table = el(
    "table",
    {},
    el("caption", { class: "unseen" }, visible(data.title)),
    el("thead", {}, el("tr", {}, ...heads)),
    el("tbody", {}, ...data.rows.map(line)),
    foot,
  );
  const notes = data.notes.map((text) => el("p", { class: "note" }, visible(text, 2000)));
  const scroll = el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": `Table: ${visible(data.title)}` },
    table,
  );
  return el("div", { class: "level" }, scroll, ...notes);
}
