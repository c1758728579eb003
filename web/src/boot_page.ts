/** The page of one boot. */
import { pause } from "./carried";
import { controls } from "./controls";
import { el } from "./dom";
import { absentLine, checksSection, factsSection, initcallsSection, logSection } from "./evidence";
import { flameSection } from "./flame";
import { functionsSection } from "./functions";
import { header } from "./header";
import { machineSection } from "./machine";
import { fills } from "./palette";
import { pathSection } from "./path";
import { phasesSection } from "./phases";
import { processesSection } from "./processes";
import { queueSection } from "./queue";
import { Selection } from "./selection";
import { Slices } from "./slices";
import { visible } from "./text";
import { bootTimeline } from "./timeline/boot";
import { devicesSection, gapsSection, initcallTimeSection, unitsSection } from "./timing_sections";
import type { FirstData, LaterData, PageData } from "./types";
import { userFunctionsSection } from "./user_functions";

/** The sections below the timeline, from the top. */
const SECTIONS: ((data: PageData, selection: Selection) => HTMLElement | null)[] = [
  phasesSection,
  flameSection,
  functionsSection,
  userFunctionsSection,
  machineSection,
  pathSection,
  initcallsSection,
  initcallTimeSection,
  devicesSection,
  queueSection,
  unitsSection,
  processesSection,
  gapsSection,
  logSection,
  factsSection,
  checksSection,
  absentLine,
];

/**
 * Draws the head of the page and the timeline, from the first part of the data. The answer draws all other sections from
 * the second part, one at a time, so that the page can be used meanwhile.
 */
export function drawBoot(
  first: FirstData,
  columns: Uint8Array,
  page: HTMLElement,
): (later: LaterData, sliced: Uint8Array) => Promise<void> {
  const selection = new Selection(first.boot.totals.instructions === null ? "time" : "instructions");
  document.title = `${visible(first.boot.name, 80)} – Firstlight`;
  const bar = controls(first, selection);
  selection.keep(first.phases.name);
  const timeline = bootTimeline(first, columns, selection);
  const main = el("main", { id: "main" }, timeline?.element);
  page.replaceChildren(fills(first.phases.name.length), header(first), bar, main);
  timeline?.chart.relayout();
  return async (later, sliced) => {
    const data: PageData = { ...first, ...later };
    await pause();
    if (data.slices) {
      data.sliced = new Slices(data.slices, sliced, {
        nodes: data.tree.parent.length,
        functions: data.functions.name.length,
        processes: data.process_tree.parent.length,
        user_functions: data.user_functions.name.length,
      });
    }
    for (const section of SECTIONS) {
      await pause();
      const made = section(data, selection);
      if (made) main.append(made);
    }
  };
}
