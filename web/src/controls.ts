/** The bar that stays on top: the ways into the page, the phase and the unit. */

import { el } from "./dom";
import { words } from "./format";
import type { Selection } from "./selection";
import { visible } from "./text";
import type { FirstData } from "./types";

const PLACES: [string, string][] = [
  ["timeline", "Timeline"],
  ["phases", "Phases"],
  ["flame", "Flame graph"],
  ["functions", "Functions"],
  ["user-functions", "User functions"],
  ["machine", "Machine"],
  ["path", "Path"],
  ["initcalls", "Initcalls"],
  ["devices", "Devices"],
  ["udev", "udev"],
  ["units", "Units"],
  ["processes", "Processes"],
  ["gaps", "Gaps"],
  ["log", "Console"],
  ["facts", "Facts"],
];

export function controls(data: FirstData, selection: Selection): HTMLElement {
  const { rows } = data.later;
  const empty: Record<string, boolean> = {
    timeline: data.timeline.tracks.length === 0,
    machine: data.machine === null || data.machine.rows.length === 0,
    initcalls: rows.initcalls === 0,
    processes: rows.processes === 0,
    log: data.log.text.length === 0,
    facts: rows.facts === 0,
    flame: rows.flame === 0,
    functions: rows.functions === 0,
    "user-functions": rows["user-functions"] === 0,
    devices: data.timing.devices.name.length === 0,
    udev: data.timing.uevents.name.length === 0,
    units: data.timing.units.name.length === 0,
    gaps: data.timing.gaps.gap_ns.length === 0,
    path: data.timing.path.name.length === 0,
  };
  const links = PLACES.filter(([id]) => empty[id] !== true).map(([id, title]) => el("a", { href: `#${id}` }, title));
  const whole = el("option", { value: "" }, "Whole boot");
  const phases = data.phases.name.map((name, i) => el("option", { value: i }, visible(words(name), 60)));
  const phase = el("select", { id: "phase" }, whole, ...phases);
  phase.addEventListener("change", () => {
    selection.phase = phase.value === "" ? null : (data.phases.name[Number(phase.value)] ?? null);
  });
  const known = {
    instructions: data.boot.totals.instructions !== null,
    time: data.later.timed,
  };
  const unit = (value: "instructions" | "time", title: string): HTMLElement => {
    const attributes = { type: "radio", name: "unit", value, checked: value === selection.unit };
    const radio = el("input", { ...attributes, disabled: !known[value] });
    radio.addEventListener("change", () => {
      selection.unit = value;
    });
    return el("label", {}, radio, el("span", {}, title));
  };
  const units = [unit("instructions", "Instructions"), unit("time", data.boot.virtual ? "Virtual time" : "Time")];
  selection.onChange(() => {
    phase.value = selection.phase === null ? "" : String(data.phases.name.indexOf(selection.phase));
    for (const each of units) {
      const radio = each.querySelector("input");
      if (radio) radio.checked = radio.value === selection.unit;
    }
  });
  return el(
    "nav",
    { class: "controls", "aria-label": "The page" },
    el("div", { class: "places" }, ...links),
    el("label", { class: "choice", for: "phase" }, "Phase ", phase),
    el("fieldset", { class: "units" }, el("legend", { class: "unseen" }, "Unit"), ...units),
  );
}
