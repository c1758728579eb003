/** What the reader has chosen for the whole page: one phase or all, and the unit. */
import type { Unit } from "./format";

type Listener = () => void;

export class Selection {
  #phase: string | null = null;
  #unit: Unit;
  #listeners: Listener[] = [];

  constructor(unit: Unit) {
    this.#unit = unit;
  }

  get phase(): string | null {
    return this.#phase;
  }

  get unit(): Unit {
    return this.#unit;
  }

  set phase(phase: string | null) {
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.#tell();
  }

  set unit(unit: Unit) {
    if (unit === this.#unit) return;
    this.#unit = unit;
    this.#tell();
  }

  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
