/**
 * The sliced call tree in the order of time, one lane for each depth: what is on the stack at a place of the axis.
 *
 * Each slice is divided exactly: a frame is as long as its function and all that it called took in that slice. The order
 * within a slice is not recorded. There, frames stand in the order of their first call, but what also ran in the slice
 * before begins at the left edge, and what runs in the next one ends at the right edge, so that it is one frame. What
 * does both has two parts, with the others between them.
 */
import { Lane } from "../timeline/lane";

/** What each node did by itself in one slice, in nanoseconds; nodes in ascending order. */
export interface SliceOwn {
  from: number;
  nodes: number[];
  own: number[];
}

/** The nodes of one slice with all that is above them, and their totals. */
interface Totals {
  from: number;
  nodes: Uint32Array;
  total: Map<number, number>;
}

class LaneMaker {
  readonly #start: number[] = [];
  readonly #end: number[] = [];
  readonly #node: number[] = [];

  /** Adds a frame, or makes the one before longer if it is of the same node and ends where this one begins. */
  put(node: number, from: number, to: number): void {
    const last = this.#node.length - 1;
    if (this.#node[last] === node && this.#end[last] === from) this.#end[last] = to;
    else {
      this.#start.push(from);
      this.#end.push(to);
      this.#node.push(node);
    }
  }

  made(look: (node: number) => number): Lane {
    const nodes = Uint32Array.from(this.#node);
    const looks = Uint8Array.from(nodes, look);
    return new Lane(Float64Array.from(this.#start), Float64Array.from(this.#end), nodes, looks);
  }
}

function totals(slice: SliceOwn, parent: number[]): Totals {
  const total = new Map<number, number>();
  slice.nodes.forEach((node, i) => {
    const own = slice.own[i] ?? 0;
    for (let at = node; at >= 0; at = parent[at] ?? -1) total.set(at, (total.get(at) ?? 0) + own);
  });
  return { from: slice.from, nodes: Uint32Array.from(total.keys()).sort(), total };
}

/** Where a frame is parted, and how far what lies behind is moved: other frames stand in between. */
interface Gap {
  at: number;
  by: number;
}

/** Puts the frames of one slice into the lanes. */
class SlicePlan {
  readonly #children = new Map<number, number[]>();
  readonly #now: Totals;
  readonly #next: Totals | undefined;
  readonly #goesOn: Map<number, number>;
  /** Of each depth: node, start and end of frames. */
  readonly #frames: [number, number, number][][] = [];
  /** Of each node whose frame reaches the right edge: its callee that does as well. */
  readonly atEdge = new Map<number, number>();

  /** `goesOn` is `atEdge` of the slice before. */
  constructor(now: Totals, next: Totals | undefined, parent: number[], goesOn: Map<number, number>) {
    this.#now = now;
    this.#next = next;
    this.#goesOn = goesOn;
    for (const node of now.nodes) {
      const above = parent[node] ?? -1;
      if (above < 0) continue;
      const known = this.#children.get(above);
      if (known) known.push(node);
      else this.#children.set(above, [node]);
    }
  }

  /** Writes the frames in order of time. */
  write(lanes: LaneMaker[]): void {
    this.#frames.forEach((frames, depth) => {
      lanes[depth] ??= new LaneMaker();
      frames.sort((a, b) => a[1] - b[1]);
      for (const [node, from, to] of frames) lanes[depth]?.put(node, from, to);
    });
  }

  /** Places what a node called between its edges: `left` and `right` say which of them are edges of the slice. */
  place(node: number, depth: number, from: number, left: boolean, right: boolean, gaps: Gap[] = []): void {
    const children = this.#children.get(node);
    if (!children) return;
    const value = this.#value(node);
    const before = left ? this.#goesOn.get(node) : undefined;
    const first = before !== undefined && children.includes(before) ? before : undefined;
    const last = right ? this.#largest(children) : undefined;
    if (last !== undefined) this.atEdge.set(node, last);
    let at = from;
    if (first !== undefined && first === last) {
      // It ran at both edges: the others stand between its two parts.
      const own = this.#value(first);
      const half = Math.floor(own / 2);
      this.#frame(first, depth, from, true, true, value > own ? [...gaps, { at: from + half, by: value - own }] : gaps);
      at += half;
    } else {
      if (first !== undefined) at = this.#frame(first, depth, at, true, false, gaps);
      if (last !== undefined) this.#frame(last, depth, from + value - this.#value(last), false, true, gaps);
    }
    for (const child of children) {
      if (child !== first && child !== last) at = this.#frame(child, depth, at, false, false, gaps);
    }
  }

  #value(node: number): number {
    return this.#now.total.get(node) ?? 0;
  }

  /** The largest of those that also run in the next slice. */
  #largest(children: number[]): number | undefined {
    let best: number | undefined;
    for (const child of children) {
      if ((this.#next?.total.get(child) ?? 0) <= 0) continue;
      if (best === undefined || this.#value(child) > this.#value(best)) best = child;
    }
    return best;
  }

  #frame(node: number, depth: number, from: number, left: boolean, right: boolean, gaps: Gap[]): number {
    const to = from + this.#value(node);
    this.#frames[depth] ??= [];
    for (const [start, end] of parted(from, to, gaps)) this.#frames[depth]?.push([node, start, end]);
    this.place(node, depth + 1, from, left, right, gaps);
    return to;
  }
}

/** An interval with the gaps of all frames around it, from the innermost to the outermost. */
function parted(from: number, to: number, gaps: Gap[]): [number, number][] {
  let parts: [number, number][] = [[from, to]];
  for (let i = gaps.length - 1; i >= 0; i--) {
    const { at, by } = gaps[i] ?? { at: 0, by: 0 };
    parts = parts.flatMap(([start, end]): [number, number][] => {
      if (end <= at) return [[start, end]];
      if (start >= at) return [[start + by, end + by]];
      return [
        [start, at],
        [at + by, end + by],
      ];
    });
  }
  return parts;
}

/** The lanes of a tree from the root's callees down; names of their bars are the numbers of the nodes. */
export function flameLanes(parent: number[], slices: SliceOwn[], look: (node: number) => number): Lane[] {
  const lanes: LaneMaker[] = [];
  let goesOn = new Map<number, number>();
  let next = slices[0] && totals(slices[0], parent);
  slices.forEach((_, i) => {
    const now = next;
    const after = slices[i + 1];
    next = after && totals(after, parent);
    if (!now) return;
    const plan = new SlicePlan(now, next, parent, goesOn);
    plan.place(0, 0, now.from, i > 0, i + 1 < slices.length);
    plan.write(lanes);
    goesOn = plan.atEdge;
  });
  return lanes.map((lane) => lane.made(look));
}
