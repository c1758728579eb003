/** The records that an imported boot was made of: what was understood of each, and where they exclude one another. */
import { el } from "./dom";
import { exact } from "./format";
import { DataTable } from "./table";
import { visible } from "./text";
import type { FirstData, Source } from "./types";

/** More than these would push the boot itself off the first screen. */
const SHOWN = 3;

function plural(count: number, one: string, many: string): string {
  return `${exact(count)} ${count === 1 ? one : many}`;
}

function table(sources: Source[]): HTMLElement {
  return new DataTable<Source>({
    label: "Records",
    rows: sources,
    step: 50,
    ...(sources.length > 12
      ? { filterText: (row) => `${row.file} ${row.format ?? ""}`, filterLabel: "Filter records" }
      : {}),
    columns: [
      {
        id: "file",
        title: "Record",
        value: (row) => visible(row.file),
        cell: (row) => el("span", { class: "code" }, visible(row.file)),
      },
      { id: "format", title: "Format", value: (row) => visible(row.format ?? "not recognised; kept") },
      {
        id: "understood",
        title: "Understood",
        number: true,
        value: (row) => row.understood,
        cell: (row) => (row.format === null ? "–" : exact(row.understood)),
      },
      {
        id: "not_understood",
        title: "not understood",
        meaning: "Lines or records that have no shape of the format",
        number: true,
        value: (row) => row.not_understood,
        cell: (row) => (row.not_understood === 0 ? "0" : el("strong", {}, exact(row.not_understood))),
      },
      { id: "clock", title: "Clock", value: (row) => visible(row.clock) },
      { id: "fit", title: "Offset (source)", value: (row) => visible(row.fit || "–", 500) },
      { id: "problems", title: "Problems", value: (row) => visible(row.problems.join("; ") || "–", 1000) },
      { id: "notes", title: "Notes", value: (row) => visible(row.notes.join("; ") || "–", 1000) },
    ],
  }).element;
}

/** All of it in one line, which unfolds; nothing for a recorded boot. */
export function recordsPart(data: FirstData): HTMLElement | null {
  const { records, sources, contradictions } = data.records;
  if (records === 0) return null;
  const sum = (of: (source: Source) => number): number => sources.reduce((total, source) => total + of(source), 0);
  const strange = sum((source) => source.not_understood);
  const unread = sources.filter((source) => source.format === null).length;
  const problems = sum((source) => source.problems.length);
  const told = [
    plural(records, "record", "records"),
    `${plural(
      sum((source) => source.understood),
      "line or entry",
      "lines and entries",
    )} understood`,
    ...(strange > 0 ? [`${exact(strange)} not understood`] : []),
    ...(unread > 0 ? [`${plural(unread, "record", "records")} not recognised`] : []),
    ...(problems > 0 ? [plural(problems, "problem", "problems")] : []),
    ...(contradictions.length > 0 ? [plural(contradictions.length, "contradiction", "contradictions")] : []),
  ];
  const against = contradictions.map(({ what, statements }) =>
    el(
      "li",
      {},
      el("strong", {}, visible(what)),
      `: ${statements.map(([source, value]) => `${visible(value, 300)} (${visible(source, 120)})`).join("; ")}`,
    ),
  );
  return el(
    "details",
    { class: "records", open: records <= SHOWN },
    el("summary", {}, told.join(" · ")),
    table(sources),
    records > sources.length
      ? el("p", { class: "note" }, `${exact(records - sources.length)} more records are in the bundle.`)
      : null,
    against.length > 0
      ? el("p", { class: "note" }, "Contradictions; the first statement is the one that the tables follow:")
      : null,
    against.length > 0 ? el("ul", { class: "told" }, ...against) : null,
  );
}

/** What is missing from the boot: in a line, or folded where it is much. */
export function missingPart(reasons: string[]): HTMLElement | null {
  if (reasons.length === 0) return null;
  if (reasons.length <= SHOWN) {
    return el("p", { class: "missing" }, `Incomplete: ${reasons.map((reason) => visible(reason)).join("; ")}`);
  }
  const items = reasons.map((reason) => el("li", {}, visible(reason)));
  const first = `Incomplete: ${visible(reasons[0] ?? "")}, and ${exact(reasons.length - 1)} more`;
  return el("details", { class: "missing" }, el("summary", {}, first), el("ul", { class: "told" }, ...items));
}
