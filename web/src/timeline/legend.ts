/** What the colours of a timeline mean: next to the picture, and in the file of a drawing. */
import { el } from "../dom";
import type { Timeline } from "./data";
import { LOOK } from "./lane";

export interface Meaning {
  /** The look of a bar, or one of the signs over bars. */
  sign: keyof typeof LOOK | "critical" | "unsure";
  text: string;
}

/** The colours and signs that a timeline has. */
export function meanings(timeline: Timeline): Meaning[] {
  const lanes = timeline.tracks.flatMap((track) => track.lanes);
  const looks = lanes.reduce((all, lane) => all | lane.looks, 0);
  const has = (look: number): boolean => ((looks >> look) & 1) === 1;
  const path = timeline.tracks.filter((track) => track.role === "path").flatMap((track) => track.lanes);
  const other = path.some((lane) => ((lane.looks >> LOOK.other) & 1) === 1);
  const unsure = timeline.tracks.some((track) => (track.unsure ?? []).length > 0);
  const all: [boolean, Meaning["sign"], string][] = [
    [lanes.some((lane) => lane.critical), "critical", "on the critical path"],
    [has(LOOK.running), "running", "had the processor"],
    [other, "other", "on the path; the record does not show what had the processor"],
    [has(LOOK.life), "life", "existed"],
    [has(LOOK.waiting), "waiting", "waiting or idle"],
    [has(LOOK.deferred), "deferred", "deferred or held back"],
    [has(LOOK.call), "call", "system call"],
    [has(LOOK.work), "work", "at work"],
    [unsure, "unsure", "no record shows when one phase ended and the next began"],
  ];
  return all.filter(([shown]) => shown).map(([, sign, text]) => ({ sign, text }));
}

export function legend(timeline: Timeline): HTMLElement {
  const items = meanings(timeline).map(({ sign, text }) =>
    el("li", {}, el("span", { class: `tl-sample of-${sign}` }), text),
  );
  return el("ul", { class: "legend", "aria-label": "Colours of the timeline" }, ...items);
}
