/** Two calling-context trees as one: what changed, what vanished and what is new, each as nested frames. */
import type { IcicleFrame } from "../icicle";
import { visible } from "../text";
import { type MergedTree, type OnlyRow, type OnlySum, rowName, type TreeRow } from "./data";
import { signed } from "./signed";

export type View = "changed" | "vanished" | "new";

/** A node of a view. */
export interface MergedNode {
  label: string;
  kind: string;
  parent: number;
  value: number;
  /** Of the whole node, with all below; what the frame's figure shows. */
  change: number;
  /** What is known of it; null of a caller that only leads to what is in one boot, and of what is added up. */
  row: TreeRow | null;
  /** The frame's own name is that of something that is in one boot only. */
  only: "a" | "b" | null;
}

export interface MergedFrame extends IcicleFrame {
  at: MergedNode;
  children: MergedFrame[];
}

/** Every node of the walk, parents first. */
export function changedNodes(tree: MergedTree): MergedNode[] {
  const open: number[] = [];
  return tree.rows.map((row, i) => {
    open.length = Math.min(row.depth, open.length);
    const parent = open.at(-1) ?? -1;
    open[row.depth] = i;
    return {
      label: visible(rowName(row)),
      kind: row.kind,
      parent,
      value: row.width_ns,
      change: row.total_change_ns,
      row,
      only: row.pruned || row.presence === "both" ? null : row.presence === "only_a" ? "a" : "b",
    };
  });
}

/** What is in one boot only, below the callers that both have; each as wide as what it took. */
export function onlyNodes(tree: MergedTree, side: "a" | "b"): MergedNode[] {
  const rows: OnlyRow[] = side === "a" ? tree.vanished : tree.new;
  const sum: OnlySum = side === "a" ? tree.vanished_sum : tree.new_sum;
  const took = (row: TreeRow): number => (side === "a" ? row.total_a_ns : row.total_b_ns);
  const sign = side === "a" ? -1 : 1;
  const nodes: MergedNode[] = [];
  const add = (label: string, kind: string, parent: number, value: number, row: TreeRow | null): number => {
    nodes.push({ label, kind, parent, value, change: sign * value, row, only: row === null ? null : side });
    return nodes.length - 1;
  };
  if (sum.count === 0) return nodes;
  add(visible(tree.rows[0]?.name ?? ""), "root", -1, sum.total_ns, null);
  const callers = new Map<string, number>();
  const places = new Map<number, number>();
  tree.rows.forEach((row, i) => {
    if (row.node !== null) places.set(row.node, i);
  });
  for (const row of rows) {
    const value = took(row);
    let at = 0;
    let key = "";
    for (const caller of row.path.slice(0, -1)) {
      key += `${caller.length}:${caller}`;
      let found = callers.get(key);
      if (found === undefined) {
        found = add(visible(caller), "caller", at, 0, null);
        callers.set(key, found);
      }
      at = found;
      const node = nodes[at];
      if (node) {
        node.value += value;
        node.change += sign * value;
      }
    }
    const place = row.node === null ? undefined : places.get(row.node);
    const head = add(visible(rowName(row)), row.kind, at, value, row);
    if (place !== undefined) copyBelow(tree, place, head, add, took);
  }
  const listed = rows.reduce((total, row) => total + took(row), 0);
  const left = sum.count - rows.length;
  if (left > 0) add(`(${left.toLocaleString("en")} smaller ones)`, "folded", 0, sum.total_ns - listed, null);
  return nodes;
}

/** What the walk has below a row, put below a node of a view. */
function copyBelow(
  tree: MergedTree,
  place: number,
  head: number,
  add: (label: string, kind: string, parent: number, value: number, row: TreeRow | null) => number,
  took: (row: TreeRow) => number,
): void {
  const top = tree.rows[place];
  if (!top) return;
  const open = [head];
  for (let i = place + 1; i < tree.rows.length; i++) {
    const row = tree.rows[i];
    if (!row || row.depth <= top.depth) return;
    const above = row.depth - top.depth - 1;
    open.length = Math.min(open.length, above + 1);
    open.push(add(visible(rowName(row)), row.kind, open[above] ?? head, took(row), row));
  }
}

/** The nodes as nested frames; null where there is nothing as wide as anything. */
export function mergedFrames(nodes: MergedNode[], rough: (ns: number) => string = signed): MergedFrame | null {
  if (!nodes[0] || nodes[0].value <= 0) return null;
  const made: (MergedFrame | undefined)[] = [];
  nodes.forEach((node, i) => {
    if (node.value <= 0) return;
    const arrow = node.change > 0 ? "▲ " : node.change < 0 ? "▼ " : "";
    const name = `${arrow}${node.label} ${rough(node.change)}`;
    const frame: MergedFrame = { node: i, name, value: node.value, at: node, children: [] };
    made[i] = frame;
    if (node.parent >= 0) made[node.parent]?.children.push(frame);
  });
  return made[0] ?? null;
}

/** The nodes from the root down to this one. */
export function pathOf(nodes: MergedNode[], node: number): number[] {
  const found: number[] = [];
  for (let at = node; at >= 0 && found.length <= nodes.length; at = nodes[at]?.parent ?? -1) found.push(at);
  return found.reverse();
}

/** Which nodes match, and by how much the outermost of them changed together; a match below a match counts once. */
export function searchNodes(nodes: MergedNode[], term: string): { hits: Set<number>; change: number; width: number } {
  const wanted = term.trim().toLowerCase();
  const hits = new Set<number>();
  let [change, width] = [0, 0];
  if (wanted === "") return { hits, change, width };
  const inside = new Uint8Array(nodes.length);
  nodes.forEach((node, i) => {
    const covered = node.parent >= 0 ? (inside[node.parent] ?? 0) : 0;
    const hit = node.value > 0 && node.label.toLowerCase().includes(wanted);
    if (hit) {
      hits.add(i);
      if (!covered) {
        change += node.change;
        width += node.value;
      }
    }
    inside[i] = hit || covered ? 1 : 0;
  });
  return { hits, change, width };
}
