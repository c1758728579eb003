/** The tree and the functions in slices of time, read from their columns. `docs/design/report-page.md` specifies them. */

import { Varints } from "./varints";

export interface SlicesDescription {
  /** The ends of the slices; each begins where the one before ends, the first at 0. */
  end_ns: number[];
  instructions: number[];
  idle_ns: number[];
  /** How many slices the recording has; the page may have put neighbours together. */
  recorded: number;
  /** An instruction takes 2 to the power of this in nanoseconds. */
  shift: number;
  /** The node and the row that idle time belongs to, and all rows whose total has it; -1 for none. */
  idle_node: number;
  idle_function: number;
  idle_functions: number[];
  /** How many functions are together in the row behind the last one. */
  smaller: number;
  /** The same of processes and user functions; null where these were not followed, or not in slices. */
  processes: { idle_node: number; smaller: number } | null;
  bytes: number;
}

/** Rows in the order of their keys: a node or a function, a slice, and figures. */
interface Rows {
  key: Uint32Array;
  slice: Uint32Array;
  figures: Float64Array[];
}

/** Slices from one to another, both among them. */
export type Range = readonly [number, number];

/** What one function did in some slices. */
export interface Own {
  count: number;
  total: number;
  self: number;
}

/** What one user function did in some slices: its own instructions, the calls that it made, and the kernel's in them. */
export interface UserOwn {
  self: number;
  calls: number;
  below: number;
}

/** How many nodes and functions have rows. */
export interface Sizes {
  nodes: number;
  functions: number;
  processes: number;
  user_functions: number;
}

function within(slice: number | undefined, [first, last]: Range): boolean {
  return slice !== undefined && first <= slice && slice <= last;
}

export class Slices {
  readonly about: SlicesDescription;
  readonly #nodes: Rows;
  readonly #functions: Rows;
  readonly #processes: Rows | null;
  readonly #userFunctions: Rows | null;

  /** Of trees and tables of these sizes. */
  constructor(about: SlicesDescription, columns: Uint8Array, sizes: Sizes) {
    this.about = about;
    const numbers = new Varints(columns, "slices", columns.length - about.bytes);
    const rows = (keys: number, figures: number): Rows => {
      const heights = Array.from({ length: keys }, numbers.next);
      const size = heights.reduce((sum, height) => sum + height, 0);
      numbers.need(size);
      const key = new Uint32Array(size);
      const slice = new Uint32Array(size);
      let i = 0;
      heights.forEach((height, each) => {
        let before = 0;
        for (const end = i + height; i < end; i++) {
          before += numbers.next();
          key[i] = each;
          slice[i] = before;
        }
      });
      return { key, slice, figures: Array.from({ length: figures }, () => new Float64Array(size).map(numbers.next)) };
    };
    this.#nodes = rows(sizes.nodes, 2);
    this.#functions = rows(sizes.functions + 1, 3);
    this.#processes = about.processes && rows(sizes.processes, 2);
    this.#userFunctions = about.processes && rows(sizes.user_functions + 1, 3);
  }

  /** Where a slice begins. */
  start(slice: number): number {
    return slice > 0 ? (this.about.end_ns[slice - 1] ?? 0) : 0;
  }

  /** The slices between the edges nearest to both instants; where these leave none, the one with the middle. */
  snapped([from, to]: readonly [number, number]): Range {
    const { end_ns } = this.about;
    const near = (time: number, edge: (slice: number) => number): number => {
      let best = 0;
      for (let i = 1; i < end_ns.length; i++) if (Math.abs(edge(i) - time) < Math.abs(edge(best) - time)) best = i;
      return best;
    };
    const first = near(from, (i) => this.start(i));
    const last = near(to, (i) => end_ns[i] ?? 0);
    if (last >= first) return [first, last];
    const middle = (from + to) / 2;
    const inside = end_ns.findIndex((end, i) => this.start(i) <= middle && middle < end);
    return inside < 0 ? [last, last] : [inside, inside];
  }

  /** Instructions and idle time of slices. */
  sums([first, last]: Range): { instructions: number; idle: number } {
    let [instructions, idle] = [0, 0];
    for (let i = first; i <= last; i++) {
      instructions += this.about.instructions[i] ?? 0;
      idle += this.about.idle_ns[i] ?? 0;
    }
    return { instructions, idle };
  }

  /** Nanoseconds that instructions take. */
  time(instructions: number): number {
    return instructions * 2 ** this.about.shift;
  }

  /** What each node of a tree did by itself in each slice, in nanoseconds; the nodes of a slice in ascending order. */
  byTime(tree: "calls" | "processes"): { from: number; nodes: number[]; own: number[] }[] {
    const rows = tree === "processes" ? this.#processes : this.#nodes;
    const idleNode = tree === "processes" ? (this.about.processes?.idle_node ?? -1) : this.about.idle_node;
    const made = this.about.end_ns.map((_, slice) => ({
      from: this.start(slice),
      nodes: [] as number[],
      own: [] as number[],
    }));
    rows?.key.forEach((node, i) => {
      const slice = made[rows.slice[i] ?? -1];
      const executed = rows.figures[1]?.[i] ?? 0;
      if (executed <= 0) return;
      slice?.nodes.push(node);
      slice?.own.push(this.time(executed));
    });
    this.about.idle_ns.forEach((idle, i) => {
      if (idle <= 0 || idleNode < 0) return;
      made[i]?.nodes.push(idleNode);
      made[i]?.own.push(idle);
    });
    return made;
  }

  /** What each node of a tree did by itself: its number, calls, instructions and time. */
  eachNode(
    range: Range,
    put: (node: number, calls: number, executed: number, ns: number) => void,
    tree: "calls" | "processes" = "calls",
  ): void {
    const rows = tree === "processes" ? this.#processes : this.#nodes;
    if (!rows) return;
    const { key, slice, figures } = rows;
    for (let i = 0; i < key.length; i++) {
      if (!within(slice[i], range)) continue;
      const executed = figures[1]?.[i] ?? 0;
      put(key[i] ?? 0, figures[0]?.[i] ?? 0, executed, this.time(executed));
    }
    const { idle } = this.sums(range);
    const idleNode = tree === "processes" ? (this.about.processes?.idle_node ?? -1) : this.about.idle_node;
    if (idle > 0) put(idleNode, 0, 0, idle);
  }

  /** What each user function did, by its row in the table of the boot; the small ones are the row behind the last. */
  userFunctions(range: Range): Map<number, UserOwn> {
    const found = new Map<number, UserOwn>();
    if (!this.#userFunctions) return found;
    const { key, slice, figures } = this.#userFunctions;
    for (let i = 0; i < key.length; i++) {
      if (!within(slice[i], range)) continue;
      const row = key[i] ?? 0;
      const own = found.get(row) ?? { self: 0, calls: 0, below: 0 };
      own.self += figures[0]?.[i] ?? 0;
      own.calls += figures[1]?.[i] ?? 0;
      own.below += figures[2]?.[i] ?? 0;
      found.set(row, own);
    }
    return found;
  }

  /** What each function did, by its row in the function table of the boot; the small ones are the row behind the last. */
  functions(range: Range): Map<number, Own> {
    const { key, slice, figures } = this.#functions;
    const found = new Map<number, Own>();
    for (let i = 0; i < key.length; i++) {
      if (!within(slice[i], range)) continue;
      const row = key[i] ?? 0;
      const own = found.get(row) ?? { count: 0, total: 0, self: 0 };
      const self = figures[2]?.[i] ?? 0;
      own.count += figures[0]?.[i] ?? 0;
      own.total += self + (figures[1]?.[i] ?? 0);
      own.self += self;
      found.set(row, own);
    }
    if (this.sums(range).idle > 0) {
      for (const row of this.about.idle_functions) {
        if (!found.has(row)) found.set(row, { count: 0, total: 0, self: 0 });
      }
    }
    return found;
  }
}
