/** The tables of arms whose boots vary: means, which add up, each with its interval and the chance that it is noise. */
import { nanoseconds, numbers } from "../columns";
import { el, section } from "../dom";
import { exact, words } from "../format";
import { DataTable, type TableColumn } from "../table";
import { visible } from "../text";
import { twoWay } from "./changes";
import { choice } from "./choice";
import { LEVELS, levelTitle, type MeanLevel, type MeanRow, type NoisyComparison, rowName, type Said } from "./data";
import { fine, signed, signedCount, signedPercent } from "./signed";

function chance(p: number | null): string {
  if (p === null) return "–";
  return p < 0.0001 ? "< 0.0001" : p.toPrecision(2);
}

function rounded(ns: number | null): number | null {
  return ns === null ? null : Math.round(ns);
}

function levelTable(id: string, level: MeanLevel, tooFew: string | undefined): HTMLElement {
  const whole = level.whole.a_mean_ns;
  const largest = level.rows.reduce((most, row) => Math.max(most, Math.abs(row.change_ns)), 0);
  const name = (row: MeanRow): string => visible(level.name === "phases" ? words(rowName(row)) : rowName(row));
  const time = (
    id: string,
    title: string,
    value: (row: MeanRow) => number | null,
    meaning?: string,
  ): TableColumn<MeanRow> => ({
    ...numbers(id, title, value, (row) => (id === "a" || id === "b" ? fine : signed)(rounded(value(row))), meaning),
    hint: nanoseconds((row) => rounded(value(row))),
  });
  const table = new DataTable<MeanRow>({
    label: `${levelTitle(level.name)}, means`,
    key: `${id}.${level.name}`,
    rows: level.rows,
    filterText: (row) => rowName(row),
    filterLabel: `Filter ${levelTitle(level.name).toLowerCase()}`,
    sort: { id: "size", desc: true },
    step: 25,
    empty: "Nothing matches.",
    columns: [
      {
        id: "name",
        title: LEVELS[level.name]?.name ?? "Name",
        value: name,
        cell: (row) =>
          el(
            "span",
            { class: "named" },
            el("span", { class: "code" }, name(row)),
            row.differs || row.change_scaled === 0 ? null : el("span", { class: "tag noise" }, doubt(row)),
          ),
      },
      numbers(
        "size",
        "Size",
        (row) => Math.abs(row.change_ns),
        (row) => twoWay(row.change_ns, largest),
        "The size of the change, whatever its sign: left faster, right slower",
      ),
      time("change", "Change", (row) => row.change_ns, "Mean of B less mean of A"),
      time("low", "from", (row) => row.low_ns, "The change may be as low as this, by resampling whole boots"),
      time("high", "to", (row) => row.high_ns, "and as high as this"),
      numbers(
        "share",
        "of A",
        (row) => row.change_ns,
        (row) => signedPercent(whole ? (100 * row.change_ns) / whole : 0),
        "In percent of A's total",
      ),
      numbers(
        "p",
        "p",
        (row) => row.adjusted_p,
        (row) => chance(row.adjusted_p),
        "How likely such a difference is by chance, judged among all rows of the table",
      ),
      time("a", "A", (row) => row.a_mean_ns),
      time("b", "B", (row) => row.b_mean_ns),
    ],
  });
  const differ = level.rows.filter((row) => row.differs).length;
  const sum = level.rows.reduce((total, row) => total + row.change_scaled, 0);
  const holds = sum === level.whole.change_scaled ? "as the whole did" : "not as the whole did";
  const note =
    `${exact(differ)} of ${exact(level.rows.length)} rows differ; what is marked “noise?” cannot be told from noise. ` +
    `Together they changed by ${signedCount(Math.round(sum / level.scale))} ns, ${holds}.`;
  const off = unsureNote(level.rows);
  return el(
    "div",
    { class: "level" },
    table.element,
    el("p", { class: "note sum" }, note),
    off ? el("p", { class: "note" }, off) : null,
    tooFew ? el("p", { class: "note" }, visible(tooFew, 500)) : null,
  );
}

/** Why a change is not certain. */
function doubt(row: MeanRow): string {
  return row.unsure_ns === 0 ? "noise?" : "unsure";
}

/** What `unsure` means, where a row is. */
function unsureNote(rows: MeanRow[]): string | null {
  const unsure = rows.filter((row) => row.unsure_ns !== 0 && !row.differs);
  if (unsure.length === 0) return null;
  const known = unsure.flatMap((row) => (row.unsure_ns === null ? [] : [row.unsure_ns]));
  const most = known.length === unsure.length ? `up to ${fine(Math.round(Math.max(...known)))}` : "an unknown time";
  return `“unsure”: the records do not show when these phases began or ended; their changes may be off by ${most}.`;
}

function figures(rows: string[][]): HTMLElement {
  const head = ["", "A", "B"].map((title) => el("th", { scope: "col", class: title ? "number" : undefined }, title));
  const lines = rows.map(([name, ...cells]) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, visible(name ?? "")),
      ...cells.map((cell) => el("td", { class: "number" }, visible(cell))),
    ),
  );
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...lines));
  return el(
    "details",
    { open: true },
    el("summary", {}, "Mean, median, mode, standard deviation"),
    el("div", { class: "scroll" }, table),
  );
}

export function meansSection(id: string, found: NoisyComparison, said: Said): HTMLElement {
  const place = el("div", {});
  const show = (name: string): void => {
    const level = found.levels.find((each) => each.name === name);
    if (level) place.replaceChildren(levelTable(id, level, said.too_few?.[name]));
  };
  const all = found.levels.map((level) => ({
    value: level.name,
    title: `${levelTitle(level.name)} (${exact(level.rows.length)})`,
  }));
  const lead = "Means of the boots that take part: unlike the robust estimate they add up. Click a head to sort.";
  return section(
    id,
    "What changed, on means",
    lead,
    el("div", { class: "toolbar" }, choice("What is listed", `${id}.level`, all, show)),
    place,
    said.bridge ? el("p", { class: "note" }, visible(said.bridge, 1000)) : null,
    said.description ? figures(said.description) : null,
  );
}
