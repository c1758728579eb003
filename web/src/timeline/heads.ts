/** The labels of groups and tracks as elements: a tree with one stop of the tab key, which folds and unfolds. */
import { el } from "../dom";
import { visible } from "../text";
import type { Head, Layout } from "./layout";

export class Heads {
  readonly element = el("div", { class: "tl-heads", role: "tree", "aria-label": "Tracks of the timeline" });
  readonly #fold: (head: Head) => void;
  #heads: Head[] = [];
  #current = 0;

  constructor(fold: (head: Head) => void) {
    this.#fold = fold;
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("click", (event) => {
      const item = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-head]") : null;
      if (item) this.#toggle(Number(item.dataset.head));
    });
  }

  draw(layout: Layout): void {
    const focused = this.element.contains(document.activeElement);
    const key = this.#heads[this.#current]?.key;
    this.#heads = layout.heads;
    const place = layout.heads.findIndex((head) => head.key === key);
    this.#current = Math.max(0, place);
    const items = layout.heads.map((head, i) => {
      const sign = head.open === undefined ? "" : head.open ? "▾" : "▸";
      const label = visible(head.label, 120);
      const item = el(
        "div",
        {
          class: `tl-head level-${head.level}`,
          role: "treeitem",
          "aria-level": head.level,
          "aria-expanded": head.open === undefined ? undefined : String(head.open),
          tabindex: i === this.#current ? 0 : -1,
          "data-head": i,
          title: label,
        },
        el("span", { class: "tl-sign", "aria-hidden": "true" }, sign),
        el("span", { class: "tl-label" }, label),
        " ",
        el("span", { class: "tl-note" }, head.note),
      );
      item.style.top = `${head.y}px`;
      item.style.height = `${head.height}px`;
      return item;
    });
    this.element.replaceChildren(...items);
    this.element.style.height = `${layout.height}px`;
    if (focused) this.#focus(this.#current);
  }

  #toggle(i: number): void {
    const head = this.#heads[i];
    this.#current = i;
    if (head && head.open !== undefined) this.#fold(head);
    this.#focus(this.#current);
  }

  #focus(i: number): void {
    const items = this.element.children;
    const next = Math.max(0, Math.min(items.length - 1, i));
    items[this.#current]?.setAttribute("tabindex", "-1");
    this.#current = next;
    const item = items[next];
    if (!(item instanceof HTMLElement)) return;
    item.tabIndex = 0;
    item.focus();
  }

  #key(event: KeyboardEvent): void {
    const here = this.#heads[this.#current];
    const moves: Record<string, () => void> = {
      ArrowDown: () => this.#focus(this.#current + 1),
      ArrowUp: () => this.#focus(this.#current - 1),
      Home: () => this.#focus(0),
      End: () => this.#focus(this.#heads.length - 1),
      Enter: () => this.#toggle(this.#current),
      " ": () => this.#toggle(this.#current),
      ArrowRight: () => (here?.open === false ? this.#toggle(this.#current) : this.#focus(this.#current + 1)),
      ArrowLeft: () => {
        if (here?.open === true) return this.#toggle(this.#current);
        const above = this.#heads.slice(0, this.#current).findLastIndex((head) => head.level < (here?.level ?? 1));
        this.#focus(above);
      },
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move();
  }
}
