/** Lines over numbers, and histograms. */
import { scaleLinear, scaleLog, scaleSymlog } from "d3-scale";
import { svg } from "../dom";
import { phaseFill } from "../palette";
import { colourOf } from "../scaling/plot";
import { visible } from "../text";
import { numbersBelow, valuesLeft } from "./axes";
import type { Chart } from "./data";

const HEIGHT = 320;
const EDGE = { left: 84, right: 18, top: 12, bottom: 46 };

function sheet(chart: Chart, room: number): SVGSVGElement {
  const picture = svg("svg", {
    width: room,
    height: HEIGHT,
    viewBox: `0 0 ${room} ${HEIGHT}`,
    role: "img",
    "aria-label": visible(`${chart.title}: ${chart.up} by ${chart.across}`, 300),
  });
  picture.append(svg("text", { x: room - EDGE.right, y: HEIGHT - 6, class: "end" }, visible(chart.across, 80)));
  return picture;
}

/** Of the numbers those whose labels do not lie on one another. */
function apart(numbers: number[], at: (value: number) => number): number[] {
  let last = Number.NEGATIVE_INFINITY;
  return [...new Set(numbers)]
    .sort((a, b) => a - b)
    .filter((value) => {
      if (at(value) - last < 40) return false;
      last = at(value);
      return true;
    });
}

export function linesPicture(chart: Chart, room: number): SVGSVGElement {
  const xs = chart.series.flatMap(({ points }) => points.map(([at]) => Number(at)));
  const ys = chart.series.flatMap(({ points }) => points.map(([, value]) => value));
  const ends = (all: number[]): [number, number] => [
    all.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
    all.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY),
  ];
  const [low, high] = ends(ys);
  const x = (chart.logarithmic ? scaleSymlog().constant(1) : scaleLinear())
    .domain(ends(xs))
    .range([EDGE.left, room - EDGE.right]);
  const y = (chart.logarithmic && low > 0 ? scaleLog() : scaleLinear())
    .domain(chart.logarithmic && low > 0 ? [low, high === low ? low * 2 : high] : [Math.min(0, low), high || 1])
    .range([HEIGHT - EDGE.bottom, EDGE.top]);
  const picture = sheet(chart, room);
  const ticks = chart.logarithmic ? apart(xs, (value) => x(value)) : undefined;
  picture.append(
    numbersBelow(x, HEIGHT - EDGE.bottom, Math.max(2, Math.floor(room / 110)), ticks),
    valuesLeft(y, chart.kind, EDGE.left),
  );
  chart.series.forEach(({ name, points, texts }, number) => {
    const group = svg("g", { class: "configuration", stroke: colourOf(number), fill: colourOf(number) });
    const path = points.map(([at, value], i) => `${i ? "L" : "M"}${x(Number(at))},${y(value)}`).join("");
    group.append(svg("path", { class: "law", d: path }));
    points.forEach(([at, value], i) => {
      const dot = svg("circle", {
        class: "measured",
        cx: x(Number(at)),
        cy: y(value),
        r: 4,
        "data-value": value,
      });
      dot.append(svg("title", {}, visible(`${name ? `${name}, ` : ""}${chart.across} ${at}: ${texts[i] ?? ""}`, 300)));
      group.append(dot);
    });
    picture.append(group);
  });
  return picture;
}

/** Bars that touch: each point is where a bin begins, and how much is in it; the last bin is as wide as the one before. */
export function histogramPicture(chart: Chart, room: number): SVGSVGElement {
  const starts = chart.series.flatMap(({ points }) => points.map(([at]) => Number(at)));
  const distinct = [...new Set(starts)].sort((a, b) => a - b);
  const step = distinct.length > 1 ? (distinct[1] ?? 1) - (distinct[0] ?? 0) : 1;
  const most = chart.series
    .flatMap(({ points }) => points.map(([, value]) => value))
    .reduce((a, b) => Math.max(a, b), 1);
  const x = scaleLinear()
    .domain([distinct[0] ?? 0, (distinct.at(-1) ?? 0) + step])
    .range([EDGE.left, room - EDGE.right]);
  const y = scaleLinear()
    .domain([0, most])
    .range([HEIGHT - EDGE.bottom, EDGE.top]);
  const picture = sheet(chart, room);
  picture.append(
    numbersBelow(x, HEIGHT - EDGE.bottom, Math.max(2, Math.floor(room / 110))),
    valuesLeft(y, chart.kind, EDGE.left),
  );
  const several = chart.series.length;
  chart.series.forEach(({ name, points, texts }, number) => {
    points.forEach(([at, value], i) => {
      const width = (x(Number(at) + step) - x(Number(at))) / several;
      const box = {
        class: "bar",
        x: x(Number(at)) + number * width,
        y: y(value),
        width: Math.max(0.5, width - (several > 1 ? 0 : 0.5)),
        height: HEIGHT - EDGE.bottom - y(value),
        fill: phaseFill(number),
        "data-value": value,
      };
      const title = visible(`${name ? `${name}, ` : ""}from ${at}: ${texts[i] ?? ""}`, 300);
      picture.append(svg("rect", box, svg("title", {}, title)));
    });
  });
  return picture;
}
