/** What the emulated machine adds to the boot, with its sum, and what removes each cost. */

import { dataTable } from "./data_table";
import { section } from "./dom";
import type { PageData } from "./types";

export function machineSection(data: PageData): HTMLElement | null {
  if (data.machine === null || data.machine.rows.length === 0) return null;
  return section(
    "machine",
    "What the emulated machine adds",
    "Costs that a current server does not have, or not as instructions. Each is counted once.",
    dataTable(data.machine),
  );
}
