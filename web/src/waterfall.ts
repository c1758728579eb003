/** Intervals below one another on one axis of time. */
import { axisTop } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { el, onWidth, svg } from "./dom";
import { time } from "./format";
import { swatch } from "./palette";
import { visible } from "./text";

export interface Part {
  start: number;
  /** Null: it did not end; it is drawn to the end of the axis. */
  end: number | null;
  fill: string;
}

export interface Lane {
  name: string;
  /** What the tooltip says. */
  text: string;
  parts: Part[];
}

const LANE = 19;
const BAR = 13;
const AXIS = 24;
const MOST = 60;

function drawing(lanes: Lane[], from: number, to: number, room: number, label: string): SVGSVGElement {
  const names = Math.min(260, Math.max(110, room * 0.26));
  const scale = scaleLinear()
    .domain([from, Math.max(to, from + 1)])
    .range([names, room - 30]);
  const height = AXIS + LANE * lanes.length + 6;
  const chart = svg("svg", { width: room, height, viewBox: `0 0 ${room} ${height}`, role: "img", "aria-label": label });
  const ticks = axisTop(scale)
    .ticks(Math.max(2, Math.floor((room - names) / 110)))
    .tickSizeOuter(0)
    .tickFormat((value) => time(Number(value)));
  const axis = svg("g", { class: "axis", transform: `translate(0,${AXIS})` });
  select(axis).call(ticks);
  chart.append(axis);
  lanes.forEach((lane, i) => {
    const y = AXIS + 4 + LANE * i;
    const group = svg("g", { class: "lane", "data-name": visible(lane.name, 100) });
    group.append(svg("title", {}, visible(lane.text, 500)));
    group.append(svg("text", { x: names - 8, y: y + 11, class: "end" }, visible(lane.name, Math.floor(names / 7.2))));
    for (const part of lane.parts) {
      const end = part.end === null ? to : part.end;
      const [x, until] = [scale(Math.max(part.start, from)), scale(Math.min(Math.max(end, part.start), to))];
      const size = { y, height: BAR, rx: 2, fill: part.fill, class: part.end === null ? "open" : undefined };
      group.append(svg("rect", { x, width: Math.max(1.5, until - x), ...size }));
    }
    chart.append(group);
  });
  return chart;
}

/** A chart of the longest lanes in order of time, with a legend and a line on what it leaves out. */
export function waterfall(
  label: string,
  lanes: Lane[],
  span: { from: number; to: number },
  legend: [string, string][],
): HTMLElement | null {
  const length = (lane: Lane): number =>
    lane.parts.reduce((sum, part) => sum + Math.max(0, (part.end ?? span.to) - part.start), 0);
  const kept = new Set([...lanes].sort((a, b) => length(b) - length(a)).slice(0, MOST));
  const shown = lanes.filter((lane) => kept.has(lane));
  if (shown.length === 0) return null;
  const place = el("div", { class: "waterfall" });
  onWidth(place, () => {
    place.replaceChildren(drawing(shown, span.from, span.to, Math.max(place.clientWidth, 320), label));
  });
  const signs = legend.map(([fill, text]) => el("span", { class: "sign-of" }, swatch(fill), text));
  const left = lanes.length - shown.length;
  const note =
    left > 0 ? el("span", {}, `The ${MOST} longest are drawn; the table has ${left.toLocaleString("en")} more.`) : null;
  return el("div", {}, place, el("p", { class: "legend-line" }, ...signs, note));
}
