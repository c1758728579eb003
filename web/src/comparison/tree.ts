/** The differential icicle: as wide as the absolute change, coloured by its sign; and what vanished, and what is new. */
import { el, onWidth, section } from "../dom";
import { exact } from "../format";
import { Icicle, searchTools } from "../icicle";
import { changeFill, swatch } from "../palette";
import { ChangeTree } from "./change_tree";
import { type Choice, choice } from "./choice";
import { type ExactComparison, rowName } from "./data";
import type { MergedFrame, View } from "./merged";
import { onlyTable } from "./one_sided";
import { signed } from "./signed";

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
      vanished: () => (tree.vanished.length > 0 ? [onlyTable(id, tree.vanished, tree.vanished_sum, "a")] : []),
      new: () => (tree.new.length > 0 ? [onlyTable(id, tree.new, tree.new_sum, "b")] : []),
    };
    list.replaceChildren(...tables[view]());
    signs.replaceChildren(...legend(view));
    if (icicle.place.isConnected) icicle.draw();
  };
  const switched = choice("What the graph shows", `${id}.view`, views, (value) => show(value as View));
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
    ...searchTools(icicle, "Search the graph of changes", id),
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
