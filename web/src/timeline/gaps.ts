/** The longest times without a console line. */

/** As the data has them. */
export interface GapTimes {
  start_ns: number[];
  end_ns: number[];
  gap_ns: number[];
}

export interface Gap {
  /** Whose console, in a page of two boots. */
  side?: "A" | "B";
  from: number;
  to: number;
}

/** Gaps, the longest first. */
export function longestFirst(gaps: Gap[]): Gap[] {
  return [...gaps].sort((a, b) => b.to - b.from - (a.to - a.from));
}

/** The gaps of one console. */
export function gapsOf(rows: GapTimes): Gap[] {
  return longestFirst(rows.start_ns.map((from, i) => ({ from, to: rows.end_ns[i] ?? from })));
}

/** The gaps of both consoles on A's axis; B is moved by `offset` nanoseconds. */
export function bothGaps(a: GapTimes, b: GapTimes, offset: number): Gap[] {
  const ofA = gapsOf(a).map((gap): Gap => ({ ...gap, side: "A" }));
  const ofB = gapsOf(b).map(({ from, to }): Gap => ({ from: from + offset, to: to + offset, side: "B" }));
  return longestFirst([...ofA, ...ofB]);
}

/** What is said of a gap when the reader goes to it. */
export function gapText(length: string, place: number, count: number, side?: string): string {
  return `Gap ${place} of ${count}: ${length} without a console line${side ? ` of ${side}` : ""}`;
}
