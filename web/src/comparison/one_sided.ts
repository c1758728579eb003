/** What is in one of two boots only, by function. */
import { code, counts, durations } from "../columns";
import { el } from "../dom";
import { exact } from "../format";
import { DataTable } from "../table";
import { visible } from "../text";
import { type OnlyRow, type OnlySum, rowName } from "./data";
import { fine } from "./signed";

/** One function that is in one boot only, over all the places that it was called from. */
interface OnlyFunction {
  name: string;
  took: number;
  calls: number | null;
  places: number;
  elsewhere: boolean;
  /** The place where it took most. */
  most: OnlyRow;
}

function byFunction(rows: OnlyRow[], side: "a" | "b"): OnlyFunction[] {
  const found = new Map<string, OnlyFunction>();
  for (const row of rows) {
    const took = side === "a" ? row.total_a_ns : row.total_b_ns;
    const calls = (side === "a" ? row.a : row.b)?.calls ?? null;
    const name = rowName(row);
    const known = found.get(name);
    if (known === undefined) {
      found.set(name, { name: visible(name), took, calls, places: 1, elsewhere: row.elsewhere, most: row });
      continue;
    }
    // The rows come with the largest first.
    known.took += took;
    known.calls = known.calls === null || calls === null ? null : known.calls + calls;
    known.places += 1;
  }
  return [...found.values()];
}

/** The table of what is only in one boot, the largest first. */
export function onlyTable(id: string, rows: OnlyRow[], sum: OnlySum, side: "a" | "b"): HTMLElement {
  const callers = (row: OnlyFunction): string => visible(row.most.path.slice(-5, -1).reverse().join(" ‹ "));
  const elsewhere = (row: OnlyFunction): string => {
    if (row.elsewhere) return side === "a" ? "is called elsewhere in B" : "was called elsewhere in A";
    return side === "a" ? "is gone" : "is new";
  };
  const table = new DataTable<OnlyFunction>({
    label: side === "a" ? "Vanished: only in A" : "New: only in B",
    key: `${id}.${side}`,
    rows: byFunction(rows, side),
    filterText: (row) => `${row.name} ${row.most.path.join(" ")}`,
    filterLabel: side === "a" ? "Filter what vanished" : "Filter what is new",
    sort: { id: "took", desc: true },
    step: 20,
    empty: "Nothing matches.",
    columns: [
      code("function", "Function", (row) => row.name),
      { ...durations("took", "With callees", (row) => row.took), cell: (row) => fine(row.took) },
      counts("calls", "Calls", (row) => row.calls),
      counts(
        "places",
        "Contexts",
        (row) => row.places,
        "Call paths on which it is the outermost that is in one boot only",
      ),
      {
        id: "elsewhere",
        title: "The function",
        meaning: "Whether the function itself is in one boot only, or only these calls of it",
        value: (row) => elsewhere(row),
      },
      {
        ...code("callers", "mainly called by", callers),
        hint: (row) => visible(row.most.path.join(" › "), 2000),
      },
    ],
  });
  const left = sum.count - rows.length;
  const small = left > 0 ? `, of which the ${exact(left)} smallest have no row here` : "";
  const what = side === "a" ? "are only in A, where they took" : "are only in B, where they take";
  const note = `${exact(sum.count)} call paths ${what} ${fine(sum.total_ns)} with their callees${small}.`;
  return el(
    "div",
    { class: "level" },
    el("h3", {}, side === "a" ? "Only in A" : "Only in B"),
    table.element,
    el("p", { class: "note" }, note),
  );
}
