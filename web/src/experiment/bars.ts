/** Bars from a line in the middle, faster to the left and slower to the right; and bars of parts beside one another. */
import { type ScaleLinear, scaleLinear } from "d3-scale";
import { fine, signed } from "../comparison/signed";
import { el, onWidth, svg } from "../dom";
import { phaseFill, swatch } from "../palette";
import { valuesAbove } from "../study/axes";
import { visible } from "../text";

const AXIS = 24;
const ROW = 27;
const NARROW_ROW = 40;
const NARROW = 640;

interface Frame {
  chart: SVGSVGElement;
  left: number;
  right: number;
  row: number;
  narrow: boolean;
}

function frame(rows: number, room: number, figures: number, label: string): Frame {
  const narrow = room < NARROW;
  const row = narrow ? NARROW_ROW : ROW;
  const height = AXIS + row * rows + 6;
  const chart = svg("svg", { width: room, height, viewBox: `0 0 ${room} ${height}`, role: "img", "aria-label": label });
  return {
    chart,
    row,
    narrow,
    left: narrow ? 8 : Math.min(290, Math.max(150, room * 0.24)),
    right: narrow ? 8 : figures,
  };
}

function axis(to: Frame, scale: ScaleLinear<number, number>, room: number): void {
  const ticks = Math.max(2, Math.floor((room - to.left - to.right) / 120));
  to.chart.append(valuesAbove(scale, "time", AXIS - 4, ticks));
}

/** Name and figure of a row: beside its bar, or above it where there is no room. */
function texts(to: Frame, y: number, room: number, name: string, figure: string): SVGTextElement[] {
  const cut = visible(name, to.narrow ? Math.floor((room - 130) / 6.8) : Math.floor(to.left / 7.4));
  const place = to.narrow ? { x: 8, y: y + 14 } : { x: to.left - 10, y: y + 17, class: "end" };
  const end = svg("text", { x: room - 6, y: to.narrow ? y + 14 : y + 17, class: "end figure-of" }, figure);
  return [svg("text", place, cut), end];
}

function picture(draw: (room: number) => SVGSVGElement): HTMLElement {
  const place = el("div", { class: "bridge" });
  onWidth(place, () => place.replaceChildren(draw(Math.max(place.clientWidth, 300))));
  return place;
}

export interface Change {
  name: string;
  value: number | null;
  /** The smallest and the largest of what the value is a mean of. */
  range?: [number, number] | null;
  /** What stands in the place of a figure that is not there. */
  missing?: string;
}

/** Changes as bars from 0. */
export function changeBars(changes: Change[], label: string): HTMLElement {
  return picture((room) => {
    const to = frame(changes.length, room, 130, label);
    const values = changes.flatMap(({ value, range }) => [value ?? 0, ...(range ?? [])]);
    const low = values.reduce((a, b) => Math.min(a, b), 0);
    const high = values.reduce((a, b) => Math.max(a, b), 0);
    const scale = scaleLinear()
      .domain(low === high ? [-1, 1] : [low, high])
      .range([to.left + 2, room - to.right]);
    axis(to, scale, room);
    const bottom = AXIS + to.row * changes.length;
    to.chart.append(svg("path", { class: "zero", d: `M${scale(0)},${AXIS - 4}V${bottom}` }));
    changes.forEach(({ name, value, range, missing }, i) => {
      const y = AXIS + to.row * i;
      const line = to.narrow ? y + 20 : y + 5;
      const kind = value === null || value === 0 ? "" : value > 0 ? "slower" : "faster";
      const group = svg("g", { class: `change ${kind}`, "data-value": value ?? undefined });
      const told = range ? `, from ${signed(Math.round(range[0]))} to ${signed(Math.round(range[1]))}` : "";
      group.append(
        svg(
          "title",
          {},
          visible(`${name}: ${value === null ? (missing ?? "–") : signed(Math.round(value))}${told}`, 400),
        ),
      );
      if (value !== null && value !== 0) {
        const [from, until] = [scale(Math.min(0, value)), scale(Math.max(0, value))];
        group.append(svg("rect", { x: from, y: line, width: Math.max(1.5, until - from), height: 16, rx: 2 }));
      }
      if (range && range[0] !== range[1]) {
        const [from, until] = [scale(range[0]), scale(range[1])];
        group.append(
          svg("path", {
            class: "range",
            d: `M${from},${line + 3}v10M${from},${line + 8}H${until}M${until},${line + 3}v10`,
          }),
        );
      }
      group.append(
        ...texts(to, y, room, name, value === null ? visible(missing ?? "–", 18) : signed(Math.round(value))),
      );
      to.chart.append(group);
    });
    return to.chart;
  });
}

export interface Stack {
  name: string;
  total: number;
  parts: (number | null)[];
}

/** Wholes as bars of their parts, beside one another from 0; what the parts leave is a part without colour. */
export function stackedBars(stacks: Stack[], names: string[], label: string): HTMLElement {
  const drawn = picture((room) => {
    const to = frame(stacks.length, room, 110, label);
    const most = stacks.reduce((a, { total }) => Math.max(a, total), 1);
    const scale = scaleLinear()
      .domain([0, most])
      .range([to.left, room - to.right]);
    axis(to, scale, room);
    stacks.forEach(({ name, total, parts }, i) => {
      const y = AXIS + to.row * i;
      const line = to.narrow ? y + 20 : y + 4;
      const group = svg("g", { class: "stack", "data-total": total });
      const part = (from: number, ns: number, fill: string, text: string): void => {
        const box = { x: scale(from), y: line, width: Math.max(0, scale(from + ns) - scale(from)), height: 18 };
        group.append(svg("rect", { ...box, fill, class: "part", "data-ns": ns }, svg("title", {}, visible(text, 300))));
      };
      let at = 0;
      parts.forEach((ns, number) => {
        if (ns === null || ns <= 0) return;
        part(at, ns, phaseFill(number), `${name}, ${names[number] ?? ""}: ${fine(Math.round(ns))}`);
        at += ns;
      });
      if (total > at) part(at, total - at, "var(--faint)", `${name}, in no stage: ${fine(Math.round(total - at))}`);
      group.append(...texts(to, y, room, name, fine(Math.round(total))));
      to.chart.append(group);
    });
    return to.chart;
  });
  const signs = names.map((name, i) => el("li", {}, swatch(phaseFill(i)), visible(name, 60)));
  return el("div", {}, drawn, el("ul", { class: "legend" }, ...signs));
}
