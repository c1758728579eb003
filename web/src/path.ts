/** The critical path: one bar of parts that add up, and the steps beside it. */

import { el, section } from "./dom";
import { exact, share, time, words } from "./format";
import { kindFill } from "./palette";
import { DataTable } from "./table";
import { visible } from "./text";
import type { Texts } from "./timing";
import { bounds, figure, instant, text } from "./timing_sections";
import type { PageData } from "./types";
import { waterfall } from "./waterfall";

const FILLS: Record<string, string> = {
  phase: kindFill("group", ""),
  waiting: kindFill("idle", ""),
  initcall: "var(--function-0)",
  probe: kindFill("interrupt", ""),
  async: kindFill("syscall", ""),
  uevent: kindFill("user", ""),
  unit: kindFill("exception", ""),
  running: "var(--function-1)",
  behind: kindFill("group", ""),
  idle: kindFill("idle", ""),
  process: "var(--function-2)",
  silence: kindFill("idle", ""),
};

function fill(kind: string): string {
  return (Object.hasOwn(FILLS, kind) ? FILLS[kind] : undefined) ?? kindFill("folded", "");
}

/** A column of texts where any part of the path has one. */
function recorded(id: string, title: string, values: Texts): ReturnType<typeof text>[] {
  return values.some((value) => value !== null) ? [text(id, title, values)] : [];
}

export function pathSection(data: PageData): HTMLElement | null {
  const { path } = data.timing;
  if (path.name.length === 0) return null;
  const sum = path.duration_ns.reduce((a, b) => a + b, 0);
  const span = { from: path.start_ns[0] ?? bounds(data).from, to: path.end_ns.at(-1) ?? bounds(data).to };
  const lanes = path.name.map((name, i) => ({
    name,
    // Silences differ by the line that ends them.
    ...(path.kind[i] === "silence" && path.after[i] ? { label: `→ ${path.after[i]}` } : {}),
    text:
      `${name}: ${time(path.duration_ns[i])}${path.during[i] ? `; meanwhile ${path.during[i]}` : ""}` +
      (path.before[i] ? `\nbefore: ${path.before[i]}` : "") +
      (path.after[i] ? `\nafter: ${path.after[i]}` : ""),
    parts: [{ start: path.start_ns[i] ?? 0, end: path.end_ns[i] ?? 0, fill: fill(path.kind[i] ?? "") }],
  }));
  const kinds = [...new Set(path.kind)].filter((kind) => kind !== "");
  const chart = waterfall(
    "The critical path over time",
    lanes,
    span,
    kinds.map((kind) => [fill(kind), visible(kind)]),
  );
  const parts = new DataTable<number>({
    label: "The critical path",
    rows: path.name.map((_, i) => i),
    filterText: (i) => `${path.kind[i]} ${path.name[i]}`,
    filterLabel: "Filter the path",
    step: 40,
    empty: "Nothing matches.",
    columns: [
      instant(path.start_ns),
      figure("duration", "Takes", path.duration_ns),
      {
        id: "share",
        title: "Share",
        number: true,
        value: (i) => path.duration_ns[i] ?? null,
        cell: (i) => share(path.duration_ns[i], sum),
      },
      text("kind", "Kind", path.kind),
      text("name", "Part", path.name, true),
      ...recorded("edge", "Edge", path.edge),
      ...recorded("reason", "Slept for", path.reason),
      ...recorded("service", "Service", path.service),
      ...recorded("ran", "Who had the processor", path.ran),
      ...recorded("during", "Meanwhile", path.during),
      ...recorded("before", "Line before", path.before),
      ...recorded("after", "Line after", path.after),
    ],
  });
  const { charged } = path;
  const programs = new DataTable<number>({
    label: "The recorded path, by program",
    rows: charged.name.map((_, i) => i),
    step: 20,
    columns: [
      figure("total", "Total", charged.total_ns),
      figure("ran", "ran", charged.ran_ns, "As the thread on the path"),
      figure("ahead", "ran ahead", charged.ahead_ns, "While the thread on the path could have run"),
      figure("waited", "waited", charged.waited_ns, "The thread on the path slept until a timer or a device"),
      figure("idle", "idle", charged.idle_ns, "Nothing executed"),
      text("program", "Program", charged.name, true),
      text("programService", "Service", charged.service),
    ],
  });
  const { processor } = path;
  const who = new DataTable<number>({
    label: "Who had the processor on the path",
    rows: processor.name.map((_, i) => i),
    step: 20,
    columns: [
      figure("executed", "Executed", processor.run_ns),
      figure(
        "unexplained",
        "Unexplained",
        processor.unexplained_ns,
        "In parts of kind running: no recorded step was on the path",
      ),
      text("kind", "Kind", processor.kind),
      text("name", "Name", processor.name, true),
    ],
  });
  const { load } = path;
  const limited = new DataTable<number>({
    label: "What limited the boot",
    rows: load.bound.map((_, i) => i),
    step: 20,
    columns: [
      instant(load.start_ns),
      figure("duration", "Takes", load.duration_ns),
      text("bound", "Limited by", load.bound, true),
      figure("cpu", "CPU", load.cpu_ns, "A processor executed"),
      figure("disk", "disk", load.disk_ns, "Processors idled while a task waited for a disk"),
      figure("idle", "idle", load.idle_ns, "Neither"),
    ],
  });
  const { beside } = path;
  const near = new DataTable<number>({
    label: "Beside the path",
    rows: beside.name.map((_, i) => i),
    step: 20,
    columns: [
      figure("slack", "Slack", beside.slack_ns, "By how much it may end later before the goal is reached later"),
      figure("duration", "Takes", beside.duration_ns),
      instant(beside.start_ns),
      text("kind", "Kind", beside.kind),
      text("name", "Step", beside.name, true),
    ],
  });
  const open = path.unfinished > 0 ? ` ${exact(path.unfinished)} spans have no end and can be no part of it.` : "";
  const lead =
    `From ${visible(words(path.first), 80)} to ${visible(words(path.goal), 80)}: each step began when the one before had ended. ` +
    `The parts add up to ${time(sum)}. No record states an edge called inferred: it follows from the times.${open}`;
  return section(
    "path",
    "Critical path",
    lead,
    chart,
    parts.element,
    charged.name.length > 0
      ? el("details", {}, el("summary", {}, "The recorded path, by program"), programs.element)
      : null,
    processor.name.length > 0
      ? el("details", {}, el("summary", {}, "Who had the processor on the path"), who.element)
      : null,
    load.bound.length > 0 ? el("details", {}, el("summary", {}, "What limited the boot"), limited.element) : null,
    beside.name.length > 0 ? el("details", {}, el("summary", {}, "Least slack next to the path"), near.element) : null,
  );
}
