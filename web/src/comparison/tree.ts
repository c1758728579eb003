/** The differential icicle: as wide as the absolute change, coloured by its sign; and what vanished, and what is new. */
import { el, onWidth, section } from "../dom";
import { callersLine } from "../flame_card";
import { exact, share } from "../format";
import { Icicle, type IcicleModel, searchTools } from "../icicle";
import { changeFill, kindTitle, swatch } from "../palette";
import { DataTable } from "../table";
import { visible } from "../text";
import { type Choice, choice } from "./choice";
import { type ExactComparison, type MergedTree, type OnlyRow, type OnlySum, rowName } from "./data";
import {
  changedNodes,
  type MergedFrame,
  type MergedNode,
  mergedFrames,
  onlyNodes,
  pathOf,
  searchNodes,
  type View,
} from "./merged";
import { fine, signed, signedCount, signedHalf } from "./signed";

class ChangeTree implements IcicleModel<MergedFrame> {
  view: View = "changed";
  readonly #tree: MergedTree;
  readonly #nodes = new Map<View, MergedNode[]>();
  readonly #functions: string[];

  constructor(tree: MergedTree, functions: string[]) {
    this.#tree = tree;
    this.#functions = functions;
  }

  get nodes(): MergedNode[] {
    const known = this.#nodes.get(this.view);
    if (known) return known;
    const tree = this.#tree;
    const made = this.view === "changed" ? changedNodes(tree) : onlyNodes(tree, this.view === "vanished" ? "a" : "b");
    this.#nodes.set(this.view, made);
    return made;
  }

  get empty(): string {
    if (this.view === "changed") return "No function changed.";
    return this.view === "vanished" ? "Nothing is only in A." : "Nothing is only in B.";
  }

  frames(): MergedFrame | null {
    return mergedFrames(this.nodes);
  }

  order(a: MergedFrame, b: MergedFrame): number {
    return b.value - a.value || a.node - b.node;
  }

  fill(frame: MergedFrame): string {
    const { at } = frame;
    if (at.kind === "caller" || (this.view !== "changed" && at.kind === "root")) return "var(--kind-group)";
    return changeFill(at.change, at.value, at.only);
  }

  label(node: number): string {
    return this.nodes[node]?.label ?? "";
  }

  path(node: number): number[] {
    return pathOf(this.nodes, node);
  }

  figure(node: number): string {
    const at = this.nodes[node];
    if (!at) return "";
    const part = share(at.value, this.nodes[0]?.value);
    if (this.view === "changed") return `${signed(at.change)}; ${part} of all changes`;
    return `${fine(at.value)}; ${part} of what ${this.view === "vanished" ? "vanished" : "is new"}`;
  }

  describe(frame: MergedFrame): string {
    const only = frame.at.only === "a" ? ", only in A" : frame.at.only === "b" ? ", only in B" : "";
    return `${frame.at.label}, ${signed(frame.at.change)}${only}`;
  }

  search(term: string): { hits: Set<number>; said: string } {
    const { hits, change, width } = searchNodes(this.nodes, term);
    if (term.trim() === "") return { hits, said: "" };
    if (hits.size > 0) {
      const matches = hits.size === 1 ? "1 frame matches" : `${exact(hits.size)} frames match`;
      const whole = this.view === "changed" ? "all changes" : "this view";
      return {
        hits,
        said: `${matches}: ${signed(change)} together, ${share(width, this.nodes[0]?.value)} of ${whole}`,
      };
    }
    const wanted = term.trim().toLowerCase();
    const small = this.#functions.filter((name) => name.toLowerCase().includes(wanted)).length;
    const said = small > 0 ? `No frame matches; ${exact(small)} of the changed functions below do` : "Nothing matches";
    return { hits, said };
  }

  card(node: number): Node[] {
    const at = this.nodes[node];
    if (!at) return [];
    const { row } = at;
    const via = callersLine(
      this.path(node)
        .slice(1, -1)
        .map((caller) => this.label(caller)),
    );
    const kind = at.kind === "caller" ? "in both boots; calls what is in one only" : visible(kindTitle(at.kind));
    const only = at.only === "a" ? " · only in A" : at.only === "b" ? " · only in B" : "";
    const line = (name: string, ...cells: string[]): HTMLTableRowElement =>
      el("tr", {}, el("th", { scope: "row" }, name), ...cells.map((cell) => el("td", {}, cell)));
    const lines = [el("tr", {}, el("td"), ...["A", "B", "Change"].map((head) => el("th", { scope: "col" }, head)))];
    if (row) {
      lines.push(line("With callees", fine(row.total_a_ns), fine(row.total_b_ns), signed(row.total_change_ns)));
      if (!row.pruned) {
        lines.push(line("By itself", fine(row.a?.ns ?? 0), fine(row.b?.ns ?? 0), signed(row.change.ns)));
        lines.push(line("Calls", exact(row.a?.calls ?? 0), exact(row.b?.calls ?? 0), signedCount(row.change.calls)));
      }
    } else {
      lines.push(line("With callees", "", "", signed(at.change)));
    }
    const parts = row && !row.pruned ? row.split : null;
    const split =
      parts && row?.change.ns !== 0
        ? `By itself: ${signedHalf(parts.calls_doubled_ns)} by more calls, ${signedHalf(parts.cost_doubled_ns)} by the cost of each`
        : "";
    return [
      el("p", { class: "card-name" }, at.label),
      el("p", { class: "note" }, `${kind}${only} · width ${fine(at.value)}`),
      el("table", {}, ...lines),
      ...(split ? [el("p", { class: "note" }, split)] : []),
      ...(via ? [el("p", { class: "note via" }, `from ${via}`)] : []),
    ];
  }
}

/** One function that is in one boot only, over all the places that it was called from. */
interface OnlyFunction {
  name: string;
  took: number;
  calls: number | null;
  places: number;
  elsewhere: boolean;
  /** The place where it took most. */
  most: OnlyRow;
}

function byFunction(rows: OnlyRow[], side: "a" | "b"): OnlyFunction[] {
  const found = new Map<string, OnlyFunction>();
  for (const row of rows) {
    const took = side === "a" ? row.total_a_ns : row.total_b_ns;
    const calls = (side === "a" ? row.a : row.b)?.calls ?? null;
    const name = rowName(row);
    const known = found.get(name);
    if (known === undefined) {
      found.set(name, { name: visible(name), took, calls, places: 1, elsewhere: row.elsewhere, most: row });
      continue;
    }
    // The rows come with the largest first.
    known.took += took;
    known.calls = known.calls === null || calls === null ? null : known.calls + calls;
    known.places += 1;
  }
  return [...found.values()];
}

function onlyTable(rows: OnlyRow[], sum: OnlySum, side: "a" | "b"): HTMLElement {
  const callers = (row: OnlyFunction): string => visible(row.most.path.slice(-5, -1).reverse().join(" ‹ "));
  const elsewhere = (row: OnlyFunction): string => {
    if (row.elsewhere) return side === "a" ? "is called elsewhere in B" : "was called elsewhere in A";
    return side === "a" ? "is gone" : "is new";
  };
  const table = new DataTable<OnlyFunction>({
    label: side === "a" ? "Vanished: only in A" : "New: only in B",
    rows: byFunction(rows, side),
    filterText: (row) => `${row.name} ${row.most.path.join(" ")}`,
    filterLabel: side === "a" ? "Filter what vanished" : "Filter what is new",
    sort: { id: "took", desc: true },
    step: 20,
    empty: "Nothing matches.",
    columns: [
      {
        id: "function",
        title: "Function",
        value: (row) => row.name,
        cell: (row) => el("span", { class: "code" }, row.name),
      },
      {
        id: "took",
        title: "With callees",
        number: true,
        value: (row) => row.took,
        cell: (row) => fine(row.took),
        hint: (row) => `${exact(row.took)} ns`,
      },
      { id: "calls", title: "Calls", number: true, value: (row) => row.calls, cell: (row) => exact(row.calls) },
      {
        id: "places",
        title: "Contexts",
        meaning: "Call paths on which it is the outermost that is in one boot only",
        number: true,
        value: (row) => row.places,
        cell: (row) => exact(row.places),
      },
      {
        id: "elsewhere",
        title: "The function",
        meaning: "Whether the function itself is in one boot only, or only these calls of it",
        value: (row) => elsewhere(row),
      },
      {
        id: "callers",
        title: "most of it called by",
        value: callers,
        cell: (row) => el("span", { class: "code" }, callers(row)),
        hint: (row) => visible(row.most.path.join(" › "), 2000),
      },
    ],
  });
  const left = sum.count - rows.length;
  const small = left > 0 ? `, of which the ${exact(left)} smallest have no row here` : "";
  const what = side === "a" ? "are only in A, where they took" : "are only in B, where they take";
  const note = `${exact(sum.count)} call paths ${what} ${fine(sum.total_ns)} with their callees${small}.`;
  return el(
    "div",
    { class: "level" },
    el("h3", {}, side === "a" ? "Only in A" : "Only in B"),
    table.element,
    el("p", { class: "note" }, note),
  );
}

const WIDTHS: Record<View, string> = {
  changed:
    "Width: the size of all changes in a function and in what it called, slower and faster added without their signs, so that opposite changes do not hide one another.",
  vanished: "Width: what it took in A. Grey callers are in both boots; what hangs below them is only in A.",
  new: "Width: what it takes in B. Grey callers are in both boots; what hangs below them is only in B.",
};

function legend(view: View): HTMLElement[] {
  const signs: [string, string][] =
    view === "changed"
      ? [
          [changeFill(1, 1, null), "▲ slower"],
          [changeFill(0.5, 1, null), "slower in all, both in parts"],
          [changeFill(0, 1, null), "as much slower as faster"],
          [changeFill(-0.5, 1, null), "faster in all, both in parts"],
          [changeFill(-1, 1, null), "▼ faster"],
          [changeFill(-1, 1, "a"), "only in A"],
          [changeFill(1, 1, "b"), "only in B"],
        ]
      : [
          ["var(--kind-group)", "caller, in both boots"],
          view === "vanished" ? [changeFill(-1, 1, "a"), "only in A"] : [changeFill(1, 1, "b"), "only in B"],
        ];
  return signs.map(([fill, text]) => el("li", {}, swatch(fill), text));
}

/** A section, and a way to show a node of the tree in it. */
export function treeSection(
  id: string,
  comparison: ExactComparison,
): { element: HTMLElement; show: (node: number) => void } {
  const { tree } = comparison;
  if (!tree) {
    const why = "Not both boots were recorded with a profile: what changed is not known by function.";
    return { element: section(id, "Where it changed", why), show: () => undefined };
  }
  const functions = (comparison.levels.functions?.rows ?? []).map((row) => rowName(row));
  const model = new ChangeTree(tree, functions);
  const icicle = new Icicle<MergedFrame>("Flame graph of the changes", model);
  const scope = el("p", { class: "note" });
  const list = el("div", {});
  const signs = el("ul", { class: "legend", "aria-label": "Colours of changes" });
  const views: Choice[] = [
    { value: "changed", title: "Changed" },
    { value: "vanished", title: `Vanished (${exact(tree.vanished_sum.count)})` },
    { value: "new", title: `New (${exact(tree.new_sum.count)})` },
  ];
  const show = (view: View): void => {
    model.view = view;
    icicle.reset();
    scope.textContent = WIDTHS[view];
    const tables = {
      changed: () => [],
      vanished: () => (tree.vanished.length > 0 ? [onlyTable(tree.vanished, tree.vanished_sum, "a")] : []),
      new: () => (tree.new.length > 0 ? [onlyTable(tree.new, tree.new_sum, "b")] : []),
    };
    list.replaceChildren(...tables[view]());
    signs.replaceChildren(...legend(view));
    if (icicle.place.isConnected) icicle.draw();
  };
  const switched = choice("What the graph shows", views, (value) => show(value as View));
  onWidth(icicle.place, () => icicle.draw());
  const rest = tree.rest.change.ns;
  const rule =
    `${exact(tree.changed_nodes)} of ${exact(tree.nodes)} call paths of both boots differ, or something below them does. ` +
    "Small ones stand together in frames “(N smaller)”; nothing is left out, and own changes add up to " +
    `${signed(comparison.totals.change.ns - rest)}${rest === 0 ? ", all of the change" : `; ${signed(rest)} is in no call path`}.`;
  const lead =
    "Callers above, what they called below. Click a frame to zoom, or move with the arrow keys and press Enter; Escape resets.";
  const tools = el(
    "div",
    { class: "toolbar" },
    switched,
    ...searchTools(icicle, "Search the graph of changes"),
    icicle.result,
  );
  const element = section(
    id,
    "Where it changed",
    lead,
    tools,
    scope,
    icicle.crumbs,
    icicle.place,
    signs,
    el("p", { class: "note" }, rule),
    list,
  );
  return {
    element,
    show: (node) => {
      const at = tree.rows.findIndex((row) => row.node === node);
      if (at < 0) return;
      const first = switched.querySelector<HTMLInputElement>("input[value='changed']");
      if (first) first.checked = true;
      show("changed");
      icicle.zoomTo(at);
      element.scrollIntoView();
    },
  };
}
