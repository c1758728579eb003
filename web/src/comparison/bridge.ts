/** The bridge from A's total to B's: a waterfall whose steps add up to the change of the whole. */
import { axisTop } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { el, onWidth, svg } from "../dom";
import { exact, words } from "../format";
import { cutInMiddle, visible } from "../text";
import { type ExactComparison, type Level, type MeanLevel, rowName } from "./data";
import { fine, signed, signedCount, signedShare, tickTime } from "./signed";

/** So many steps have a bar of their own. */
const MOST = 12;
const AXIS = 26;
const NARROW = 640;

export interface Step {
  name: string;
  /** In nanoseconds; of means, what `scaled` is divided by the scale. */
  ns: number;
  /** The whole number that adds up without rounding. */
  scaled: number;
  /** It may be noise. */
  unsure?: boolean;
}

export interface Bridge {
  a: number;
  b: number;
  /** By what `scaled` was multiplied; 1 where everything is whole nanoseconds. */
  scale: number;
  whole: number;
  /** What the steps add up to, in words. */
  means: string;
  steps: Step[];
}

/** The steps with the largest changes, and one for all others together. */
function chosen(steps: Step[], others: Step | null): Step[] {
  const changed = steps.filter((step) => step.scaled !== 0).sort((a, b) => Math.abs(b.scaled) - Math.abs(a.scaled));
  const small = changed.slice(MOST);
  if (others !== null && others.scaled !== 0) small.push(others);
  if (small.length === 0) return changed;
  const count = small.length - (others !== null && others.scaled !== 0 ? 1 : 0);
  const unsure = small.every((step) => step.unsure === true);
  const sum = { name: `(${exact(count)} smaller, added up)`, ns: 0, scaled: 0, unsure };
  for (const step of small) {
    sum.ns += step.ns;
    sum.scaled += step.scaled;
  }
  if (others !== null && others.scaled !== 0) sum.name = "(all smaller ones, added up)";
  return [...changed.slice(0, MOST), sum];
}

export function exactBridge(comparison: ExactComparison, level: Level): Bridge {
  const step = (row: { name: string; module: string | null; kind: string; change: { ns: number } }): Step => ({
    name: words(rowName(row)),
    ns: row.change.ns,
    scaled: row.change.ns,
  });
  const { a, b, change } = comparison.totals;
  const others = level.left_out.count > 0 ? step(level.left_out) : null;
  return {
    a: a?.ns ?? 0,
    b: b?.ns ?? 0,
    scale: 1,
    whole: change.ns,
    means: "B less A",
    steps: chosen(level.rows.map(step), others),
  };
}

export function meanBridge(level: MeanLevel): Bridge {
  const steps = level.rows.map((row) => ({
    name: words(rowName(row)),
    ns: row.change_scaled / level.scale,
    scaled: row.change_scaled,
    unsure: !row.differs,
  }));
  const { a_mean_ns, b_mean_ns, change_scaled } = level.whole;
  return {
    a: a_mean_ns,
    b: b_mean_ns,
    scale: level.scale,
    whole: change_scaled,
    means: "B's mean less A's",
    steps: chosen(steps, null),
  };
}

interface Bar {
  name: string;
  from: number;
  to: number;
  figure: string;
  more: string;
  kind: "total" | "slower" | "faster";
  step: Step | null;
}

function bars(bridge: Bridge, names: [string, string]): Bar[] {
  const total = (name: string, value: number): Bar => {
    return { name, from: 0, to: value, figure: fine(Math.round(value)), more: "", kind: "total", step: null };
  };
  let at = bridge.a;
  const steps = bridge.steps.map((step): Bar => {
    const from = at;
    at += step.ns;
    const kind = step.scaled > 0 ? "slower" : "faster";
    const more = signedShare(step.ns, bridge.a);
    return { name: step.name, from, to: at, figure: signed(Math.round(step.ns)), more, kind, step };
  });
  return [total(names[0], bridge.a), ...steps, total(names[1], bridge.b)];
}

function drawing(bridge: Bridge, names: [string, string], room: number, label: string): SVGSVGElement {
  const all = bars(bridge, names);
  const narrow = room < NARROW;
  const left = narrow ? 8 : Math.min(290, Math.max(170, room * 0.24));
  const right = narrow ? 8 : 210;
  const high = narrow ? 40 : 27;
  const values = all.flatMap((bar) => (bar.kind === "total" ? [bar.to] : [bar.from, bar.to]));
  const { low, top } = extent(values);
  const scale = scaleLinear()
    .domain([low, top])
    .range([left, room - right]);
  const height = AXIS + high * all.length + 6;
  const chart = svg("svg", { width: room, height, viewBox: `0 0 ${room} ${height}`, role: "img", "aria-label": label });
  const ticks = axisTop(scale)
    .ticks(Math.max(2, Math.floor((room - left - right) / 120)))
    .tickSizeOuter(0)
    .tickFormat((value) => tickTime(Number(value)));
  const axis = svg("g", { class: "axis", transform: `translate(0,${AXIS - 4})` });
  select(axis).call(ticks);
  const joins = svg("g", {});
  chart.append(axis, joins);
  all.forEach((bar, i) => {
    const y = AXIS + high * i;
    const line = narrow ? y + 20 : y + 5;
    const thick = 16;
    const [x, until] = [scale(Math.max(Math.min(bar.from, bar.to), low)), scale(Math.max(bar.from, bar.to))];
    const group = svg("g", {
      class: `step ${bar.kind}${bar.step?.unsure ? " unsure" : ""}`,
      "data-scaled": bar.step?.scaled,
    });
    const text = [bar.name, bar.figure, bar.more].filter((part) => part !== "").join(", ");
    group.append(svg("title", {}, visible(text, 500)));
    // In narrow windows the figure stands in the line of the name; names of boots are bold.
    const letter = bar.kind === "total" ? 8 : 6.8;
    const space = narrow ? room - 104 - 7.6 * bar.figure.length : left;
    const name = cutInMiddle(bar.name, Math.max(4, Math.floor(space / (narrow ? letter : 7.4))));
    const place = narrow ? { x: 8, y: y + 14 } : { x: left - 10, y: line + 12, class: "end" };
    group.append(svg("text", place, name));
    group.append(svg("rect", { x, y: line, width: Math.max(1.5, until - x), height: thick, rx: 2 }));
    if (bar.kind === "total" && low > 0) group.append(breakMark(x + 14, line, thick));
    const figure = svg("text", {
      x: narrow ? room - 78 : room - 88,
      y: narrow ? y + 14 : line + 12,
      class: "end figure-of",
    });
    figure.append(bar.figure);
    const more = svg("text", { x: room - 6, y: narrow ? y + 14 : line + 12, class: "end share-of" }, bar.more);
    group.append(figure, more);
    if (i + 1 < all.length) {
      const at = scale(bar.to);
      joins.append(svg("path", { class: "join", d: `M${at},${line + thick}V${line + high}` }));
    }
    chart.append(group);
  });
  return chart;
}

/** From where to where the axis goes: not from 0 where that would make every step a hair. */
function extent(values: number[]): { low: number; top: number } {
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = values.reduce((a, b) => Math.max(a, b), 1);
  const range = Math.max(most - least, most * 1e-9, 1);
  const low = least - 0.18 * range;
  return low <= 0 || range > 0.4 * most ? { low: 0, top: most } : { low, top: most + 0.02 * range };
}

/** The sign that a bar does not begin at nothing. */
function breakMark(x: number, y: number, high: number): SVGPathElement {
  return svg("path", {
    class: "break",
    d: `M${x - 4},${y + high + 2}l5,-${high + 4}M${x + 1},${y + high + 2}l5,-${high + 4}`,
  });
}

/** Whether the steps add up, told with every digit. */
function sumText(bridge: Bridge): string {
  const sum = bridge.steps.reduce((total, step) => total + step.scaled, 0);
  const digits = (value: number): string =>
    `${signedCount(bridge.scale === 1 ? value : Math.round(value / bridge.scale))} ns`;
  if (sum !== bridge.whole)
    return `The steps add up to ${digits(sum)} and the whole changed by ${digits(bridge.whole)}.`;
  return `The steps add up to ${digits(sum)}, exactly ${bridge.means}.`;
}

/** The picture with the line that says what it adds up to. */
export function bridgePicture(bridge: Bridge, names: [string, string], label: string): HTMLElement {
  if (bridge.steps.length === 0) {
    return el(
      "p",
      { class: "note sum" },
      `No step: A and B both take ${fine(Math.round(bridge.a))}, and no part of it changed.`,
    );
  }
  const place = el("div", { class: "bridge" });
  onWidth(place, () => place.replaceChildren(drawing(bridge, names, Math.max(place.clientWidth, 300), label)));
  const values = [bridge.a, bridge.b];
  let at = bridge.a;
  for (const step of bridge.steps) {
    at += step.ns;
    values.push(at);
  }
  const { low } = extent(values);
  const pale = bridge.steps.some((step) => step.unsure)
    ? " Pale steps cannot be told from noise, or the records do not show when they began and ended."
    : "";
  const cut = low > 0 ? ` The axis begins at ${fine(Math.round(low))}, not at 0.` : "";
  return el("div", {}, place, el("p", { class: "note sum", role: "note" }, `${sumText(bridge)}${pale}${cut}`));
}
