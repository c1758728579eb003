/** A table whose cells are words already, as the terminal shows it. */
import { el } from "./dom";
import { visible } from "./text";

export interface SheetData {
  title: string;
  columns: { title: string; number: boolean }[];
  rows: string[][];
  footer: string[][];
  below: string[];
}

export function sheetTable(sheet: SheetData): HTMLElement {
  const classOf = (place: number): string | undefined => (sheet.columns[place]?.number ? "number" : undefined);
  const heads = sheet.columns.map(({ title }, i) => el("th", { scope: "col", class: classOf(i) }, visible(title)));
  const line = (row: string[]): HTMLElement =>
    el(
      "tr",
      {},
      ...row.map((cell, i) =>
        el("td", { class: classOf(i) }, i === 0 ? el("span", { class: "code" }, visible(cell)) : visible(cell)),
      ),
    );
  const foot = sheet.footer.length > 0 ? el("tfoot", {}, ...sheet.footer.map(line)) : null;
  const table = el(
    "table",
    {},
    el("caption", { class: "unseen" }, visible(sheet.title)),
    el("thead", {}, el("tr", {}, ...heads)),
    el("tbody", {}, ...sheet.rows.map(line)),
    foot,
  );
  const notes = sheet.below.map((text) => el("p", { class: "note" }, visible(text, 2000)));
  const scroll = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": visible(sheet.title) }, table);
  return el("div", { class: "level" }, scroll, ...notes);
}
