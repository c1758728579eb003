/** The changed rows of every level as tables that sort: by size, by sign, by more calls, by the cost of each. */
import { el, section } from "../dom";
import { exact, share, words } from "../format";
import { DataTable, type TableColumn } from "../table";
import { visible } from "../text";
import { choice } from "./choice";
import {
  type CausalPart,
  type ExactComparison,
  type Figures,
  LEVELS,
  type Level,
  levelTitle,
  type Row,
  rowName,
  type SplitPart,
} from "./data";
import { fine, signed, signedCount, signedHalf, signedShare } from "./signed";

const PRESENCE: Record<string, string> = { only_a: "gone", only_b: "new", both: "" };

/** A change as a bar from the middle: faster to the left, slower to the right. */
export function twoWay(change: number, largest: number): HTMLElement {
  const bar = el("span", { class: change < 0 ? "two-way-bar faster" : "two-way-bar slower" });
  bar.style.width = `${largest > 0 ? Math.min(50, (50 * Math.abs(change)) / largest) : 0}%`;
  return el("span", { class: "two-way", "aria-hidden": "true" }, change === 0 ? null : bar);
}

function shown(name: string, level: string): string {
  return visible(level === "phases" ? words(name) : name);
}

function columns(level: string, found: Level): TableColumn<Row>[] {
  const whole = found.whole.a?.ns ?? 0;
  const largest = found.rows.reduce((most, row) => Math.max(most, Math.abs(row.change.ns)), 0);
  const some = (test: (row: Row) => boolean): boolean => found.rows.some(test);
  const side = (id: "a" | "b"): TableColumn<Row> => ({
    id,
    title: id.toUpperCase(),
    number: true,
    value: (row) => row[id]?.ns ?? null,
    cell: (row) => fine(row[id]?.ns),
    hint: (row) => `${exact(row[id]?.ns)} ns`,
  });
  const figure = (id: keyof Figures, title: string, text: (value: number | null) => string): TableColumn<Row> => ({
    id,
    title,
    number: true,
    value: (row) => row.change[id],
    cell: (row) => text(row.change[id]),
  });
  const half = (id: SplitPart, title: string, meaning: string): TableColumn<Row> => ({
    id,
    title,
    meaning,
    number: true,
    value: (row) => row.split?.[id] ?? null,
    cell: (row) => (row.split === null ? "–" : signedHalf(row.split[id])),
    hint: (row) => (row.split === null ? undefined : `${signedCount(row.split[id] / 2)} ns`),
  });
  const part = (id: CausalPart, title: string, meaning: string): TableColumn<Row> => ({
    id,
    title,
    meaning,
    number: true,
    value: (row) => row.parts?.[id] ?? null,
    cell: (row) => signed(row.parts?.[id] ?? 0),
    hint: (row) => `${signedCount(row.parts?.[id] ?? 0)} ns`,
  });
  const name = (row: Row): string => shown(rowName(row), level);
  return [
    {
      id: "name",
      title: LEVELS[level]?.name ?? "Name",
      value: name,
      cell: (row) => {
        const there = PRESENCE[row.presence] ?? "";
        const tag = there === "" ? null : el("span", { class: `tag ${row.presence}` }, there);
        const doubtful =
          row.doubtful === null ? null : el("span", { class: "tag" }, `${share(row.doubtful, 1)} of calls doubtful`);
        return el("span", { class: "named" }, el("span", { class: "code" }, name(row)), tag, doubtful);
      },
    },
    {
      id: "size",
      title: "Size",
      meaning: "The size of the change, whatever its sign: left faster, right slower",
      number: true,
      value: (row) => Math.abs(row.change.ns),
      cell: (row) => twoWay(row.change.ns, largest),
    },
    {
      id: "change",
      title: "Change",
      meaning: "B less A",
      number: true,
      value: (row) => row.change.ns,
      cell: (row) =>
        el("span", { class: row.change.ns > 0 ? "slower" : row.change.ns < 0 ? "faster" : "" }, signed(row.change.ns)),
      hint: (row) => `${signedCount(row.change.ns)} ns`,
    },
    {
      id: "share",
      title: "of A",
      meaning: "In percent of A's total",
      number: true,
      value: (row) => row.change.ns,
      cell: (row) => signedShare(row.change.ns, whole),
    },
    side("a"),
    side("b"),
    ...(some((row) => !!row.parts)
      ? [
          part("caused_ns", "Caused", "Reached from the input that differs"),
          part("moved_ns", "Moved", "The same work at another place or time"),
          part("accident_ns", "Accident", "Within the noise band"),
        ]
      : []),
    ...(some((row) => row.change.calls !== null) ? [figure("calls", "Calls", signedCount)] : []),
    ...(some((row) => row.split !== null)
      ? [
          half("gone_doubled_ns", "gone paths", "Call paths that only A has"),
          half("new_doubled_ns", "new paths", "Call paths that only B has"),
          half("calls_doubled_ns", "more calls", "What being called more often costs, at the mean cost of a call"),
          half("cost_doubled_ns", "cost each", "What costing more per call costs, at the mean number of calls"),
        ]
      : []),
    ...(some((row) => (row.change.idle_ns ?? 0) !== 0) ? [figure("idle_ns", "of it idle", signed)] : []),
  ];
}

function levelTable(id: string, level: string, found: Level): HTMLElement {
  const table = new DataTable<Row>({
    label: `Changed ${levelTitle(level).toLowerCase()}`,
    key: `${id}.${level}`,
    rows: found.rows,
    filterText: (row) => rowName(row),
    filterLabel: `Filter ${levelTitle(level).toLowerCase()}`,
    sort: { id: "size", desc: true },
    step: 25,
    empty: "None changed, or nothing matches.",
    columns: columns(level, found),
  });
  const { left_out, unchanged, whole } = found;
  const sum = found.rows.reduce((total, row) => total + row.change.ns, 0);
  const parts = [`${exact(found.rows.length)} changed: ${signed(sum)}`];
  if (left_out.count > 0)
    parts.push(`${exact(left_out.count)} smaller ones that have no row here: ${signed(left_out.change.ns)}`);
  if (unchanged.count > 0) parts.push(`${exact(unchanged.count)} unchanged`);
  const all = sum + left_out.change.ns + unchanged.change.ns;
  const holds =
    all === whole.change.ns ? "all of the change" : `not the ${signedCount(whole.change.ns)} ns of the whole`;
  const note = `${parts.join("; ")}. Together ${signedCount(all)} ns, ${holds}.`;
  const lead = LEVELS[level]?.lead ?? "";
  return el(
    "div",
    { class: "level" },
    el("p", { class: "note" }, lead),
    table.element,
    el("p", { class: "note sum" }, note),
  );
}

/** The levels that are worth a look: the critical path of a boot whose phases follow one another is its phases. */
export function levelsOf(comparison: ExactComparison): [string, Level][] {
  return Object.entries(comparison.levels).filter(([name]) => name !== "path" || comparison.a.mode !== "exact");
}

export function changesSection(id: string, comparison: ExactComparison): HTMLElement {
  const levels = levelsOf(comparison);
  const place = el("div", {});
  const tables = new Map<string, HTMLElement>();
  const show = (name: string): void => {
    const level = levels.find(([each]) => each === name)?.[1];
    if (!level) return;
    const table = tables.get(name) ?? levelTable(id, name, level);
    tables.set(name, table);
    place.replaceChildren(table);
  };
  // Functions say most, and a level in which nothing changed says nothing.
  const worth = ([name, level]: [string, Level]): number =>
    level.rows.length === 0 ? 0 : name === "functions" ? 2 : 1;
  const first = [...levels].sort((a, b) => worth(b) - worth(a));
  const all = first.map(([name, level]) => ({
    value: name,
    title: `${levelTitle(name)} (${exact(level.rows.length)})`,
  }));
  const lead =
    "Everything that changed, largest first; click a head to sort. The rows of each table add up to the change of the whole.";
  return section(
    id,
    "What changed",
    lead,
    el("div", { class: "toolbar" }, choice("What is listed", `${id}.level`, all, show)),
    place,
    hidden(id, comparison),
  );
}

function hidden(id: string, comparison: ExactComparison): HTMLElement | null {
  const rows = comparison.hidden;
  if (rows.length === 0) return null;
  const time = (
    id: string,
    title: string,
    value: (row: (typeof rows)[number]) => number | null,
  ): TableColumn<(typeof rows)[number]> => ({
    id,
    title,
    number: true,
    value,
    cell: (row) => (id === "change" ? signed(value(row)) : fine(value(row))),
    hint: (row) => `${exact(value(row))} ns`,
  });
  const table = new DataTable({
    label: "Hidden work",
    key: `${id}.hidden`,
    rows,
    step: 15,
    columns: [
      {
        id: "name",
        title: "Step",
        value: (row) => visible(rowName(row)),
        cell: (row) => el("span", { class: "code" }, visible(rowName(row))),
      },
      time("change", "Change", (row) => row.change.ns),
      time("a", "A", (row) => row.a?.ns ?? null),
      time("b", "B", (row) => row.b?.ns ?? null),
      time("slack_a", "slack in A", (row) => row.slack_a_ns),
      time("slack_b", "in B", (row) => row.slack_b_ns),
    ],
  });
  const text = `Hidden work, off the critical path: it contributes 0 (${exact(rows.length)})`;
  return el("details", {}, el("summary", {}, text), table.element);
}

/** Facts in which the systems differ that came up. */
export function factsPart(id: string, comparison: ExactComparison): HTMLElement | null {
  const { facts } = comparison;
  if (facts.length === 0) return null;
  const side = (which: "a" | "b"): TableColumn<(typeof facts)[number]> => ({
    id: which,
    title: which.toUpperCase(),
    value: (row) => visible(row[which] ?? "–", 300),
    cell: (row) => el("span", { class: "code wrap tall" }, visible(row[which] ?? "–", 2000)),
  });
  const table = new DataTable({
    label: "Facts that differ",
    key: id,
    rows: facts,
    filterText: (row) => row.fact,
    filterLabel: "Filter facts",
    step: 15,
    columns: [
      {
        id: "fact",
        title: "Fact",
        value: (row) => visible(row.fact),
        cell: (row) => el("span", { class: "code" }, visible(row.fact)),
      },
      side("a"),
      side("b"),
    ],
  });
  const lead =
    "What else differs between the systems that came up: a device that is missing may be what made one faster.";
  return section(id, "Facts that differ", lead, table.element);
}
