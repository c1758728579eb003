/** Changes as a person reads them: always with their sign, and with digits enough that A and B can be told apart. */
import { exact } from "../format";

const MISSING = "–";
const MINUS = "\u2212";
const STEPS: [number, string, number][] = [
  [1e9, "s", 6],
  [1e6, "ms", 3],
  [1e3, "µs", 3],
];

/** Nanoseconds with three digits behind the point, seconds with six: `1.568412 s`, `927.207 µs`, `31 ns`. */
export function fine(ns: number | null | undefined): string {
  if (ns === null || ns === undefined) return MISSING;
  for (const [size, unit, digits] of STEPS) {
    if (Math.abs(ns) >= size) return minus(`${(ns / size).toFixed(digits)} ${unit}`);
  }
  return minus(`${Number.isInteger(ns) ? ns : ns.toFixed(1)} ns`);
}

/** The same for an axis, without zeros that say nothing: `1.5 s`, `100 ns`. */
export function tickTime(ns: number): string {
  return fine(ns).replace(/\.(\d*?)0+ /, (_, digits: string) => (digits === "" ? " " : `.${digits} `));
}

function minus(text: string): string {
  return text.replace("-", MINUS);
}

function plus(value: number, text: string): string {
  return value > 0 ? `+${text}` : text;
}

/** A change of time: `+1.200 ms`. */
export function signed(ns: number | null | undefined): string {
  return ns === null || ns === undefined ? MISSING : plus(ns, fine(ns));
}

/** A change of a whole number, every digit of it: `+20,890`. */
export function signedCount(count: number | null | undefined): string {
  return count === null || count === undefined ? MISSING : plus(count, minus(exact(count)));
}

/** Half of a whole number of nanoseconds. */
export function signedHalf(doubled: number): string {
  return signed(Math.abs(doubled) >= 2000 ? Math.trunc(doubled / 2) : doubled / 2);
}

/** A change in percent of a whole, to a thousandth of a percent; nothing is rounded to zero. */
export function signedShare(change: number | null | undefined, whole: number | null | undefined): string {
  if (change === null || change === undefined || !whole) return MISSING;
  const percent = (100 * change) / whole;
  if (percent === 0) return "0 %";
  if (Math.abs(percent) < 0.0005) return `${percent > 0 ? "+" : MINUS}<0.001 %`;
  return plus(percent, minus(`${percent.toFixed(3)} %`));
}

/** A change in percent, as a percentage already: `+2.65 %`. */
export function signedPercent(percent: number): string {
  return plus(percent, minus(`${percent.toFixed(2)} %`));
}

/** The same for an axis: `+2.5 %`. */
export function tickPercent(percent: number): string {
  return signedPercent(percent).replace(/\.(\d*?)0+ /, (_, digits: string) => (digits === "" ? " " : `.${digits} `));
}
