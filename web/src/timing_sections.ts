/** Initcalls over time, devices, units, gaps: a waterfall and a table each. A boot without any has no section. */

import { counts, durations, instants } from "./columns";
import { el, section } from "./dom";
import { exact, stamp, time } from "./format";
import { kindFill } from "./palette";
import { DataTable, type TableColumn } from "./table";
import { visible } from "./text";
import { type Figures, GRADES, type Texts } from "./timing";
import type { PageData } from "./types";
import { type Lane, waterfall } from "./waterfall";

const WORK = "var(--function-0)";
const WAIT = kindFill("idle", "");
const INSIDE = kindFill("interrupt", "");
const HARDWARE = kindFill("firmware", "");

type Column = TableColumn<number>;

/** The first and the last instant of the boot. */
export function bounds(data: PageData): { from: number; to: number } {
  const known = (column: Figures): number[] => column.filter((value): value is number => value !== null);
  const marks = known(data.marks.time_ns);
  const ends = known(data.phases.end_ns);
  const most = [...marks, ...ends, data.boot.totals.virtual_ns ?? 0].reduce((a, b) => Math.max(a, b), 1);
  return { from: Math.min(0, ...marks.slice(0, 1)), to: most };
}

export function text(id: string, title: string, column: Texts, code = false): Column {
  const shown = (i: number): string => visible(column[i] ?? "–");
  return {
    id,
    title,
    value: shown,
    ...(code ? { main: true, cell: (i: number) => el("span", { class: "code" }, shown(i)) } : {}),
  };
}

export function figure(id: string, title: string, column: Figures, meaning?: string): Column {
  return durations(id, title, (i) => column[i], meaning);
}

export function count(id: string, title: string, column: Figures): Column {
  return counts(id, title, (i) => column[i]);
}

export function instant(column: Figures): Column {
  return { ...instants("start", "Start (s)", (i: number) => column[i]), cell: (i) => stamp(column[i]) || "–" };
}

function trust(grade: Texts, reason?: Texts): Column {
  return {
    id: "grade",
    title: "Trust",
    meaning: "How far the duration can be believed",
    value: (i) => grade[i] ?? "",
    hint: (i) => {
      const name = grade[i] ?? "";
      const meaning = Object.hasOwn(GRADES, name) ? GRADES[name] : undefined;
      return visible(reason?.[i] ?? meaning ?? "");
    },
  };
}

function table(label: string, names: string[], columns: Column[], sort = "duration"): HTMLElement {
  return new DataTable<number>({
    label,
    rows: names.map((_, i) => i),
    filterText: (i) => names[i] ?? "",
    filterLabel: `Filter ${label.toLowerCase()}`,
    sort: { id: sort, desc: true },
    step: 25,
    empty: "Nothing matches.",
    columns,
  }).element;
}

function cut(rows: number, carried: number): string {
  return rows > carried ? ` The ${exact(carried)} longest of ${exact(rows)} are here; the bundle has all.` : "";
}

export function initcallTimeSection(data: PageData): HTMLElement | null {
  const calls = data.timing.initcalls;
  const lanes: Lane[] = calls.name.flatMap((name, i) => {
    const start = calls.start_ns[i];
    if (start === null || start === undefined) return [];
    const inside = calls.probes_ns[i] ?? 0;
    const parts = [{ start, end: calls.end_ns[i] ?? null, fill: WORK }];
    if (inside > 0) parts.push({ start, end: start + inside, fill: INSIDE });
    return [{ name, text: `${name}: ${time(calls.duration_ns[i])}, of it in probes ${time(inside)}`, parts }];
  });
  const chart = waterfall("Initcalls over time", lanes, bounds(data), [
    [WORK, "initcall"],
    [INSIDE, "of it in probes of devices (how much, not when)"],
  ]);
  if (chart === null) return null;
  const lead = `When the initcalls ran. Those of modules run side by side.${cut(calls.rows, calls.name.length)}`;
  const columns = [
    text("name", "Initcall", calls.name, true),
    text("level", "Level", calls.level),
    instant(calls.start_ns),
    figure("duration", "Duration", calls.duration_ns, "The best figure that the record has"),
    trust(calls.grade, calls.reason),
    count("probes", "Probes", calls.probes),
    figure("inside", "in probes", calls.probes_ns, "The union of the probes' time: what overlaps counts once"),
    figure("self", "Self", calls.self_ns),
  ];
  // An exact recording has its initcalls with instructions in a table of their own.
  const rows = data.boot.totals.instructions === null ? table("Initcalls in time", calls.name, columns) : null;
  return section("initcalls-time", "Initcalls over time", lead, chart, rows);
}

export function devicesSection(data: PageData): HTMLElement | null {
  const devices = data.timing.devices;
  if (devices.name.length === 0) return null;
  const lanes: Lane[] = devices.name.flatMap((name, i) => {
    const [start, end, took] = [devices.start_ns[i], devices.end_ns[i] ?? null, devices.duration_ns[i]];
    if (start === null || start === undefined) return [];
    const work = end !== null && took !== null && took !== undefined ? Math.max(start, end - took) : start;
    const parts = [{ start: work, end, fill: WORK }];
    if (work > start && (devices.deferrals[i] ?? 0) > 0) parts.unshift({ start, end: work, fill: WAIT });
    return [{ name, text: `${name}: ${time(took)}, tries ${exact(devices.tries[i])}`, parts }];
  });
  const chart = waterfall("Probes of devices over time", lanes, bounds(data), [
    [WORK, "the last probe"],
    [WAIT, "deferred, from the first try on"],
  ]);
  const columns = [
    text("name", "Device", devices.name, true),
    text("driver", "Driver", devices.driver),
    count("tries", "Tries", devices.tries),
    count("deferrals", "Deferred", devices.deferrals),
    figure("waited", "Waited", devices.waited_ns, "From the first deferred try to the last try"),
    text("supplier", "Suppliers", devices.supplier),
    instant(devices.start_ns),
    figure("duration", "Probe", devices.duration_ns, "The last try"),
    trust(devices.grade),
    text("result", "Result", devices.result),
  ];
  const lead = `Probes of drivers. They run inside initcalls and workers and add up to nothing.${cut(devices.rows, devices.name.length)}`;
  return section("devices", "Devices", lead, chart, table("Devices", devices.name, columns));
}

export function unitsSection(data: PageData): HTMLElement | null {
  const units = data.timing.units;
  if (units.name.length === 0) return null;
  const lanes: Lane[] = units.name.flatMap((name, i) => {
    const [wanted, start] = [units.wanted_ns[i] ?? null, units.start_ns[i] ?? null];
    if (start === null) return [];
    const held = wanted === null ? null : wanted + (units.ordered_ns[i] ?? 0);
    const parts = [{ start, end: units.end_ns[i] ?? null, fill: WORK }];
    if (held !== null && held < start) parts.push({ start: held, end: start, fill: HARDWARE });
    if (wanted !== null && held !== null && wanted < held) parts.push({ start: wanted, end: held, fill: WAIT });
    const waited = units.waited_for[i] ? `, after ${units.waited_for[i]}` : "";
    const text = `${name}: activation ${time(units.duration_ns[i])}${waited}`;
    return [{ name, text, parts, rank: units.duration_ns[i] ?? 0, always: units.critical[i] ?? false }];
  });
  const chart = waterfall("Units over time", lanes, bounds(data), [
    [WAIT, "waiting for units before it"],
    [HARDWARE, "nothing recorded held it; of a device: waiting for hardware"],
    [WORK, "activation"],
  ]);
  const columns = [
    text("name", "Unit", units.name, true),
    instant(units.start_ns),
    figure("ordered", "ordered", units.ordered_ns, "Waiting for units that it is ordered after"),
    figure("held", "held", units.held_ns, "From then to its start: nothing recorded held it"),
    figure("hardware", "hardware", units.hardware_ns, "Of a device: waiting for its hardware"),
    figure("duration", "Activation", units.duration_ns, "From activating to active, as systemd-analyze blame has it"),
    trust(units.grade, units.reason),
    text("after", "waited for", units.waited_for),
    text("state", "State", units.state),
  ];
  const lead = `Units of systemd, waiting against working. Activations run side by side.${cut(units.rows, units.name.length)}`;
  return section("units", "Units", lead, chart, table("Units", units.name, columns));
}

export function gapsSection(data: PageData): HTMLElement | null {
  const gaps = data.timing.gaps;
  if (gaps.gap_ns.length === 0) return null;
  const columns: Column[] = [
    figure("duration", "Gap", gaps.gap_ns),
    instant(gaps.start_ns),
    text("before", "from the line", gaps.before, true),
    text("after", "to the line", gaps.after, true),
    text("running", "running", gaps.running),
  ];
  const fill = (i: number): string => `${gaps.before[i] ?? ""} ${gaps.after[i] ?? ""} ${gaps.running[i] ?? ""}`;
  const lanes: Lane[] = gaps.gap_ns.map((gap, i) => ({
    name: gaps.after[i] ?? "the last mark",
    text: `${time(gap)} before: ${gaps.after[i] ?? "the last mark"}`,
    parts: [{ start: gaps.start_ns[i] ?? 0, end: gaps.end_ns[i] ?? null, fill: WAIT }],
  }));
  const chart = waterfall("Gaps in the log", lanes, bounds(data), [[WAIT, "nothing was printed until this line"]]);
  const lead = `The longest times without a line: nothing was printed, but something may have run.${cut(gaps.rows, gaps.gap_ns.length)}`;
  return section(
    "gaps",
    "Gaps",
    lead,
    chart,
    table(
      "Gaps",
      gaps.gap_ns.map((_, i) => fill(i)),
      columns,
    ),
  );
}
