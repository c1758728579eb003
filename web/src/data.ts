/** How what the report carries is unpacked and checked. `docs/design/report-page.md` is the specification. */

import { fromBase85, gunzipped } from "./base85";
import type { FirstData, LaterData } from "./types";

export const DATA_VERSION = 1;

/** Unpacks base 85 of gzip of JSON; throws an error a person can read when it is not that. */
export async function unpack(packed: string): Promise<unknown> {
  const text = packed.trim();
  if (text === "") throw new Error("This page carries no boot: it is the empty form that Firstlight fills in.");
  return JSON.parse(await (await gunzipped(fromBase85(text))).text());
}

/** The data, if it is data of this version; damage shows here and not somewhere in a chart. */
export function check(value: unknown): FirstData {
  const data = value as Partial<FirstData> | null;
  if (typeof data !== "object" || data === null || data.format !== "firstlight-page") {
    throw new Error("The data in this page are not a boot.");
  }
  if (data.version !== DATA_VERSION) {
    throw new Error(
      `The data in this page have version ${String(data.version)}; the page reads version ${DATA_VERSION}.`,
    );
  }
  return data as FirstData;
}

/** The second part of the data of a boot. */
export function checkLater(value: unknown): LaterData {
  if (typeof value !== "object" || value === null || !("tree" in value)) {
    throw new Error("The second part of the data in this page is not of a boot.");
  }
  return value as LaterData;
}

/** A record's own entry; a phase may be called `constructor`. */
export function entry<T>(record: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
