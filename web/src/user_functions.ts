/** The functions of user mode, by file, with the system calls that each made. */
import { code, counts, instructionCounts, numbers } from "./columns";
import { scopeOfProcesses } from "./cuts";
import { el, section } from "./dom";
import { exact } from "./format";
import { meter } from "./phases";
import type { Selection } from "./selection";
import type { Range } from "./slices";
import { DataTable } from "./table";
import { visible } from "./text";
import { measure } from "./tree";
import type { PageData } from "./types";

interface Row {
  name: string;
  file: string;
  self: number;
  calls: number | null;
  below: number | null;
}

/** The functions of the whole boot, as many as the page has. */
function all(data: PageData): Row[] {
  const { name, file, self_instructions, calls, call_instructions } = data.user_functions;
  return name.map((each, i) => ({
    name: visible(each),
    file: visible(file[i] ?? ""),
    self: self_instructions[i] ?? 0,
    calls: calls[i] ?? null,
    below: call_instructions[i] ?? null,
  }));
}

/** The functions in slices of time; small ones are one row. */
function inSlices(data: PageData, range: Range): Row[] {
  const { sliced } = data;
  if (!sliced) return [];
  const every = all(data);
  const small = `(${exact(sliced.about.processes?.smaller ?? 0)} smaller functions)`;
  return [...sliced.userFunctions(range)].flatMap(([i, own]) => {
    const row = i === every.length ? { name: small, file: "" } : every[i];
    return row ? { name: row.name, file: row.file, ...own } : [];
  });
}

/** For scripts: what a selection of time counts of processes and user functions. */
function between(data: PageData, from: number, to: number) {
  const { sliced } = data;
  if (!sliced?.about.processes) return null;
  const range = sliced.snapped([from, to]);
  const own = measure({ ...data, tree: data.process_tree }, null, range);
  return {
    start_ns: sliced.start(range[0]),
    end_ns: sliced.about.end_ns[range[1]] ?? 0,
    functions: [...sliced.userFunctions(range)].map(([row, figures]) => ({ row, ...figures })),
    nodes: { calls: [...own.calls], instructions: [...own.self.instructions], time: [...own.self.time] },
  };
}

export function userFunctionsSection(data: PageData, selection: Selection): HTMLElement | null {
  const found = data.user_functions;
  if (found.rows === 0) return null;
  const chosen = (): Row[] => {
    const { slices } = scopeOfProcesses(data, selection);
    return slices === null ? all(data) : inSlices(data, slices);
  };
  let whole = found.instructions;
  const note = el("p", { class: "note" });
  const table = new DataTable<Row>({
    label: "User functions",
    rows: chosen(),
    filterText: (row) => `${row.name} ${row.file}`,
    filterLabel: "Filter user functions",
    sort: { id: "self", desc: true },
    step: 25,
    empty: "No function matches.",
    columns: [
      code("name", "Function", (row) => row.name),
      code("file", "File", (row) => row.file),
      instructionCounts("self", "Self", (row) => row.self),
      numbers(
        "share",
        "Share",
        (row) => row.self,
        (row) => meter(row.self, whole),
        "Of all instructions in user mode there",
      ),
      counts("calls", "System calls", (row) => row.calls, "System calls that the function made by itself"),
      instructionCounts("below", "Kernel in them", (row) => row.below),
    ],
  });
  let counted = "";
  const follow = (): void => {
    const { slices, text } = scopeOfProcesses(data, selection);
    if (text === counted) return;
    counted = text;
    const rows = chosen();
    whole = slices === null ? found.instructions : rows.reduce((sum, row) => sum + row.self, 0);
    note.textContent = `In ${text}: ${exact(whole)} instructions in user mode. A system call counts where it began.`;
    table.setRows(rows);
  };
  follow();
  selection.onChange(follow);
  const cut =
    found.rows > found.name.length
      ? ` The ${exact(found.name.length)} that executed most of ${exact(found.rows)} are here; the bundle has all.`
      : "";
  const lead = `Instructions in user mode by function, over all processes. A function without a name is its file and address.${cut}`;
  const element = section("user-functions", "User functions", lead, note, table.element);
  return Object.assign(element, { firstlight: { between: (from: number, to: number) => between(data, from, to) } });
}
