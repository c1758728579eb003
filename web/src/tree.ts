/** The calling-context tree of the whole boot or of one phase, with totals, as the flame graph takes it. */
import { entry } from "./data";
import type { Unit } from "./format";
import type { Range } from "./slices";
import { visible } from "./text";
import type { PageData } from "./types";

export interface Frame {
  node: number;
  name: string;
  kind: string;
  value: number;
  children: Frame[];
}

/** Calls, self and totals of every node, in both units, for one choice of phases or slices of time. */
export interface Measures {
  calls: Float64Array;
  self: Record<Unit, Float64Array>;
  total: Record<Unit, Float64Array>;
}

/** Totals are self plus the children's totals: they add up by construction, in phases as in the whole boot. */
export function measure(data: PageData, phases: string[] | null, slices: Range | null = null): Measures {
  const { parent, calls, self_instructions, self_ns } = data.tree;
  const size = parent.length;
  const own: Measures = {
    calls: new Float64Array(size),
    self: { instructions: new Float64Array(size), time: new Float64Array(size) },
    total: { instructions: new Float64Array(size), time: new Float64Array(size) },
  };
  const put = (node: number, count: number, executed: number, ns: number | null): void => {
    if (node < 0 || node >= size) return;
    own.calls[node] = (own.calls[node] ?? 0) + count;
    own.self.instructions[node] = (own.self.instructions[node] ?? 0) + executed;
    own.self.time[node] = (own.self.time[node] ?? 0) + (ns ?? 0);
  };
  if (slices !== null) {
    data.sliced?.eachNode(slices, put, data.tree === data.process_tree ? "processes" : "calls");
  } else if (phases === null) {
    for (let i = 0; i < size; i++) put(i, calls[i] ?? 0, self_instructions[i] ?? 0, self_ns[i] ?? null);
  } else {
    for (const phase of phases) {
      const rows = entry(data.phase_tree, phase);
      rows?.node.forEach((node, i) => {
        put(node, rows.calls[i] ?? 0, rows.self_instructions[i] ?? 0, rows.self_ns[i] ?? null);
      });
    }
  }
  for (const unit of ["instructions", "time"] as const) {
    const total = own.total[unit];
    total.set(own.self[unit]);
    for (let i = size - 1; i > 0; i--) {
      const above = parent[i] ?? -1;
      if (above >= 0 && above < i) total[above] = (total[above] ?? 0) + (total[i] ?? 0);
    }
  }
  return own;
}

/** A node's label: the raw name, and its module in the kernel's own spelling. */
export function label(data: PageData, node: number): string {
  const folded = data.tree.folded[node] ?? 0;
  if (folded > 0) return `(${folded.toLocaleString("en")} smaller)`;
  const name = data.strings[data.tree.name[node] ?? -1] ?? "?";
  const module = data.strings[data.tree.module[node] ?? -1];
  return visible(module === undefined ? name : `${name} [${module}]`);
}

export function kind(data: PageData, node: number): string {
  if ((data.tree.folded[node] ?? 0) > 0) return "folded";
  return data.strings[data.tree.kind[node] ?? -1] ?? "function";
}

/** The tree as nested frames; nodes without a value in this unit are left out, they would have no width. */
export function frames(data: PageData, own: Measures, unit: Unit): Frame | null {
  const { parent } = data.tree;
  const total = own.total[unit];
  if (parent.length === 0 || !total[0]) return null;
  const made: (Frame | undefined)[] = new Array(parent.length);
  for (let i = 0; i < parent.length; i++) {
    const value = total[i] ?? 0;
    if (value <= 0) continue;
    const frame: Frame = { node: i, name: label(data, i), kind: kind(data, i), value, children: [] };
    made[i] = frame;
    if (i > 0) made[parent[i] ?? -1]?.children.push(frame);
  }
  return made[0] ?? null;
}

/** The nodes from the root down to this one. */
export function path(data: PageData, node: number): number[] {
  const found: number[] = [];
  for (let at = node; at >= 0 && found.length <= data.tree.parent.length; at = data.tree.parent[at] ?? -1)
    found.push(at);
  return found.reverse();
}

/** Which nodes match, and what the outermost of them hold together; a match below a match is not counted twice. */
export function search(data: PageData, total: Float64Array, term: string): { hits: Set<number>; sum: number } {
  const wanted = term.trim().toLowerCase();
  const hits = new Set<number>();
  let sum = 0;
  if (wanted === "") return { hits, sum };
  const size = data.tree.parent.length;
  const inside = new Uint8Array(size);
  for (let i = 0; i < size; i++) {
    const above = data.tree.parent[i] ?? -1;
    const covered = above >= 0 ? (inside[above] ?? 0) : 0;
    const hit = (total[i] ?? 0) > 0 && label(data, i).toLowerCase().includes(wanted);
    if (hit) {
      hits.add(i);
      if (!covered) sum += total[i] ?? 0;
    }
    inside[i] = hit || covered ? 1 : 0;
  }
  return { hits, sum };
}
