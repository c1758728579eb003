/** What the card says of one call path. */

import { el } from "./dom";
import { exact, share, time } from "./format";
import { kindTitle } from "./palette";
import { visible } from "./text";
import { kind, label, type Measures, path } from "./tree";
import type { PageData } from "./types";

const CALLERS = 5;

/** The nearest callers in one line. */
export function callersLine(names: string[]): string {
  const shown = names.slice(-CALLERS).join(" › ");
  return names.length > CALLERS ? `… ${shown}` : shown;
}

export function frameCard(data: PageData, node: number, own: Measures): Node[] {
  const via = callersLine(
    path(data, node)
      .slice(1, -1)
      .map((caller) => label(data, caller)),
  );
  const folded = data.tree.folded[node] ?? 0;
  const count = own.calls[node] ?? 0;
  const calls = count > 0 ? ` · ${folded > 0 ? "Calls of them" : "Calls"}: ${exact(count)}` : "";
  const row = (name: string, unit: "self" | "total"): HTMLElement => {
    const [count, ns] = [own[unit].instructions, own[unit].time];
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      el("td", {}, exact(count[node])),
      el("td", {}, share(count[node], own.total.instructions[0])),
      el("td", {}, time(ns[node])),
      el("td", {}, share(ns[node], own.total.time[0])),
    );
  };
  const head = el(
    "tr",
    {},
    el("td"),
    el("th", { scope: "col", colspan: 2 }, "Instructions"),
    el("th", { scope: "col", colspan: 2 }, data.boot.virtual ? "Virtual time" : "Time"),
  );
  return [
    el("p", { class: "card-name" }, label(data, node)),
    el("p", { class: "note" }, `${visible(kindTitle(kind(data, node)))}${calls}`),
    el("table", {}, head, row("Total", "total"), row("Self", "self")),
    ...(via ? [el("p", { class: "note via" }, `from ${via}`)] : []),
  ];
}
