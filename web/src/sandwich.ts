/** The callers and the callees of one function, each over all paths: two icicles with the function between them. */
import { address } from "./address";
import { el, onWidth } from "./dom";
import { amount, exact, share, type Unit } from "./format";
import { Icicle, type IcicleFrame, type IcicleModel } from "./icicle";
import { kindFill, kindTitle } from "./palette";
import type { Frame } from "./tree";

export interface Side extends IcicleFrame {
  kind: string;
  children: Side[];
}

/** The paths of a tree at which a function begins; one within itself counts once, as part of the outer one. */
export function occurrences(root: Frame, name: string): Frame[][] {
  const found: Frame[][] = [];
  const stack: [Frame, Frame[]][] = [[root, [root]]];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [frame, path] = next;
    if (frame.name === name) {
      found.push(path);
      continue;
    }
    for (const child of frame.children) stack.push([child, [...path, child]]);
  }
  return found;
}

/** Merges children of one name; numbers each node, the root with 0. */
class Merging {
  readonly nodes: Side[] = [];
  readonly above: number[] = [];

  child(parent: Side | null, name: string, kind: string): Side {
    const known = parent?.children.find((child) => child.name === name);
    if (known) return known;
    const made: Side = { node: this.nodes.length, name, kind, value: 0, children: [] };
    this.nodes.push(made);
    this.above.push(parent?.node ?? -1);
    parent?.children.push(made);
    return made;
  }
}

/** Who called a function, with what it costs on behalf of each. */
export function callers(root: Frame, name: string): Merging {
  const merged = new Merging();
  for (const path of occurrences(root, name)) {
    const value = path.at(-1)?.value ?? 0;
    const [itself, ...above] = path.slice().reverse();
    if (!itself) continue;
    let at = merged.nodes[0] ?? merged.child(null, itself.name, itself.kind);
    at.value += value;
    for (const frame of above) {
      at = merged.child(at, frame.name, frame.kind);
      at.value += value;
    }
  }
  return merged;
}

/** What a function called, over all paths to it. */
export function callees(root: Frame, name: string): Merging {
  const merged = new Merging();
  const stack: [Frame, Side][] = [];
  for (const path of occurrences(root, name)) {
    const frame = path.at(-1);
    if (!frame) continue;
    const top = merged.nodes[0] ?? merged.child(null, frame.name, frame.kind);
    top.value += frame.value;
    stack.push([frame, top]);
  }
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [frame, side] = next;
    for (const child of frame.children) {
      const called = merged.child(side, child.name, child.kind);
      called.value += child.value;
      stack.push([child, called]);
    }
  }
  return merged;
}

class SideModel implements IcicleModel<Side> {
  readonly empty = "Choose a function above; it has to run in what is counted.";
  merged = new Merging();
  unit: Unit = "instructions";

  frames(): Side | null {
    return this.merged.nodes[0] ?? null;
  }

  order(a: Side, b: Side): number {
    return b.value - a.value;
  }

  fill(side: Side): string {
    return kindFill(side.kind, side.name);
  }

  label(node: number): string {
    return this.merged.nodes[node]?.name ?? "";
  }

  path(node: number): number[] {
    const found: number[] = [];
    for (let at = node; at >= 0; at = this.merged.above[at] ?? -1) found.push(at);
    return found.reverse();
  }

  figure(node: number): string {
    const value = this.merged.nodes[node]?.value;
    return `${amount(value, this.unit)}, ${share(value, this.merged.nodes[0]?.value)}`;
  }

  describe(side: Side): string {
    return `${side.name}, ${amount(side.value, this.unit)}`;
  }

  card(node: number): Node[] {
    const side = this.merged.nodes[node];
    if (!side) return [];
    const unit = this.unit === "time" ? "ns" : "instructions";
    return [
      el("p", { class: "card-name" }, side.name),
      el("p", { class: "note" }, `${kindTitle(side.kind)} · ${exact(side.value)} ${unit}, ${this.figure(node)}`),
    ];
  }

  search(): { hits: Set<number>; said: string } {
    return { hits: new Set(), said: "" };
  }
}

/** The box for the function, and both icicles; `current` gives the tree that is counted. */
export function sandwich(current: () => { root: Frame | null; unit: Unit }) {
  const models = [new SideModel(), new SideModel()] as const;
  const icicles = models.map(
    (model, i) => new Icicle(i === 0 ? "Callers of the function" : "Callees of the function", model),
  );
  const [above, below] = icicles;
  const box = el("input", {
    type: "search",
    placeholder: "Function",
    "aria-label": "Function of the sandwich",
    list: "sandwich-names",
    maxlength: 500,
  });
  const names = el("datalist", { id: "sandwich-names" });
  const said = el("p", { class: "count", role: "status" });
  const most = 300;
  const draw = (): void => {
    const { root, unit } = current();
    if (names.childElementCount === 0)
      names.append(...largest(root, most).map((name) => el("option", { value: name })));
    if (box.value === "") box.value = largest(root, 1)[0] ?? "";
    const paths = root ? occurrences(root, box.value) : [];
    models[0].merged = root ? callers(root, box.value) : new Merging();
    models[1].merged = root ? callees(root, box.value) : new Merging();
    for (const model of models) model.unit = unit;
    const total = models[1].merged.nodes[0]?.value ?? 0;
    said.textContent =
      paths.length === 0
        ? "No frame has this name."
        : `${exact(paths.length)} of the paths that are drawn, ${amount(total, unit)}, ${share(total, root?.value)}.`;
    for (const icicle of icicles) icicle.draw();
  };
  box.addEventListener("change", () => {
    for (const icicle of icicles) icicle.reset();
    draw();
    address.changed();
  });
  const element = el(
    "div",
    { class: "sandwich" },
    el("div", { class: "toolbar" }, box, names, said),
    el("h3", {}, "Called by: the function on top, its callers below it"),
    above?.place,
    el("h3", {}, "Calls: what it called"),
    below?.place,
  );
  onWidth(element, () => {
    if (!element.hidden) draw();
  });

  /** Forgets the function: another tree has others. */
  const clear = (): void => {
    box.value = "";
    names.replaceChildren();
  };
  address.keep("sandwich", {
    read: () => (element.hidden ? null : box.value || null),
    write: (text) => {
      box.value = text ?? "";
      if (!element.hidden && element.isConnected) draw();
    },
  });
  above?.keep("sandwich.callers");
  below?.keep("sandwich.callees");
  return { element, draw, clear };
}

/** The functions that execute most by themselves. */
function largest(root: Frame | null, most: number): string[] {
  const own = new Map<string, number>();
  const stack = root ? [...root.children] : [];
  for (let frame = stack.pop(); frame; frame = stack.pop()) {
    const self = frame.value - frame.children.reduce((sum, child) => sum + child.value, 0);
    if (frame.kind !== "folded") own.set(frame.name, (own.get(frame.name) ?? 0) + self);
    stack.push(...frame.children);
  }
  return [...own]
    .sort((a, b) => b[1] - a[1])
    .slice(0, most)
    .map(([name]) => name);
}
