/** The page of one boot. */
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
import type { PageData } from "./types";
import { userFunctionsSection } from "./user_functions";

/** Draws the boot into the page. */
export function drawBoot(data: PageData, columns: Uint8Array, page: HTMLElement): void {
  if (data.slices) {
    data.sliced = new Slices(data.slices, columns, {
      nodes: data.tree.parent.length,
      functions: data.functions.name.length,
      processes: data.process_tree.parent.length,
      user_functions: data.user_functions.name.length,
    });
  }
  const selection = new Selection(data.boot.totals.instructions === null ? "time" : "instructions");
  document.title = `${visible(data.boot.name, 80)} – Firstlight`;
  page.replaceChildren(
    fills(data.phases.name.length),
    header(data),
    controls(data, selection),
    el(
      "main",
      { id: "main" },
      bootTimeline(data, columns, selection),
      phasesSection(data, selection),
      flameSection(data, selection),
      functionsSection(data, selection),
      userFunctionsSection(data, selection),
      machineSection(data),
      pathSection(data),
      initcallsSection(data),
      initcallTimeSection(data),
      devicesSection(data),
      queueSection(data),
      unitsSection(data),
      processesSection(data),
      gapsSection(data),
      logSection(data),
      factsSection(data),
      checksSection(data),
      absentLine(data),
    ),
  );
}
