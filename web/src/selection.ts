/** What the reader has chosen for the whole page: one phase or all, a stretch of time, and the unit. */
import { address } from "./address";
import type { Unit } from "./format";

type Listener = () => void;
const VIEWS = ["first", "size", "sandwich", "time"];
const TREES = ["calls", "processes"];

export class Selection {
  #phase: string | null = null;
  #unit: Unit;
  #stretch: readonly [number, number] | null = null;
  #view = "first";
  #tree = "calls";
  #shown: readonly [number, number] | null = null;
  #listeners: Listener[] = [];
  #watchers: Listener[] = [];

  constructor(unit: Unit) {
    this.#unit = unit;
  }

  get phase(): string | null {
    return this.#phase;
  }

  get unit(): Unit {
    return this.#unit;
  }

  /** From one instant to another, in nanoseconds of the boot's clock. */
  get stretch(): readonly [number, number] | null {
    return this.#stretch;
  }

  set stretch(stretch: readonly [number, number] | null) {
    if (stretch?.[0] === this.#stretch?.[0] && stretch?.[1] === this.#stretch?.[1]) return;
    this.#stretch = stretch;
    if (stretch !== null) this.#phase = null;
    this.#tell();
  }

  /** The part of the axis that the timeline shows; what follows it asks with `onShown`, since it changes often. */
  get shown(): readonly [number, number] | null {
    return this.#shown;
  }

  set shown(shown: readonly [number, number] | null) {
    if (shown?.[0] === this.#shown?.[0] && shown?.[1] === this.#shown?.[1]) return;
    this.#shown = shown;
    for (const watcher of this.#watchers) watcher();
  }

  onShown(watcher: Listener): void {
    this.#watchers.push(watcher);
  }

  /** How the flame graph is ordered: by `first` call, by `size`, as a `sandwich`, or in the order of `time`. */
  get view(): string {
    return this.#view;
  }

  set view(view: string) {
    if (view === this.#view || !VIEWS.includes(view)) return;
    this.#view = view;
    this.#tell();
  }

  /** Which tree the flame graph draws: the kernel's `calls`, or `processes` with kernel and userspace. */
  get tree(): string {
    return this.#tree;
  }

  set tree(tree: string) {
    if (tree === this.#tree || !TREES.includes(tree)) return;
    this.#tree = tree;
    this.#tell();
  }

  set phase(phase: string | null) {
    if (phase === this.#phase) return;
    this.#phase = phase;
    if (phase !== null) this.#stretch = null;
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

  /** Keeps it in the address; `phases` are those that can be chosen. */
  keep(phases: string[]): void {
    const first = this.#unit;
    address.keep("tree", {
      read: () => (this.#tree === "calls" ? null : this.#tree),
      write: (text) => {
        this.tree = text ?? "calls";
      },
    });
    address.keep("view", {
      read: () => (this.#view === "first" ? null : this.#view),
      write: (text) => {
        this.view = text ?? "first";
      },
    });
    address.keep("unit", {
      read: () => (this.#unit === first ? null : this.#unit),
      write: (text) => {
        const unit = text ?? first;
        if (unit === "time" || unit === "instructions") this.unit = unit;
      },
    });
    address.keep("phase", {
      read: () => this.#phase,
      write: (text) => {
        this.phase = text !== null && phases.includes(text) ? text : null;
      },
    });
    this.onChange(address.changed);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
