/** The card beside the pointer, or beside what has the focus. */
import { el } from "./dom";

const GAP = 14;

export class Card {
  readonly #element = el("div", { class: "card", role: "tooltip", hidden: true });

  readonly #beside: HTMLElement;

  constructor(beside: HTMLElement) {
    this.#beside = beside;
  }

  show(content: Node[], x: number, y: number): void {
    if (!this.#element.isConnected) (this.#beside.closest("section") ?? document.body).append(this.#element);
    this.#element.replaceChildren(...content);
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
