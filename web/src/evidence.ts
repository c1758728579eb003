/** The rest of the record: initcalls, console, facts, and the checks that the profile passed. */

import { code, durations, instants, instructionCounts, numbers } from "./columns";
import { el, section } from "./dom";
import { exact, stamp, time, words } from "./format";
import { DataTable } from "./table";
import { block, consoleLine, visible } from "./text";
import type { Invariant, PageData } from "./types";

export function initcallsSection(data: PageData): HTMLElement | null {
  const { initcalls: spans } = data;
  if (spans.name.length === 0) return null;
  const length = (i: number): number | null => {
    const [start, end] = [spans.start_ns[i], spans.end_ns[i]];
    return start === null || start === undefined || end === null || end === undefined ? null : end - start;
  };
  const table = new DataTable<number>({
    label: "Initcalls",
    rows: spans.name.map((_, i) => i),
    filterText: (i) => `${spans.name[i]} ${spans.level[i] ?? ""}`,
    filterLabel: "Filter initcalls",
    sort: { id: "duration", desc: true },
    step: 25,
    empty: "No initcall was recorded, or nothing matches.",
    columns: [
      code("name", "Initcall", (i) => visible(spans.name[i] ?? "")),
      { id: "level", title: "Level", value: (i) => visible(spans.level[i] ?? "–") },
      instants("start", "Start (s)", (i) => spans.start_ns[i]),
      {
        ...durations("duration", "Duration", length, "From entry to return, waiting included"),
        cell: (i) => (length(i) === null ? "did not end" : time(length(i))),
      },
      instructionCounts("instructions", "Instructions", (i) => spans.instructions[i]),
      durations("idle", "of it idle", (i) => spans.idle_ns[i]),
      { id: "track", title: "Ran on", value: (i) => visible(spans.track[i] ?? "") },
    ],
  });
  const all = spans.rows ?? spans.name.length;
  const fewer =
    all > spans.name.length
      ? ` The ${exact(spans.name.length)} longest of ${exact(all)} are here; the bundle has all.`
      : "";
  return section(
    "initcalls",
    "Initcalls",
    `What the kernel's parts and drivers did when they were set up, one row per call.${fewer}`,
    table.element,
  );
}

export function logSection(data: PageData): HTMLElement | null {
  const { log } = data;
  if (log.text.length === 0) return null;
  const table = new DataTable<number>({
    label: "Console",
    rows: log.text.map((_, i) => i),
    filterText: (i) => log.text[i] ?? "",
    filterLabel: "Filter the console",
    step: 60,
    empty: "The console printed nothing, or nothing matches.",
    columns: [
      numbers(
        "time",
        "Time (s)",
        (i) => log.time_ns[i],
        (i) => stamp(log.time_ns[i]) || "–",
      ),
      {
        id: "text",
        title: "Line",
        value: (i) => log.text[i] ?? "",
        cell: (i) => el("span", { class: "code wrap" }, consoleLine(log.text[i] ?? "")),
      },
    ],
  });
  const cut =
    log.lines > log.text.length
      ? ` The first and the last ${exact(log.text.length / 2)} of ${exact(log.lines)} lines are here; the bundle has all.`
      : "";
  return section(
    "log",
    "Console",
    `What the boot printed, with the instant of each line's first byte.${cut}`,
    table.element,
  );
}

export function factsSection(data: PageData): HTMLElement | null {
  const { facts } = data;
  if (facts.fact.length === 0) return null;
  const table = new DataTable<number>({
    label: "Facts",
    rows: facts.fact.map((_, i) => i),
    filterText: (i) => `${facts.fact[i]} ${facts.value[i]}`,
    filterLabel: "Filter facts",
    step: 25,
    empty: "No fact was recorded, or nothing matches.",
    columns: [
      code("fact", "Fact", (i) => visible(facts.fact[i] ?? "")),
      {
        id: "value",
        title: "Value",
        value: (i) => facts.value[i] ?? "",
        cell: (i) => el("span", { class: "code wrap tall" }, block(facts.value[i] ?? "")),
      },
    ],
  });
  const cut =
    facts.facts > facts.fact.length
      ? ` ${exact(facts.fact.length)} of ${exact(facts.facts)} are here; the bundle has all.`
      : "";
  const who =
    data.boot.mode === "imported"
      ? "What the records say of the machine."
      : "What the guest said of itself at the end of the boot.";
  return section("facts", "Facts", `${who}${cut}`, table.element);
}

function brokenText(check: Invariant): string {
  const limit = check.limit === null ? "" : `At most ${exact(check.limit)} holds. `;
  const names = check.functions.slice(0, 5).map((name) => visible(name));
  const more = check.functions.length > 5 ? ` and ${check.functions.length - 5} more` : "";
  return `${limit}Concerns ${visible(check.concerns)}.${names.length > 0 ? ` Names ${names.join(", ")}${more}.` : ""}`;
}

export function checksSection(data: PageData): HTMLElement | null {
  const items = data.invariants.map((check) =>
    el(
      "li",
      { class: check.holds ? "good" : "bad" },
      el("span", { class: "sign", "aria-hidden": "true" }, check.holds ? "✓" : "✗"),
      el("span", {}, visible(words(check.name))),
      el("span", { class: "verdict" }, check.holds ? "holds" : "does not hold"),
      el("span", { class: "code" }, visible(check.value)),
      check.holds ? null : el("span", { class: "broken" }, brokenText(check)),
    ),
  );
  const list = items.length > 0 ? el("ul", { class: "checks" }, ...items) : null;
  const repeat = data.boot.repeat
    ? el("p", { class: "repeat" }, "This boot again: ", el("code", {}, visible(data.boot.repeat, 5000)))
    : null;
  if (!list && !repeat) return null;
  return list
    ? section("checks", "Checks", "What must hold of the profile, tested on this very record.", list, repeat)
    : section("checks", "Repeat", "The command that made this bundle.", repeat);
}

/** What a page could show and this boot does not have, in one line. */
export function absentLine(data: PageData): HTMLElement | null {
  const { timing } = data;
  const parts: [number, string][] = [
    [data.tree.parent.length, "a profile of functions"],
    [data.initcalls.name.length, "initcalls"],
    [data.processes.rows, "processes"],
    [timing.devices.name.length, "probes of devices"],
    [timing.uevents.name.length, "uevents"],
    [timing.units.name.length, "units of systemd"],
    [data.log.text.length, "console lines"],
    [data.facts.fact.length, "facts"],
  ];
  const absent = parts.filter(([count]) => count === 0).map(([, name]) => name);
  if (absent.length === 0) return null;
  return el("p", { class: "note", id: "absent" }, `This boot has no record of ${absent.join(", ")}.`);
}
