/** The card beside the pointer (or the focused frame) with all that is known of one call path. */
import type { PageData } from "./data";
import { el } from "./dom";
import { exact, share, time } from "./format";
import { kindTitle } from "./palette";
import { visible } from "./text";
import { kind, label, type Measures, path } from "./tree";

const CALLERS = 5;
const GAP = 14;

export class FrameCard {
  readonly #data: PageData;
  readonly #element = el("div", { class: "card", role: "tooltip", hidden: true });

  constructor(data: PageData, beside: HTMLElement) {
    this.#data = data;
    queueMicrotask(() => (beside.closest("section") ?? document.body).append(this.#element));
  }

  show(node: number, own: Measures, x: number, y: number): void {
    const data = this.#data;
    const callers = path(data, node).slice(1, -1);
    const shown = callers.slice(-CALLERS).map((caller) => label(data, caller));
    const via = callers.length > CALLERS ? `… ${shown.join(" › ")}` : shown.join(" › ");
    const folded = data.tree.folded[node] ?? 0;
    const calls = folded > 0 ? "Calls of them" : "Calls";
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
    this.#element.replaceChildren(
      el("p", { class: "card-name" }, label(data, node)),
      el("p", { class: "note" }, `${visible(kindTitle(kind(data, node)))} · ${calls}: ${exact(own.calls[node])}`),
      el("table", {}, head, row("Total", "total"), row("Self", "self")),
      via ? el("p", { class: "note via" }, `from ${via}`) : "",
    );
    this.#element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.#element;
    const left = x + GAP + width > innerWidth ? Math.max(4, x - GAP - width) : x + GAP;
    const top = y + GAP + height > innerHeight ? Math.max(4, y - GAP - height) : y + GAP;
    this.#element.style.left = `${left}px`;
    this.#element.style.top = `${top}px`;
  }

  hide(): void {
    this.#element.hidden = true;
  }
}
