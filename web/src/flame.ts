/** The calling-context tree of one boot as an icicle, for the phase and in the unit that the reader chose. */

import { type Scope, scopeOf, scopeOfProcesses } from "./cuts";
import { el, onWidth, section } from "./dom";
import { frameCard } from "./flame_card";
import { type FlameChart, flameChart } from "./flame_chart/chart";
import { amount, exact, share, timeName, type Unit } from "./format";
import { Icicle, type IcicleModel, searchTools } from "./icicle";
import { kindFill, kindTitle, swatch } from "./palette";
import { sandwich } from "./sandwich";
import type { Selection } from "./selection";
import { visible } from "./text";
import { type Frame, frames, kind, label, type Measures, measure, path, search } from "./tree";
import type { PageData, Pruning } from "./types";

class CallTree implements IcicleModel<Frame> {
  readonly empty = "Nothing ran here in this unit.";
  bySize = false;
  readonly #trees: Record<string, PageData>;
  readonly #selection: Selection;
  #measures: Measures;
  #measured = "";

  constructor(trees: Record<string, PageData>, selection: Selection) {
    this.#trees = trees;
    this.#selection = selection;
    this.#measures = measure(this.#data, null);
  }

  /** The page's data with the chosen tree as their call tree. */
  get #data(): PageData {
    return this.#trees[this.#selection.tree] ?? (this.#trees.calls as PageData);
  }

  frames(): Frame | null {
    const { phases, slices } = treeScope(this.#data, this.#selection);
    const key = JSON.stringify([this.#selection.tree, phases, slices]);
    if (key !== this.#measured) {
      this.#measures = measure(this.#data, phases, slices);
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
    const { functions, user_functions, strings } = this.#data;
    const names = functions.name.map((i) => strings[i] ?? "");
    if (this.#selection.tree === "processes") names.push(...user_functions.name);
    const small = names.filter((name) => name.toLowerCase().includes(wanted)).length;
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

function treeScope(data: PageData, selection: Selection): Scope {
  return selection.tree === "processes" ? scopeOfProcesses(data, selection) : scopeOf(data, selection);
}

/** The trees of a boot, each as the page's data with that tree as their call tree. */
function treesOf(data: PageData): Record<string, PageData> {
  const tree = data.process_tree;
  const { pruning } = tree;
  return tree.parent.length === 0 ? { calls: data } : { calls: data, processes: { ...data, tree, pruning } };
}

const TIMED =
  "What was on the stack, on the axis of the timeline: it follows its zoom and its selection. The length of a frame is the time of the function " +
  "and all that it called in a slice of time, exactly; the order within a slice is not recorded. What ran on both sides of an edge is one frame. " +
  "Frames narrower than a pixel are drawn together and come apart with the zoom.";

/** Whether the tree that is chosen is known in slices of time. */
function hasTime(chart: FlameChart | null, data: PageData, selection: Selection): boolean {
  return chart !== null && (selection.tree !== "processes" || data.slices?.processes !== null);
}

/** The choice of the tree; hidden where there is one only. */
function treeChoice(selection: Selection, hidden: boolean): HTMLSelectElement {
  const choice = el("select", { "aria-label": "Tree", hidden });
  choice.append(
    el("option", { value: "calls" }, "Call paths of the kernel"),
    el("option", { value: "processes" }, "Processes, kernel and userspace"),
  );
  choice.value = selection.tree;
  choice.addEventListener("change", () => {
    selection.tree = choice.value;
  });
  return choice;
}

const CALLERS =
  "Kernel functions stand below a system call where one caller alone made such calls in a slice of time. " +
  "“[several callers]” is what calls executed in other slices: in which functions is not recorded for each caller.";

function ruleText({ pruning, tree, process_tree }: PageData): string {
  return tree === process_tree
    ? `${foldedText(pruning, process_tree.pruning.function_share)} ${CALLERS}`
    : foldedText(pruning);
}

function percent(part: number): string {
  return `${(100 * part).toLocaleString("en", { maximumSignificantDigits: 3 })} %`;
}

function foldedText(pruning: Pruning, ofFunctions = pruning.share): string {
  if (pruning.kept === pruning.nodes) return `All ${exact(pruning.nodes)} call paths are drawn.`;
  return (
    `Of ${exact(pruning.nodes)} call paths ${exact(pruning.kept)} are drawn: below each frame, those that hold under ` +
    `${percent(pruning.share)} of the boot's instructions and of its time` +
    (ofFunctions === pruning.share ? "" : `, of functions below system calls under ${percent(ofFunctions)},`) +
    ` are put together in one frame “(N smaller)”, as are those deeper than ${exact(pruning.depth)} calls. Nothing is left out: every level adds up. ` +
    "A page of `firstlight report --all-paths` draws each of them."
  );
}

export function flameSection(data: PageData, selection: Selection): HTMLElement | null {
  if (data.tree.parent.length === 0) return null;
  const trees = treesOf(data);
  const shown = (): PageData => trees[selection.tree] ?? data;
  if (!trees.processes) selection.tree = "calls";
  const tree = new CallTree(trees, selection);
  const treeBox = treeChoice(selection, !trees.processes);
  const flame = new Icicle("Flame graph of the calling-context tree", tree);
  const whole = el("div", {}, flame.crumbs, flame.place);
  const order = el("select", { "aria-label": "Order of the frames" });
  const chart = data.sliced ? flameChart(trees, data.sliced, selection) : null;
  order.append(
    ...(chart ? [el("option", { value: "time" }, "Time order: what ran when")] : []),
    el("option", { value: "first" }, "By first call"),
    el("option", { value: "size" }, "Left-heavy, largest first"),
    el("option", { value: "sandwich" }, "Sandwich: one function"),
  );
  const both = sandwich(() => tree.current());
  both.element.hidden = true;
  const arrange = (): void => {
    // A page without slices of time has no chart, whatever its address asks for.
    order.value = selection.view === "time" && !hasTime(chart, data, selection) ? "first" : selection.view;
    tree.bySize = order.value === "size";
    both.element.hidden = order.value !== "sandwich";
    whole.hidden = order.value === "sandwich" || order.value === "time";
    for (const part of [...merged, scope]) part.hidden = order.value === "time";
    for (const part of [chart?.element, timed]) if (part) part.hidden = order.value !== "time";
  };
  const choose = (): void => {
    arrange();
    if (order.value === "sandwich") both.draw();
    else if (order.value === "time") chart?.draw();
    else flame.draw();
  };
  order.addEventListener("change", () => {
    selection.view = order.value;
  });
  const merged = searchTools(flame, "Search the flame graph", "flame");
  const scope = el("p", { class: "note" });
  const timed = el("p", { class: "note" }, TIMED);
  const rule = el("p", { class: "note" });
  const kinds = el("div", {}, legend(shown()));
  const told = (): void => {
    const unit = selection.unit === "time" ? timeName(data) : "instructions";
    const what =
      selection.tree === "processes" ? "the process and all that it created" : "the function and all it called";
    scope.textContent = `Width: ${unit} of ${what}, in ${treeScope(data, selection).text}.`;
    rule.textContent = ruleText(shown());
  };
  told();
  let drawn = selection.tree;
  selection.onChange(() => {
    if (drawn !== selection.tree) {
      drawn = selection.tree;
      treeBox.value = drawn;
      flame.reset();
      both.clear();
      kinds.replaceChildren(legend(shown()));
    }
    told();
    choose();
  });
  arrange();
  onWidth(flame.place, () => flame.draw());
  if (chart) onWidth(chart.element, () => chart.draw());
  const lead =
    "Callers above, what they called below. Click a frame to zoom, or move with the arrow keys and press Enter; Escape resets.";
  const tools = el("div", { class: "toolbar" }, ...merged, treeBox, order, flame.result);
  return section("flame", "Flame graph", lead, scope, timed, tools, whole, both.element, chart?.element, kinds, rule);
}
