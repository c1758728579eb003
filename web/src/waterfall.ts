/** Intervals below one another on one axis of time. */
import { axisTop } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { address } from "./address";
import { el, onWidth, svg } from "./dom";
import { time } from "./format";
import { swatch } from "./palette";
import { cutInMiddle, visible } from "./text";

export interface Part {
  start: number;
  /** Null: it did not end; it is drawn to the end of the axis. */
  end: number | null;
  fill: string;
}

export interface Lane {
  name: string;
  /** What stands before the lane instead of its name. */
  label?: string;
  /** What the tooltip says. */
  text: string;
  parts: Part[];
  /** Lanes with the largest rank are drawn first; the sum of the parts where it is missing. */
  rank?: number;
  /** It is drawn whatever its rank. */
  always?: boolean;
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
    group.append(
      svg(
        "text",
        { x: names - 8, y: y + 11, class: "end" },
        cutInMiddle(lane.label ?? lane.name, Math.floor((names - 8) / 7.4)),
      ),
    );
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

/** The lanes with the largest rank in their order, and those that are always drawn. */
export function chosenLanes(lanes: Lane[], most: number, end: number): Lane[] {
  const length = (lane: Lane): number =>
    lane.parts.reduce((sum, part) => sum + Math.max(0, (part.end ?? end) - part.start), 0);
  const rank = (lane: Lane): number => (lane.always ? Number.POSITIVE_INFINITY : (lane.rank ?? length(lane)));
  const always = lanes.filter((lane) => lane.always).length;
  const kept = new Set(
    [...lanes]
      .map((lane) => ({ lane, rank: rank(lane) }))
      .sort((a, b) => (a.rank === b.rank ? 0 : b.rank - a.rank))
      .slice(0, Math.max(most, always))
      .map(({ lane }) => lane),
  );
  return lanes.filter((lane) => kept.has(lane));
}

/** A chart of the longest lanes in order of time, with a legend and a switch to all of them. */
export function waterfall(
  label: string,
  lanes: Lane[],
  span: { from: number; to: number },
  legend: [string, string][],
): HTMLElement | null {
  const longest = chosenLanes(lanes, MOST, span.to);
  if (longest.length === 0) return null;
  let all = false;
  /** The lane to scroll to as soon as the chart has a size. */
  let wanted: number | null = null;
  const place = el("div", { class: "waterfall" });
  // Of all lanes the chart draws those in view: it stays at the top while the space below it scrolls.
  const draw = (): void => {
    const shown = all ? lanes : longest;
    const first = all ? Math.min(Math.floor(place.scrollTop / LANE), shown.length - 1) : 0;
    const part = all ? shown.slice(first, first + MOST) : shown;
    const chart = drawing(part, span.from, span.to, Math.max(place.clientWidth, 320), label);
    const rest = all ? Math.max(0, shown.length - MOST) * LANE : 0;
    const space = el("div", {});
    space.style.height = `${rest}px`;
    place.replaceChildren(chart, space);
    if (wanted === null || place.clientWidth === 0) return;
    place.scrollTop = wanted * LANE;
    wanted = null;
  };
  place.addEventListener("scroll", () => {
    if (!all) return;
    draw();
    address.changed();
  });
  onWidth(place, draw);
  const signs = legend.map(([fill, text]) => el("span", { class: "sign-of" }, swatch(fill), text));
  const count = lanes.length.toLocaleString("en");
  const text = (): string => (all ? `Draw the ${longest.length} longest` : `Draw all ${count}`);
  const button = el("button", { type: "button" }, text());
  const show = (every: boolean, first: number): void => {
    all = every;
    wanted = first;
    place.classList.toggle("all", all);
    button.textContent = text();
    draw();
  };
  button.addEventListener("click", () => {
    show(!all, 0);
    address.changed();
  });
  const drawn = el("div", {}, place, el("p", { class: "legend-line" }, ...signs));
  if (lanes.length === longest.length) return drawn;
  drawn.lastElementChild?.append(el("span", {}, `The ${longest.length} longest of ${count} are drawn. `, button));
  address.keep(`all.${label.toLowerCase().replaceAll(" ", "-")}`, {
    read: () => (all ? String(wanted ?? Math.floor(place.scrollTop / LANE)) : null),
    write: (asked) => {
      const first = /^\d{1,9}$/.test(asked ?? "") ? Number(asked) : Number.POSITIVE_INFINITY;
      show(first < lanes.length, first < lanes.length ? first : 0);
    },
  });
  return drawn;
}
