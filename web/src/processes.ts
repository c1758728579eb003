/** Processes: a chart of what each did over time, as bootchart drew it, and a table. */
import { section } from "./dom";
import { exact, time } from "./format";
import { kindFill } from "./palette";
import { DataTable } from "./table";
import { visible } from "./text";
import { bounds, count, figure, instant, text } from "./timing_sections";
import type { PageData } from "./types";
import { type Lane, type Part, waterfall } from "./waterfall";

const FILLS = ["var(--function-0)", kindFill("firmware", ""), kindFill("idle", ""), kindFill("interrupt", "")] as const;
const UNKNOWN = 3;
const DEEPEST = 8;

export function processesSection(data: PageData): HTMLElement | null {
  const found = data.processes;
  if (found.rows === 0) return null;
  const lanes: Lane[] = found.name.map((name, i) => {
    const triples = found.parts[i] ?? [];
    const parts: Part[] = [];
    for (let at = 0; at + 2 < triples.length; at += 3) {
      parts.push({ start: triples[at + 1] ?? 0, end: triples[at + 2] ?? 0, fill: FILLS[triples[at] ?? 0] ?? FILLS[0] });
    }
    // What waited is drawn first, so that short runs stay visible.
    parts.sort((a, b) => FILLS.indexOf(b.fill) - FILLS.indexOf(a.fill));
    const figures = `CPU ${time(found.cpu_ns[i])}, waited ${time(found.wait_ns[i])}, system calls ${exact(found.calls[i])}`;
    const indent = "· ".repeat(Math.min(found.depth[i] ?? 0, DEEPEST));
    return {
      name: `${indent}${name}`,
      text: `${name}, PID ${found.pid[i]}: ${figures}`,
      parts,
      rank: found.cpu_ns[i] ?? 0,
    };
  });
  const states = found.parts.flatMap((triples) => triples.filter((_, at) => at % 3 === 0));
  const legend: [string, string][] = [];
  if (states.some((state) => state !== UNKNOWN)) {
    legend.push([FILLS[0], "running"], [FILLS[1], "ready to run"], [FILLS[2], "blocked"]);
  }
  if (states.includes(UNKNOWN)) {
    legend.push([FILLS[UNKNOWN], "from its start to its end; what it did is not recorded"]);
  }
  const chart = waterfall("Processes over time", lanes, bounds(data), legend);
  const table = new DataTable<number>({
    label: "Processes",
    rows: found.name.map((_, i) => i),
    filterText: (i) =>
      visible(`${found.name[i]} ${found.comm[i]} ${found.image[i]} ${found.service[i]} ${found.pid[i]}`),
    filterLabel: "Filter processes",
    sort: { id: "cpu", desc: true },
    step: 25,
    empty: "Nothing matches.",
    columns: [
      text("name", "Process", found.name, true),
      { id: "pid", title: "PID", number: true, value: (i) => found.pid[i] ?? null },
      text("comm", "Name", found.comm),
      text("image", "Executable", found.image),
      text("by", "created by", found.started_by, true),
      text("service", "Service", found.service),
      instant(found.start_ns),
      figure("cpu", "CPU", found.cpu_ns, "It had the processor, interrupts included"),
      figure("wait", "Wait", found.wait_ns, "From its start to its end without the processor"),
      count("user", "User", found.user_instructions),
      count("kernel", "Kernel", found.kernel_instructions),
      count("interrupts", "Interrupts", found.interrupt_instructions),
      count("calls", "Calls", found.calls),
    ],
  });
  const cut =
    found.rows > found.name.length
      ? ` The ${exact(found.name.length)} that executed most of ${exact(found.rows)} are here; the bundle has all.`
      : "";
  const sums =
    data.boot.totals.instructions === null
      ? ""
      : " Instructions of all of them and of what came before the kernel are those of the boot.";
  const lead = `Each below the one that created it.${sums}${cut}`;
  return section("processes", "Processes", lead, chart, table.element);
}
