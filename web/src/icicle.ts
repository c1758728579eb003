/** A tree as an icicle: d3-flame-graph draws and zooms, a model says what is drawn, and this answers the reader. */
import flamegraph, { type FlameGraph, type FlameNode, type FlameTooltip } from "d3-flame-graph";
import { select } from "d3-selection";
import { address } from "./address";
import { Card } from "./card";
import { el } from "./dom";
import { HIT } from "./palette";

const CELL = 20;
const NARROWEST = 1;
const MOVES: Record<string, "up" | "down" | "left" | "right"> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

/** A node as it is drawn; the values of its children are at most its own. */
export interface IcicleFrame {
  node: number;
  name: string;
  value: number;
  children: IcicleFrame[];
}

/** What an icicle draws; asked anew at every drawing. */
export interface IcicleModel<F extends IcicleFrame> {
  /** The tree, or null where there is nothing to draw. */
  frames(): F | null;
  /** What is said where there is nothing. */
  empty: string;
  order(a: F, b: F): number;
  fill(frame: F): string;
  label(node: number): string;
  /** The nodes from the root down to this one. */
  path(node: number): number[];
  /** The figure beside the path to the zoomed frame. */
  figure(node: number): string;
  /** What a screen reader says of a frame. */
  describe(frame: F): string;
  search(term: string): { hits: Set<number>; said: string };
  /** What is known of a frame, for the card beside it. */
  card(node: number): Node[];
}

export class Icicle<F extends IcicleFrame> {
  readonly place: HTMLElement;
  readonly crumbs = el("nav", { class: "crumbs", "aria-label": "Path to the zoomed frame" });
  readonly result = el("p", { class: "count", role: "status" });
  readonly #model: IcicleModel<F>;
  readonly #card: Card;
  #chart: FlameGraph<F> | null = null;
  #hits = new Set<number>();
  #term = "";
  #zoomed = 0;
  #current = 0;

  constructor(label: string, model: IcicleModel<F>) {
    this.#model = model;
    this.place = el("div", { class: "flame", role: "group", "aria-label": label });
    this.#card = new Card(this.place);
    this.place.addEventListener("keydown", (event) => this.#key(event));
    this.place.addEventListener("focusin", (event) => this.#focused(event.target));
    this.place.addEventListener("focusout", () => this.#card.hide());
  }

  /** Draws anew: after a change of what the model shows, of the order or of the width. */
  draw(): void {
    this.#chart?.destroy();
    this.#chart = null;
    this.#card.hide();
    const model = this.#model;
    const tree = model.frames();
    this.place.replaceChildren();
    if (!tree) {
      this.place.append(el("p", { class: "note" }, model.empty));
      this.crumbs.replaceChildren();
      this.result.textContent = "";
      return;
    }
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const chart = flamegraph<F>()
      .width(Math.max(this.place.clientWidth, 300))
      .cellHeight(CELL)
      .transitionDuration(calm ? 0 : 150)
      .inverted(true)
      .resetHeightOnZoom(true)
      .minFrameSize(NARROWEST)
      .sort((a: FlameNode<F>, b: FlameNode<F>) => model.order(a.data, b.data))
      .tooltip(this.#tooltip())
      .setColorMapper((d) => (this.#hits.has(d.data.node) ? HIT : model.fill(d.data)))
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
    const { hits, said } = this.#model.search(term);
    this.#hits = hits;
    this.place.classList.toggle("searching", hits.size > 0);
    if (hits.size > 0) this.#chart?.search(term);
    else this.#chart?.clear();
    this.#rove();
    this.result.textContent = said;
  }

  reset(): void {
    if (this.#chart) this.#chart.resetZoom();
    this.#zoomedTo(0);
  }

  /** Keeps the frame that is zoomed in the address. */
  keep(name: string): void {
    address.keep(name, {
      read: () => (this.#zoomed === 0 ? null : String(this.#zoomed)),
      write: (text) => {
        const node = /^\d{1,9}$/.test(text ?? "") ? Number(text) : 0;
        // Where nothing is drawn yet, the drawing looks for it.
        if (this.#chart) this.zoomTo(node);
        else this.#zoomed = node;
      },
    });
  }

  /** Zooms to a node, if it is drawn. */
  zoomTo(node: number): void {
    const found = this.#find(node);
    if (found) this.#chart?.zoomTo(found);
  }

  #tooltip(): FlameTooltip<F> {
    const card = this.#card;
    const show = (event: MouseEvent, d: FlameNode<F>): void =>
      card.show(this.#model.card(d.data.node), event.clientX, event.clientY);
    return Object.assign(() => undefined, { show, hide: () => card.hide(), destroy: () => card.hide() });
  }

  #zoomedTo(node: number): void {
    if (node !== this.#zoomed) address.changed();
    this.#zoomed = node;
    this.#current = node;
    const steps = this.#model.path(node).map((step) => {
      const last = step === node;
      const attributes = { type: "button", "aria-current": last ? "true" : undefined };
      const button = el("button", attributes, this.#model.label(step));
      button.addEventListener("click", () => this.zoomTo(step));
      return button;
    });
    this.crumbs.replaceChildren(...steps, el("span", { class: "here" }, this.#model.figure(node)));
    this.#rove();
  }

  #root(): FlameNode<F> | null {
    return this.#chart ? (select<HTMLElement, FlameNode<F>>(this.place).datum() ?? null) : null;
  }

  #find(node: number): FlameNode<F> | null {
    let at = this.#root();
    for (const step of this.#model.path(node).slice(1)) {
      at = at?.children?.find((child) => child.data.node === step) ?? null;
    }
    return at?.data.node === node ? at : null;
  }

  /** One frame only is in the order of the tab key; the arrow keys lead from there. */
  #rove(): void {
    select(this.place)
      .selectAll<SVGGElement, FlameNode<F>>("g.frame")
      .attr("role", "button")
      .attr("tabindex", (d) => (d.data.node === this.#current ? 0 : -1))
      .attr("aria-label", (d) => this.#model.describe(d.data));
  }

  #focused(target: EventTarget | null): void {
    const group = target instanceof SVGElement ? target.closest<SVGGElement>("g.frame") : null;
    if (!group?.matches(":focus-visible")) return;
    const { data } = select<SVGGElement, FlameNode<F>>(group).datum();
    const box = group.getBoundingClientRect();
    this.#card.show(this.#model.card(data.node), Math.max(box.left, 0), box.bottom);
  }

  #key(event: KeyboardEvent): void {
    const group = event.target instanceof SVGElement ? event.target.closest<SVGGElement>("g.frame") : null;
    if (event.key === "Escape") this.reset();
    if (!group || !this.#chart) return;
    const here = select<SVGGElement, FlameNode<F>>(group).datum();
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
    const all = select(this.place).selectAll<SVGGElement, FlameNode<F>>("g.frame");
    return all.filter((d) => d.data.node === node).node();
  }

  #focus(node: number): void {
    this.#current = node;
    this.#rove();
    this.#element(node)?.focus();
  }
}

/** The box that searches an icicle, and the button that shows all of it again. The first box answers the key `/`,
 * unless something above it in the page does. The address keeps the search and the zoom under `name`. */
export function searchTools<F extends IcicleFrame>(
  icicle: Icicle<F>,
  label: string,
  name: string,
): [HTMLElement, HTMLElement] {
  const box = el("input", {
    type: "search",
    placeholder: "Search the graph  ( / )",
    "aria-label": label,
    maxlength: 500,
  });
  box.classList.add("graph-search");
  box.addEventListener("input", () => {
    icicle.search(box.value);
    address.changed();
  });
  address.keep(`${name}.find`, {
    read: () => box.value || null,
    write: (text) => {
      box.value = text ?? "";
      icicle.search(box.value);
    },
  });
  icicle.keep(`${name}.zoom`);
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key !== "/" || event.defaultPrevented || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector(".graph-search") !== box) return;
    event.preventDefault();
    box.focus();
  });
  const reset = el("button", { type: "button" }, "Reset zoom");
  reset.addEventListener("click", () => icicle.reset());
  return [box, reset];
}
