/** The lines of a console; of a very long one a page has only the first and the last. */
import { exact } from "../format";

/** The lines of a console. */
export interface Log {
  /** Whose it is, in a page of two boots. */
  side?: "A" | "B";
  time_ns: (number | null)[];
  text: string[];
  /** How many the console has: more than the page where it has only the first and the last ones. */
  lines?: number;
  /** Those that a search found. */
  found?: number[];
}

export interface LeftOut {
  lines: number;
  /** The instants of the lines around them; those of an interval without end where these have none. */
  from: number;
  to: number;
}

/** What a page does not have of a console; null where it has all. */
export function leftOutOf({ time_ns, text, lines = text.length }: Log): LeftOut | null {
  if (lines <= text.length) return null;
  const half = text.length >> 1;
  const known = (at: number | null): at is number => at !== null;
  return {
    lines: lines - text.length,
    from: time_ns.slice(0, half).findLast(known) ?? Number.NEGATIVE_INFINITY,
    to: time_ns.slice(half).find(known) ?? Number.POSITIVE_INFINITY,
  };
}

/** Which lines of the consoles a page has, in words; empty where it has all. */
export function leftOutText(logs: Log[]): string {
  return logs
    .filter((log) => leftOutOf(log) !== null)
    .map(({ side, text, lines = 0 }) => {
      const half = text.length >> 1;
      const all = `${exact(lines)} console lines${side ? ` of ${side}` : ""}`;
      return `Of the ${all}, this page has the first ${exact(half)} and the last ${exact(text.length - half)}.`;
    })
    .join(" ");
}
