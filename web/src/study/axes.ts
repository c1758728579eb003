/** Axes of a study's charts: values by their kind, in the units that people read. */

import type { AxisScale } from "d3-axis";
import { axisBottom, axisLeft, axisTop } from "d3-axis";
import { select } from "d3-selection";
import { tickTime } from "../comparison/signed";
import { svg } from "../dom";

const BYTES: [string, number][] = [
  ["GiB", 2 ** 30],
  ["MiB", 2 ** 20],
  ["KiB", 2 ** 10],
];

/** A value at an axis: short, with its unit. */
export function tickText(kind: string, value: number): string {
  if (kind === "time" || kind === "change") return tickTime(Math.round(value));
  if (kind === "share" || kind === "percent") return `${Number((value * 100).toPrecision(4))} %`;
  if (kind === "bytes") {
    const [unit, size] = BYTES.find(([, least]) => Math.abs(value) >= least) ?? ["B", 1];
    return `${Number((value / size).toPrecision(4))} ${unit}`;
  }
  const text = value.toLocaleString("en", { maximumSignificantDigits: 5 });
  return kind === "seconds" ? `${text} s` : text;
}

type Numbers = AxisScale<number>;

function drawn(axis: ReturnType<typeof axisLeft<number>>, x: number, y: number): SVGGElement {
  const group = svg("g", { class: "axis", transform: `translate(${x},${y})` });
  select(group).call(axis.tickSizeOuter(0));
  return group;
}

/** Values along the top, for bars that lie. */
export function valuesAbove(scale: Numbers, kind: string, y: number, ticks: number): SVGGElement {
  return drawn(
    axisTop(scale)
      .ticks(ticks)
      .tickFormat((value) => tickText(kind, Number(value))),
    0,
    y,
  );
}

/** Values at the left. */
export function valuesLeft(scale: Numbers, kind: string, x: number): SVGGElement {
  return drawn(
    axisLeft(scale)
      .ticks(6)
      .tickFormat((value) => tickText(kind, Number(value))),
    x,
    0,
  );
}

/** Numbers along the bottom; where *at* is given, only there. */
export function numbersBelow(scale: Numbers, y: number, ticks: number, at?: number[]): SVGGElement {
  const axis = axisBottom(scale)
    .ticks(ticks)
    .tickFormat((value) => Number(value).toLocaleString("en", { maximumSignificantDigits: 4 }));
  return drawn(at ? axis.tickValues(at) : axis, 0, y);
}
