/** Costs of the emulated machine to the boot, with its sum, and what removes each cost. */

import { dataTable } from "./data_table";
import { section } from "./dom";
import type { PageData } from "./types";

export function machineSection(data: PageData): HTMLElement | null {
  if (data.machine === null || data.machine.rows.length === 0) return null;
  return section(
    "machine",
    "Costs of the emulated machine",
    "Costs that a current server does not have, or not as instructions. Each is counted once.",
    dataTable(data.machine),
  );
}
