/** How far boots that vary scatter: the interval beside the limit, both arms' boots, and what each pair says. */
import { axisBottom } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { el, onWidth, section, svg } from "../dom";
import { swatch } from "../palette";
import { visible } from "../text";
import { type NoisyComparison, shortName } from "./data";
import { fine, signedPercent, tickPercent, tickTime } from "./signed";

const EDGE = 16;
const AXIS = 24;

type Scale = (value: number) => number;

/** A scale in percent that holds the given values and nothing. */
function percentScale(values: number[], room: number): { scale: ReturnType<typeof scaleLinear<number, number>> } {
  const low = values.reduce((a, b) => Math.min(a, b), 0);
  const high = values.reduce((a, b) => Math.max(a, b), 0);
  const pad = 0.08 * Math.max(high - low, 0.1);
  const scale = scaleLinear()
    .domain([low - pad, high + pad])
    .range([EDGE, room - EDGE]);
  return { scale };
}

function axis(
  chart: SVGSVGElement,
  scale: ReturnType<typeof scaleLinear<number, number>>,
  y: number,
  room: number,
  text: (v: number) => string,
): void {
  const group = svg("g", { class: "axis", transform: `translate(0,${y})` });
  const ticks = axisBottom(scale)
    .ticks(Math.max(2, Math.floor(room / 110)))
    .tickSizeOuter(0)
    .tickFormat((value) => text(Number(value)));
  select(group).call(ticks);
  chart.append(group);
}

/** What does not matter, and nothing at all, behind whatever is drawn in percent. */
function ground(chart: SVGSVGElement, scale: Scale, soft: number, height: number): void {
  const band = { x: scale(-soft), y: 2, width: scale(soft) - scale(-soft), height: height - 2, class: "soft-band" };
  chart.append(svg("rect", band), svg("path", { class: "zero", d: `M${scale(0)},0V${height}` }));
}

/** The headline: the estimate with its interval, the limit within which nothing matters, and nothing. */
function headlinePicture(found: NoisyComparison, room: number): SVGSVGElement {
  const soft = Math.max(found.soft_percent, found.floor_percent);
  const { scale } = percentScale([found.percent, ...(found.interval_percent ?? []), -soft, soft], room);
  const height = 58;
  const label = `B against A in percent: estimate ${signedPercent(found.percent)}`;
  const chart = svg("svg", {
    width: room,
    height: height + AXIS,
    role: "img",
    "aria-label": label,
    class: "headline-picture",
  });
  ground(chart, scale, soft, height);
  const y = 32;
  if (found.interval_percent) {
    const [low, high] = found.interval_percent;
    chart.append(
      svg("rect", {
        class: "interval",
        x: scale(low),
        y: y - 5,
        width: Math.max(2, scale(high) - scale(low)),
        height: 10,
        rx: 3,
      }),
    );
  }
  chart.append(svg("circle", { class: "estimate", cx: scale(found.percent), cy: y, r: 6 }));
  const text = svg("text", { x: scale(found.percent), y: 17, class: "middle" }, signedPercent(found.percent));
  chart.append(text);
  axis(chart, scale, height, room, tickPercent);
  return chart;
}

/** Both arms' boots on one axis of time; those of a pair are joined. */
function bootsPicture(found: NoisyComparison, room: number): SVGSVGElement {
  const all = [...found.a_ns, ...found.b_ns];
  const low = all.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const high = all.reduce((a, b) => Math.max(a, b), 0);
  const pad = 0.06 * Math.max(high - low, high * 0.001, 1);
  const scale = scaleLinear()
    .domain([low - pad, high + pad])
    .range([EDGE + 24, room - EDGE]);
  const height = 132;
  const rows = { a: 30, b: 102 };
  const chart = svg("svg", {
    width: room,
    height: height + AXIS,
    role: "img",
    "aria-label": "Times of the boots of both arms",
  });
  if (found.paired) {
    found.a_ns.forEach((ns, i) => {
      const other = found.b_ns[i];
      if (other === undefined) return;
      chart.append(
        svg("path", {
          class: other > ns ? "pair slower" : "pair faster",
          d: `M${scale(ns)},${rows.a}L${scale(other)},${rows.b}`,
        }),
      );
    });
  }
  for (const arm of ["a", "b"] as const) {
    const [times, names] = arm === "a" ? [found.a_ns, found.a_boots] : [found.b_ns, found.b_boots];
    chart.append(svg("text", { x: 4, y: rows[arm] + 5, class: "arm-name" }, arm.toUpperCase()));
    times.forEach((ns, i) => {
      const dot = svg("circle", { class: `boot ${arm}`, cx: scale(ns), cy: rows[arm], r: 4.5 });
      dot.append(svg("title", {}, visible(`${shortName(names[i] ?? "")}: ${fine(ns)}`, 300)));
      chart.append(dot);
    });
    const middle = median(times);
    const [top, bottom] = arm === "a" ? [rows.a - 20, rows.a - 8] : [rows.b + 8, rows.b + 20];
    const mark = svg("path", { class: "median", d: `M${scale(middle)},${top}V${bottom}` });
    mark.append(svg("title", {}, `median of ${arm.toUpperCase()}: ${fine(Math.round(middle))}`));
    chart.append(mark);
  }
  axis(chart, scale, height, room, tickTime);
  return chart;
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** What each pair says, in the order of the session: a drift would show as a slope. */
function pairsPicture(found: NoisyComparison, room: number): SVGSVGElement {
  const changes = found.a_ns.map((ns, i) => 100 * ((found.b_ns[i] ?? ns) / Math.max(ns, 1) - 1));
  const row = changes.length > 40 ? 6 : 14;
  const height = Math.min(560, Math.max(60, row * changes.length + 16));
  const soft = found.soft_percent;
  const { scale } = percentScale([...changes, ...(found.interval_percent ?? []), -soft, soft], room);
  const chart = svg("svg", {
    width: room,
    height: height + AXIS,
    role: "img",
    "aria-label": "The change of each pair",
  });
  ground(chart, scale, soft, height);
  if (found.interval_percent) {
    const [low, high] = found.interval_percent;
    chart.append(
      svg("rect", {
        class: "interval faint",
        x: scale(low),
        y: 2,
        width: Math.max(2, scale(high) - scale(low)),
        height: height - 2,
      }),
    );
  }
  chart.append(svg("path", { class: "estimate-line", d: `M${scale(found.percent)},2V${height}` }));
  changes.forEach((change, i) => {
    const y = 10 + ((height - 20) * (i + 0.5)) / changes.length;
    const group = svg("g", { class: change > 0 ? "pair-change slower" : "pair-change faster" });
    const names = `${shortName(found.a_boots[i] ?? "")} and ${shortName(found.b_boots[i] ?? "")}`;
    group.append(svg("title", {}, visible(`pair ${i + 1}, ${names}: ${signedPercent(change)}`, 300)));
    group.append(
      svg("path", { d: `M${scale(0)},${y}H${scale(change)}` }),
      svg("circle", { cx: scale(change), cy: y, r: 3.6 }),
    );
    chart.append(group);
  });
  axis(chart, scale, height, room, tickPercent);
  return chart;
}

function picture(draw: (found: NoisyComparison, room: number) => SVGSVGElement, found: NoisyComparison): HTMLElement {
  const place = el("div", { class: "spread" });
  onWidth(place, () => place.replaceChildren(draw(found, Math.max(place.clientWidth, 300))));
  return place;
}

export function spreadSection(id: string, found: NoisyComparison): HTMLElement {
  const sign = (fill: string, text: string): HTMLElement => el("span", { class: "sign-of" }, swatch(fill), text);
  const soft = `within ±${found.soft_percent} %, which does not matter`;
  const legend = el(
    "p",
    { class: "legend-line" },
    sign("var(--soft-band)", soft),
    sign("var(--interval)", found.interval_percent ? "interval of the change" : "no interval: too few boots"),
  );
  const parts = [el("h3", {}, "The answer"), picture(headlinePicture, found), legend];
  parts.push(el("h3", {}, found.paired ? "Every boot, pairs joined" : "Every boot"), picture(bootsPicture, found));
  parts.push(el("p", { class: "note" }, "A dot is a boot, a stroke beside the dots the arm's median."));
  if (found.paired) {
    parts.push(el("h3", {}, "What each pair says"), picture(pairsPicture, found));
    parts.push(el("p", { class: "note" }, "Pairs from the first (above) to the last; the line is the estimate."));
  }
  return section(
    id,
    "How sure it is",
    "The boots vary, so one figure is not enough: how they scatter, and what that leaves open.",
    ...parts,
  );
}
