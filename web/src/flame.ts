/** The calling-context tree as an icicle: d3-flame-graph draws and zooms, this feeds it and answers the reader. */
import flamegraph, { type FlameGraph, type FlameNode, type FlameTooltip } from "d3-flame-graph";
import { select } from "d3-selection";
import type { PageData } from "./data";
import { el, onWidth, section } from "./dom";
import { FrameCard } from "./flame_card";
import { amount, exact, share, timeName, words } from "./format";
import { HIT, kindFill, kindTitle, swatch } from "./palette";
import type { Selection } from "./selection";
import { visible } from "./text";
import { type Frame, frames, kind, label, type Measures, measure, path, search } from "./tree";

const CELL = 20;
const NARROWEST = 1;
const MOVES: Record<string, "up" | "down" | "left" | "right"> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

type Node = FlameNode<Frame>;

class Flame {
  readonly place = el("div", {
    class: "flame",
    role: "group",
    "aria-label": "Flame graph of the calling-context tree",
  });
  readonly crumbs = el("nav", { class: "crumbs", "aria-label": "Path to the zoomed frame" });
  readonly result = el("p", { class: "count", role: "status" });
  readonly #data: PageData;
  readonly #selection: Selection;
  readonly #card: FrameCard;
  #measures: Measures;
  #measured: string | null = null;
  #chart: FlameGraph<Frame> | null = null;
  #hits = new Set<number>();
  #term = "";
  #bySize = false;
  #zoomed = 0;
  #current = 0;

  constructor(data: PageData, selection: Selection) {
    this.#data = data;
    this.#selection = selection;
    this.#measures = measure(data, null);
    this.#card = new FrameCard(data, this.place);
    this.place.addEventListener("keydown", (event) => this.#key(event));
    this.place.addEventListener("focusin", (event) => this.#focused(event.target));
    this.place.addEventListener("focusout", () => this.#card.hide());
  }

  set bySize(bySize: boolean) {
    this.#bySize = bySize;
    this.draw();
  }

  /** Draws anew: after a change of phase, unit, order or width. */
  draw(): void {
    const { phase, unit } = this.#selection;
    if (phase !== this.#measured) {
      this.#measures = measure(this.#data, phase);
      this.#measured = phase;
    }
    this.#chart?.destroy();
    this.#chart = null;
    this.#card.hide();
    const tree = frames(this.#data, this.#measures, unit);
    this.place.replaceChildren();
    if (!tree) {
      this.place.append(el("p", { class: "note" }, "Nothing ran here in this unit."));
      this.crumbs.replaceChildren();
      return;
    }
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const chart = flamegraph<Frame>()
      .width(Math.max(this.place.clientWidth, 300))
      .cellHeight(CELL)
      .transitionDuration(calm ? 0 : 150)
      .inverted(true)
      .resetHeightOnZoom(true)
      .minFrameSize(NARROWEST)
      .sort(
        this.#bySize
          ? (a: Node, b: Node) => b.data.value - a.data.value
          : (a: Node, b: Node) => a.data.node - b.data.node,
      )
      .tooltip(this.#tooltip())
      .setColorMapper((d) => (this.#hits.has(d.data.node) ? HIT : kindFill(d.data.kind, d.data.name)))
      .setSearchMatch((d) => this.#hits.has(d.data.node))
      .setSearchHandler(() => undefined)
      .setDetailsHandler(() => undefined)
      .onClick((d) => this.#zoomedTo(d.data.node));
    select<HTMLElement, unknown>(this.place).datum(tree).call(chart);
    this.#chart = chart;
    this.search(this.#term);
    const again = this.#find(this.#zoomed);
    if (again && this.#zoomed !== 0) chart.zoomTo(again);
    else this.#zoomedTo(0);
  }

  search(term: string): void {
    this.#term = term;
    const { hits, sum } = search(this.#data, this.#measures.total[this.#selection.unit], term);
    this.#hits = hits;
    this.place.classList.toggle("searching", hits.size > 0);
    if (hits.size > 0) this.#chart?.search(term);
    else this.#chart?.clear();
    this.#rove();
    this.result.textContent = this.#told(term, hits.size, sum);
  }

  reset(): void {
    if (this.#chart) this.#chart.resetZoom();
    this.#zoomedTo(0);
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

  #tooltip(): FlameTooltip<Frame> {
    const card = this.#card;
    return Object.assign(() => undefined, {
      show: (event: MouseEvent, d: Node) => card.show(d.data.node, this.#measures, event.clientX, event.clientY),
      hide: () => card.hide(),
      destroy: () => card.hide(),
    });
  }

  #zoomedTo(node: number): void {
    this.#zoomed = node;
    this.#current = node;
    const { unit } = this.#selection;
    const total = this.#measures.total[unit];
    const steps = path(this.#data, node).map((step) => {
      const last = step === node;
      const text = `${label(this.#data, step)}`;
      const button = el("button", { type: "button", "aria-current": last ? "true" : undefined }, text);
      button.addEventListener("click", () => {
        const found = this.#find(step);
        if (found) this.#chart?.zoomTo(found);
      });
      return button;
    });
    const amountHere = `${amount(total[node], unit)}, ${share(total[node], total[0])}`;
    this.crumbs.replaceChildren(...steps, el("span", { class: "here" }, amountHere));
    this.#rove();
  }

  #root(): Node | null {
    return this.#chart ? (select<HTMLElement, Node>(this.place).datum() ?? null) : null;
  }

  #find(node: number): Node | null {
    let at = this.#root();
    for (const step of path(this.#data, node).slice(1)) {
      at = at?.children?.find((child) => child.data.node === step) ?? null;
    }
    return at;
  }

  /** One frame only is in the order of the tab key; the arrow keys lead from there. */
  #rove(): void {
    select(this.place)
      .selectAll<SVGGElement, Node>("g.frame")
      .attr("role", "button")
      .attr("tabindex", (d) => (d.data.node === this.#current ? 0 : -1))
      .attr("aria-label", (d) => `${d.data.name}, ${amount(d.data.value, this.#selection.unit)}`);
  }

  #focused(target: EventTarget | null): void {
    const group = target instanceof SVGElement ? target.closest<SVGGElement>("g.frame") : null;
    if (!group?.matches(":focus-visible")) return;
    const { data } = select<SVGGElement, Node>(group).datum();
    const box = group.getBoundingClientRect();
    this.#card.show(data.node, this.#measures, Math.max(box.left, 0), box.bottom);
  }

  #key(event: KeyboardEvent): void {
    const group = event.target instanceof SVGElement ? event.target.closest<SVGGElement>("g.frame") : null;
    if (event.key === "Escape") this.reset();
    if (!group || !this.#chart) return;
    const here = select<SVGGElement, Node>(group).datum();
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#chart.zoomTo(here);
      this.#focus(here.data.node);
      return;
    }
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    const siblings = (here.parent?.children ?? []).filter((child) => this.#element(child.data.node));
    const place = siblings.indexOf(here);
    const next = {
      up: here.parent,
      down: here.children?.find((child) => this.#element(child.data.node)),
      left: siblings[place - 1],
      right: siblings[place + 1],
    }[move];
    if (next) this.#focus(next.data.node);
  }

  #element(node: number): SVGGElement | null {
    const all = select(this.place).selectAll<SVGGElement, Node>("g.frame");
    return all.filter((d) => d.data.node === node).node();
  }

  #focus(node: number): void {
    this.#current = node;
    this.#rove();
    this.#element(node)?.focus();
  }
}

function legend(data: PageData): HTMLElement {
  const present = new Set(data.tree.parent.map((_, node) => kind(data, node)));
  present.delete("root");
  const items = [...present].map((name) => el("li", {}, swatch(kindFill(name, "")), visible(kindTitle(name))));
  return el("ul", { class: "legend", "aria-label": "Kinds of frames" }, ...items);
}

export function flameSection(data: PageData, selection: Selection): HTMLElement {
  if (data.tree.parent.length === 0) {
    const why = "This boot was recorded without a profile: where in the kernel it went is not known.";
    return section("flame", "Flame graph", why);
  }
  const flame = new Flame(data, selection);
  const box = el("input", {
    type: "search",
    placeholder: "Search the graph  ( / )",
    "aria-label": "Search the flame graph",
  });
  box.addEventListener("input", () => flame.search(box.value));
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    box.focus();
  });
  const reset = el("button", { type: "button" }, "Reset zoom");
  reset.addEventListener("click", () => flame.reset());
  const order = el("select", { "aria-label": "Order of the frames" });
  order.append(
    el("option", { value: "first" }, "Ordered by first call"),
    el("option", { value: "size" }, "Ordered by size"),
  );
  order.addEventListener("change", () => {
    flame.bySize = order.value === "size";
  });
  const scope = el("p", { class: "note" });
  const told = (): void => {
    const where = selection.phase === null ? "the whole boot" : `the phase ${visible(words(selection.phase))}`;
    scope.textContent = `Width: ${selection.unit === "time" ? timeName(data) : "instructions"} in ${where}, the function and all it called.`;
  };
  told();
  selection.onChange(() => {
    told();
    flame.draw();
  });
  onWidth(flame.place, () => flame.draw());
  const { pruning } = data;
  const rule =
    `Of ${exact(pruning.nodes)} call paths ${exact(pruning.kept)} are drawn: below each frame, those that hold under ` +
    `${(100 * pruning.share).toLocaleString("en", { maximumSignificantDigits: 3 })} % of the boot's instructions and of its time` +
    ` are put together in one frame “(N smaller)”, as are those deeper than ${exact(pruning.depth)} calls. Nothing is left out: every level adds up.`;
  const lead =
    "Callers above, what they called below. Click a frame to zoom, or move with the arrow keys and press Enter; Escape resets.";
  const tools = el("div", { class: "toolbar" }, box, reset, order, flame.result);
  return section(
    "flame",
    "Flame graph",
    lead,
    scope,
    tools,
    flame.crumbs,
    flame.place,
    legend(data),
    el("p", { class: "note" }, rule),
  );
}
