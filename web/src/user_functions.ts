/** The functions of user mode, by file, with the system calls that each made. */
import { code, counts, instructionCounts, numbers } from "./columns";
import { section } from "./dom";
import { exact } from "./format";
import { meter } from "./phases";
import { DataTable } from "./table";
import { visible } from "./text";
import type { PageData } from "./types";

export function userFunctionsSection(data: PageData): HTMLElement | null {
  const found = data.user_functions;
  if (found.rows === 0) return null;
  const table = new DataTable<number>({
    label: "User functions",
    rows: found.name.map((_, i) => i),
    filterText: (i) => visible(`${found.name[i]} ${found.file[i]}`),
    filterLabel: "Filter user functions",
    sort: { id: "self", desc: true },
    step: 25,
    empty: "No function matches.",
    columns: [
      code("name", "Function", (i) => visible(found.name[i] ?? "")),
      code("file", "File", (i) => visible(found.file[i] ?? "")),
      instructionCounts("self", "Self", (i) => found.self_instructions[i]),
      numbers(
        "share",
        "Share",
        (i) => found.self_instructions[i],
        (i) => meter(found.self_instructions[i] ?? null, found.instructions),
        "Of all instructions in user mode",
      ),
      counts("calls", "System calls", (i) => found.calls[i], "System calls that the function made by itself"),
      instructionCounts("below", "Kernel in them", (i) => found.call_instructions[i]),
    ],
  });
  const cut =
    found.rows > found.name.length
      ? ` The ${exact(found.name.length)} that executed most of ${exact(found.rows)} are here; the bundle has all.`
      : "";
  const lead =
    "Instructions in user mode by function, over all processes. A function without a name is its file and address. " +
    `All of them add up to the ${exact(found.instructions)} instructions of user mode.${cut}`;
  return section("user-functions", "User functions", lead, table.element);
}
