/** The kd table: Function, Count, Time, Average, Local, Max-sub, Ms count, as the tool kd defines them. */
import { counts, numbers } from "./columns";
import { scopeOf } from "./cuts";
import { entry } from "./data";
import { el, section } from "./dom";
import { amount, exact, share, timeName, type Unit } from "./format";
import { kindFill, kindTitle, swatch } from "./palette";
import { meter } from "./phases";
import type { Selection } from "./selection";
import type { Range } from "./slices";
import { DataTable, type TableColumn } from "./table";
import { visible } from "./text";
import { measure } from "./tree";
import type { FunctionColumns, PageData } from "./types";

interface Row {
  name: string;
  kind: string;
  count: number;
  total: Record<Unit, number | null>;
  self: Record<Unit, number | null>;
  maxSub: string;
  maxSubCount: number | null;
  machine: string;
}

function rows(data: PageData, columns: FunctionColumns | undefined): Row[] {
  if (!columns) return [];
  const text = (index: number | undefined): string => visible(data.strings[index ?? -1] ?? "");
  return columns.name.map((name, i) => {
    const module = text(columns.module[i]);
    return {
      name: module ? `${text(name)} [${module}]` : text(name),
      kind: text(columns.kind[i]) || "function",
      count: columns.count[i] ?? 0,
      total: { instructions: columns.total_instructions[i] ?? 0, time: columns.total_ns[i] ?? null },
      self: { instructions: columns.self_instructions[i] ?? 0, time: columns.self_ns[i] ?? null },
      maxSub: text(columns.max_sub[i]),
      maxSubCount: text(columns.max_sub[i]) === "" ? null : (columns.max_sub_count[i] ?? null),
      machine: text(columns.machine[i]),
    };
  });
}

/** Rows of several phases as one for each function. Which callee is the largest of all of them is not known. */
function together(all: Row[]): Row[] {
  const add = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);
  const found = new Map<string, Row>();
  for (const row of all) {
    const known = found.get(`${row.name}\0${row.kind}`);
    if (!known) {
      found.set(`${row.name}\0${row.kind}`, { ...row, maxSub: "", maxSubCount: null });
      continue;
    }
    known.count += row.count;
    known.machine ||= row.machine;
    for (const part of ["total", "self"] as const) {
      const [one, other] = [known[part], row[part]];
      known[part] = { instructions: add(one.instructions, other.instructions), time: add(one.time, other.time) };
    }
  }
  return [...found.values()];
}

/** Rows of slices of time. Which callee is the largest there is not known. */
function inSlices(data: PageData, range: Range): Row[] {
  const { sliced } = data;
  if (!sliced) return [];
  const all = rows(data, data.functions);
  const { idle } = sliced.sums(range);
  const { idle_function, idle_functions } = sliced.about;
  return [...sliced.functions(range)].flatMap(([i, own]) => {
    const row = i === all.length ? smaller(sliced.about.smaller) : all[i];
    if (!row) return [];
    const total = sliced.time(own.total) + (idle_functions.includes(i) ? idle : 0);
    const self = sliced.time(own.self) + (i === idle_function ? idle : 0);
    return {
      ...row,
      count: own.count,
      total: { instructions: own.total, time: total },
      self: { instructions: own.self, time: self },
      maxSub: "",
      maxSubCount: null,
    };
  });
}

/** The row of all functions that have none of their own in slices of time. */
function smaller(functions: number): Row {
  const nothing = { instructions: null, time: null };
  const name = `(${exact(functions)} smaller functions)`;
  return { name, kind: "folded", count: 0, total: nothing, self: nothing, maxSub: "", maxSubCount: null, machine: "" };
}

/** For scripts: what a selection of time counts, and the functions in it. */
function between(data: PageData, from: number, to: number) {
  const { sliced } = data;
  if (!sliced) return null;
  const range = sliced.snapped([from, to]);
  const { instructions, idle } = sliced.sums(range);
  const measures = measure(data, null, range);
  return {
    start_ns: sliced.start(range[0]),
    end_ns: sliced.about.end_ns[range[1]] ?? 0,
    instructions,
    idle_ns: idle,
    functions: inSlices(data, range),
    nodes: { calls: [...measures.calls], instructions: [...measures.self.instructions], time: [...measures.self.time] },
  };
}

function average(row: Row, unit: Unit): number | null {
  const total = row.total[unit];
  return total === null || row.count === 0 ? null : total / row.count;
}

export function functionsSection(data: PageData, selection: Selection): HTMLElement | null {
  if (data.functions.name.length === 0) return null;
  const chosen = (): Row[] => {
    const { phases, slices } = scopeOf(data, selection);
    if (slices !== null) return inSlices(data, slices);
    if (phases === null) return rows(data, data.functions);
    const each = phases.map((phase) => rows(data, entry(data.phase_functions, phase)));
    return each.length === 1 ? (each[0] ?? []) : together(each.flat());
  };
  let shown = chosen();
  let whole = sum(shown);
  const unitNote = el("p", { class: "note" });
  const hint = (value: number | null): string =>
    selection.unit === "time" ? `${exact(value)} ns` : `${exact(value)} instructions`;
  const table = new DataTable<Row>({
    label: "Functions",
    rows: shown,
    filterText: (row) => row.name,
    filterLabel: "Filter functions",
    sort: { id: "local", desc: true },
    empty: "No function matches.",
    columns: [
      {
        id: "function",
        title: "Function",
        value: (row) => row.name,
        cell: (row) =>
          el("span", { class: "named code" }, swatch(kindFill(row.kind, row.name)), el("span", {}, row.name)),
        hint: (row) => `${row.name} – ${kindTitle(row.kind)}`,
      },
      counts("count", "Count", (row) => row.count, "Entries"),
      {
        id: "time",
        title: "Time",
        meaning: "With everything it called; a recursion counts once",
        number: true,
        value: (row) => row.total[selection.unit],
        cell: (row) => amount(row.total[selection.unit], selection.unit),
        hint: (row) => `${hint(row.total[selection.unit])}, ${share(row.total[selection.unit], whole[selection.unit])}`,
      },
      numbers(
        "average",
        "Average",
        (row) => average(row, selection.unit),
        (row) => amount(average(row, selection.unit), selection.unit),
        "Time / Count",
      ),
      {
        id: "local",
        title: "Local",
        meaning: "Without what it called; over all functions this adds up to the whole",
        number: true,
        value: (row) => row.self[selection.unit],
        cell: (row) => amount(row.self[selection.unit], selection.unit),
        hint: (row) => hint(row.self[selection.unit]),
      },
      numbers(
        "share",
        "Local share",
        (row) => row.self[selection.unit],
        (row) => meter(row.self[selection.unit], whole[selection.unit]),
        "Local, of the boot or of the chosen phase",
      ),
      {
        id: "max_sub",
        title: "Max-sub",
        meaning: "The direct callee with the largest Time of its own",
        value: (row) => row.maxSub,
        cell: (row) => el("span", { class: "code" }, row.maxSub || "–"),
      },
      counts("ms_count", "Ms count", (row) => row.maxSubCount, "How often Max-sub was called from this function"),
      ...machineColumn(data),
    ],
  });
  const note = (): void => {
    const unit = selection.unit === "time" ? timeName(data) : "instructions";
    unitNote.textContent = `Time, Average and Local in ${scopeOf(data, selection).text}, in ${unit}.`;
  };
  note();
  let counted = scopeOf(data, selection).text;
  selection.onChange(() => {
    note();
    const scope = scopeOf(data, selection).text;
    if (counted !== scope) {
      counted = scope;
      shown = chosen();
      whole = sum(shown);
    }
    table.setRows([...shown]);
  });
  const lead = "Every function that ran, over all the paths to it. Click a head to sort; Local adds up to the whole.";
  const element = section("functions", "Functions", lead, unitNote, table.element);
  return Object.assign(element, { firstlight: { between: (from: number, to: number) => between(data, from, to) } });
}

/** The marker of what the emulated machine adds; no column where it adds to no function. */
function machineColumn(data: PageData): TableColumn<Row>[] {
  if (!data.functions.machine.some((cost) => cost >= 0)) return [];
  return [
    {
      id: "machine",
      title: "Machine's",
      meaning: "The cost of the emulated machine that most of Local is",
      value: (row) => row.machine,
      cell: (row) => (row.machine ? el("a", { href: "#machine", class: "code" }, row.machine) : ""),
    },
  ];
}

function sum(all: Row[]): Record<Unit, number> {
  return {
    instructions: all.reduce((total, row) => total + (row.self.instructions ?? 0), 0),
    time: all.reduce((total, row) => total + (row.self.time ?? 0), 0),
  };
}
