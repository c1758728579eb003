/** How what the report carries is unpacked and checked. `docs/design/report-page.md` is the specification. */

import type { PageData } from "./types";

export const DATA_VERSION = 1;

/** Unpacks base64 of gzip of JSON; throws an error a person can read when it is not that. */
export async function unpack(base64: string): Promise<unknown> {
  const text = base64.trim();
  if (text === "") throw new Error("This page carries no boot: it is the empty form that Firstlight fills in.");
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** The data, if it is data of this version; damage shows here and not somewhere in a chart. */
export function check(value: unknown): PageData {
  const data = value as Partial<PageData> | null;
  if (typeof data !== "object" || data === null || data.format !== "firstlight-page") {
    throw new Error("The data in this page are not a boot.");
  }
  if (data.version !== DATA_VERSION) {
    throw new Error(
      `The data in this page have version ${String(data.version)}; the page reads version ${DATA_VERSION}.`,
    );
  }
  return data as PageData;
}

/** A record's own entry; a phase may be called `constructor`. */
export function entry<T>(record: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
