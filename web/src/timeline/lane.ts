/** A lane: bars that do not overlap, in columns, so that both their starts and their ends are sorted. */

/** The looks of bars, as `firstlight.render.page.timeline.lanes` numbers them; smaller ones are a series. */
export const LOOK = { life: 8, work: 9, deferred: 10, waiting: 11, running: 12, call: 13, other: 14, artefact: 15 };
const CRITICAL = 16;
const OPEN = 32;

export class Lane {
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** The length of all bars before each; one entry more than there are bars. */
  readonly sum: Float64Array;
  readonly name: Uint32Array;
  readonly look: Uint8Array;
  readonly size: number;
  /** A bit for each look that a bar of the lane has, and whether one is on the critical path. */
  readonly looks: number;
  readonly critical: boolean;
  /** Of a comparison: by how much each bar is longer than its partner, in nanoseconds; NaN without a partner. */
  change: Float64Array | null = null;
  /** Of a queue: how much of the height of its row each bar has, from 0 to 1. */
  share: Float32Array | null = null;

  constructor(start: Float64Array, end: Float64Array, name: Uint32Array, look: Uint8Array) {
    this.start = start;
    this.end = end;
    this.name = name;
    this.look = look;
    this.size = start.length;
    this.sum = new Float64Array(this.size + 1);
    let [sum, looks, signs] = [0, 0, 0];
    for (let i = 0; i < this.size; i++) {
      sum += this.length(i);
      this.sum[i + 1] = sum;
      const seen = look[i] ?? 0;
      looks |= 1 << (seen & 15);
      signs |= seen;
    }
    this.looks = looks;
    this.critical = (signs & CRITICAL) !== 0;
  }

  from(i: number): number {
    return this.start[i] ?? 0;
  }

  to(i: number): number {
    return this.end[i] ?? 0;
  }

  length(i: number): number {
    return this.to(i) - this.from(i);
  }

  named(i: number): number {
    return this.name[i] ?? 0;
  }

  /** The look without signs. */
  lookOf(i: number): number {
    return (this.look[i] ?? 0) & 15;
  }

  isCritical(i: number): boolean {
    return ((this.look[i] ?? 0) & CRITICAL) !== 0;
  }

  isOpen(i: number): boolean {
    return ((this.look[i] ?? 0) & OPEN) !== 0;
  }

  /** The first bar that ends after an instant; `size` where there is none. */
  after(time: number, least = 0): number {
    let low = least;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.to(middle) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The bar in which an instant lies, or -1. */
  at(time: number): number {
    const i = this.after(time);
    return i < this.size && this.from(i) <= time ? i : -1;
  }

  /** How much of an interval the bars cover. */
  covered(from: number, to: number): number {
    let low = this.after(from);
    let sum = 0;
    if (low < this.size && this.from(low) < from) {
      sum += Math.min(to, this.to(low)) - from;
      low++;
    }
    const high = this.after(to, low);
    sum += (this.sum[high] ?? 0) - (this.sum[low] ?? 0);
    if (high < this.size && high >= low && this.from(high) < to) sum += to - Math.max(from, this.from(high));
    return sum;
  }

  /** The largest share of the height that some bars have, up to and without the last. */
  tallest(from: number, to: number): number {
    if (!this.share) return 1;
    let most = 0;
    for (let i = from; i < to; i++) most = Math.max(most, this.share[i] ?? 0);
    return most;
  }

  /** The same bars at other times, perhaps with other numbers of their names. */
  shifted(by: number, name = this.name): Lane {
    const moved = new Lane(
      this.start.map((time) => time + by),
      this.end.map((time) => time + by),
      name,
      this.look,
    );
    moved.change = this.change;
    moved.share = this.share;
    return moved;
  }
}
