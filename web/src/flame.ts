/** The calling-context tree of one boot as an icicle, for the phase and in the unit that the reader chose. */

import { scopeOf } from "./cuts";
import { el, onWidth, section } from "./dom";
import { frameCard } from "./flame_card";
import { amount, exact, share, timeName, type Unit } from "./format";
import { Icicle, type IcicleModel, searchTools } from "./icicle";
import { kindFill, kindTitle, swatch } from "./palette";
import { sandwich } from "./sandwich";
import type { Selection } from "./selection";
import { visible } from "./text";
import { type Frame, frames, kind, label, type Measures, measure, path, search } from "./tree";
import type { PageData } from "./types";

class CallTree implements IcicleModel<Frame> {
  readonly empty = "Nothing ran here in this unit.";
  bySize = false;
  readonly #data: PageData;
  readonly #selection: Selection;
  #measures: Measures;
  #measured = "";

  constructor(data: PageData, selection: Selection) {
    this.#data = data;
    this.#selection = selection;
    this.#measures = measure(data, null);
  }

  frames(): Frame | null {
    const { phases } = scopeOf(this.#data, this.#selection);
    const key = JSON.stringify(phases);
    if (key !== this.#measured) {
      this.#measures = measure(this.#data, phases);
      this.#measured = key;
    }
    return frames(this.#data, this.#measures, this.#selection.unit);
  }

  /** The tree as it is counted now, and its unit. */
  current(): { root: Frame | null; unit: Unit } {
    return { root: this.frames(), unit: this.#selection.unit };
  }

  order(a: Frame, b: Frame): number {
    return this.bySize ? b.value - a.value : a.node - b.node;
  }

  fill(frame: Frame): string {
    return kindFill(frame.kind, frame.name);
  }

  label(node: number): string {
    return label(this.#data, node);
  }

  path(node: number): number[] {
    return path(this.#data, node);
  }

  figure(node: number): string {
    const { unit } = this.#selection;
    const total = this.#measures.total[unit];
    return `${amount(total[node], unit)}, ${share(total[node], total[0])}`;
  }

  describe(frame: Frame): string {
    return `${frame.name}, ${amount(frame.value, this.#selection.unit)}`;
  }

  card(node: number): Node[] {
    return frameCard(this.#data, node, this.#measures);
  }

  search(term: string): { hits: Set<number>; said: string } {
    const { hits, sum } = search(this.#data, this.#measures.total[this.#selection.unit], term);
    return { hits, said: this.#told(term, hits.size, sum) };
  }

  #told(term: string, hits: number, sum: number): string {
    if (term.trim() === "") return "";
    const { unit } = this.#selection;
    const whole = this.#measures.total[unit][0] ?? 0;
    if (hits > 0) {
      const of = unit === "time" ? "of the time" : "of the instructions";
      return `${exact(hits)} ${hits === 1 ? "frame matches" : "frames match"}: ${share(sum, whole)} ${of} (${amount(sum, unit)})`;
    }
    const wanted = term.trim().toLowerCase();
    const small = this.#data.functions.name.filter((i) =>
      (this.#data.strings[i] ?? "").toLowerCase().includes(wanted),
    ).length;
    return small > 0
      ? `No frame matches; ${exact(small)} of the functions below do, too small to be drawn or not in this phase`
      : "Nothing matches";
  }
}

function legend(data: PageData): HTMLElement {
  const present = new Set(data.tree.parent.map((_, node) => kind(data, node)));
  present.delete("root");
  const items = [...present].map((name) => el("li", {}, swatch(kindFill(name, "")), visible(kindTitle(name))));
  return el("ul", { class: "legend", "aria-label": "Kinds of frames" }, ...items);
}

export function flameSection(data: PageData, selection: Selection): HTMLElement | null {
  if (data.tree.parent.length === 0) return null;
  const tree = new CallTree(data, selection);
  const flame = new Icicle("Flame graph of the calling-context tree", tree);
  const whole = el("div", {}, flame.crumbs, flame.place);
  const order = el("select", { "aria-label": "Order of the frames" });
  order.append(
    el("option", { value: "first" }, "Time order, by first call"),
    el("option", { value: "size" }, "Left-heavy, largest first"),
    el("option", { value: "sandwich" }, "Sandwich: one function"),
  );
  const both = sandwich(() => tree.current());
  both.element.hidden = true;
  const choose = (): void => {
    tree.bySize = order.value === "size";
    both.element.hidden = order.value !== "sandwich";
    whole.hidden = order.value === "sandwich";
    if (order.value === "sandwich") both.draw();
    else flame.draw();
  };
  order.addEventListener("change", () => {
    selection.view = order.value;
  });
  order.value = selection.view;
  tree.bySize = order.value === "size";
  both.element.hidden = order.value !== "sandwich";
  whole.hidden = order.value === "sandwich";
  const scope = el("p", { class: "note" });
  const told = (): void => {
    const unit = selection.unit === "time" ? timeName(data) : "instructions";
    scope.textContent = `Width: ${unit} of the function and all it called, in ${scopeOf(data, selection).text}.`;
  };
  told();
  selection.onChange(() => {
    told();
    order.value = selection.view;
    choose();
  });
  onWidth(flame.place, () => flame.draw());
  const { pruning } = data;
  const rule =
    `Of ${exact(pruning.nodes)} call paths ${exact(pruning.kept)} are drawn: below each frame, those that hold under ` +
    `${(100 * pruning.share).toLocaleString("en", { maximumSignificantDigits: 3 })} % of the boot's instructions and of its time` +
    ` are put together in one frame “(N smaller)”, as are those deeper than ${exact(pruning.depth)} calls. Nothing is left out: every level adds up.`;
  const lead =
    "Callers above, what they called below. Click a frame to zoom, or move with the arrow keys and press Enter; Escape resets.";
  const tools = el("div", { class: "toolbar" }, ...searchTools(flame, "Search the flame graph"), order, flame.result);
  return section(
    "flame",
    "Flame graph",
    lead,
    scope,
    tools,
    whole,
    both.element,
    legend(data),
    el("p", { class: "note" }, rule),
  );
}
