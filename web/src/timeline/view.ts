/** The part of the axis that is shown, and how times become pixels. */

/** No less than this is shown, in nanoseconds. */
const LEAST = 200;

export class View {
  first: number;
  last: number;
  from: number;
  to: number;
  /** Of the drawing, in pixels; the labels of the tracks take the left part. */
  width = 800;
  gutter = 190;

  constructor(first: number, last: number) {
    this.first = first;
    this.last = last;
    this.from = first;
    this.to = last;
  }

  get length(): number {
    return this.to - this.from;
  }

  get whole(): number {
    return this.last - this.first;
  }

  /** The width of the axis in pixels. */
  get room(): number {
    return Math.max(1, this.width - this.gutter);
  }

  /** What a pixel lasts. */
  get pixel(): number {
    return this.length / this.room;
  }

  x(time: number): number {
    return this.gutter + (time - this.from) / this.pixel;
  }

  time(x: number): number {
    return this.from + (x - this.gutter) * this.pixel;
  }

  /** Shows an interval, as far as the boot has it. */
  show(from: number, to: number): void {
    const length = Math.min(this.whole, Math.max(Math.min(LEAST, this.whole), to - from));
    const start = Math.max(this.first, Math.min(this.last - length, from));
    this.from = start;
    this.to = start + length;
  }
}
