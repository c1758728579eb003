/** Figures as a person reads them. The exact figure is always one hover or one column away. */

import type { PageData } from "./types";

export type Unit = "instructions" | "time";

const MISSING = "–";

/** A value in the first of the units that it reaches, each a thousandth of the one before, from 10^9 on. */
function scaled(value: number | null | undefined, units: string[]): string {
  if (value === null || value === undefined) return MISSING;
  for (const [i, unit] of units.entries()) {
    const shown = value / 10 ** (9 - 3 * i);
    if (Math.abs(shown) >= 1) {
      const digits = Math.abs(shown) >= 100 ? 0 : Math.abs(shown) >= 10 ? 1 : 2;
      return `${shown.toFixed(digits)} ${unit}`.trim();
    }
  }
  return `${exact(value)} ${units.at(-1)}`.trim();
}

/** Nanoseconds: `1.58 s`, `12.3 ms`, `640 ns`. */
export function time(ns: number | null | undefined): string {
  return scaled(ns, ["s", "ms", "µs", "ns"]);
}

/** Instructions: `1.58 G`, `12.3 M`, `640`. */
export function instructions(count: number | null | undefined): string {
  return scaled(count, ["G", "M", "k", ""]);
}

export function amount(value: number | null | undefined, unit: Unit): string {
  return unit === "time" ? time(value) : instructions(value);
}

/** Every digit, in groups of three. */
export function exact(value: number | null | undefined): string {
  if (value === null || value === undefined) return MISSING;
  return value.toLocaleString("en", { maximumFractionDigits: 0 });
}

/** A share of a whole: `12.3 %`; small ones keep two significant digits, nothing is rounded to zero. */
export function share(part: number | null | undefined, whole: number | null | undefined): string {
  if (part === null || part === undefined || !whole) return MISSING;
  const percent = (100 * part) / whole;
  if (percent === 0) return "0 %";
  if (percent < 0.01) return "< 0.01 %";
  return `${percent < 1 ? percent.toFixed(2) : percent.toFixed(1)} %`;
}

/** A time stamp as the kernel prints it: seconds with six digits. */
export function stamp(ns: number | null | undefined): string {
  return ns === null || ns === undefined ? "" : (ns / 1e9).toFixed(6);
}

/** Mark and phase names for people: `kernel_start` as `kernel start`. */
export function words(name: string): string {
  return name.replaceAll("_", " ");
}

/** What the time of a boot is called: only an emulated clock gives virtual time. */
export function timeName(data: PageData): string {
  return data.boot.virtual ? "virtual time" : "time";
}

/** How far a time may be off, in words; nothing where its marks are known. */
export function unsureText(unsure: number | null): string {
  if (unsure === 0) return "";
  return unsure === null ? "off by an unknown time" : `off by up to ${time(unsure)}`;
}
