/** What a search found, in words. */
import { exact, time } from "../format";
import type { Log } from "./console_log";

export interface Counts {
  bars: number;
  /** How long the bars are together, in nanoseconds. */
  total: number;
  logs: Log[];
}

function plural(count: number, one: string): string {
  return `${exact(count)} ${one}${count === 1 ? "" : "s"}`;
}

/** Bars and console lines, each kind that was found. */
function kinds({ bars, total, logs }: Counts): string[] {
  const lines = logs.map(({ side, found = [] }) =>
    found.length > 0 ? `${plural(found.length, "console line")}${side ? ` of ${side}` : ""}` : "",
  );
  return [bars > 0 ? `${plural(bars, "bar")}, ${time(total)} together` : "", ...lines].filter(Boolean);
}

/** How many bars and lines there are. */
export function countText(counts: Counts): string {
  return kinds(counts).join(", and ");
}

/** Which of all finds the reader is at; `place` counts from 0. */
export function placeText(counts: Counts, place: number): string {
  const all = counts.logs.reduce((sum, { found = [] }) => sum + found.length, counts.bars);
  const of = kinds(counts).length > 1 ? `${plural(all, "find")}: ` : "";
  return `${exact(place + 1)} of ${of}${countText(counts)}`;
}
