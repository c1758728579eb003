/** The tree of changes as an icicle shows it: which frames, how wide, how coloured, and what is said of each. */
import { el } from "../dom";
import { callersLine } from "../flame_card";
import { exact, share } from "../format";
import type { IcicleModel } from "../icicle";
import { changeFill, kindTitle } from "../palette";
import { visible } from "../text";
import type { MergedTree } from "./data";
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

export class ChangeTree implements IcicleModel<MergedFrame> {
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
