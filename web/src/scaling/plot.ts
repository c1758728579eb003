/** Costs by sizes: what was measured, the law, its runner-up, and the band in which a further size would lie. */
import { axisBottom, axisLeft } from "d3-axis";
import { type ScaleContinuousNumeric, scaleLinear, scaleLog, scaleSymlog } from "d3-scale";
import { select } from "d3-selection";
import { choice } from "../comparison/choice";
import { tickTime } from "../comparison/signed";
import { el, onWidth, svg } from "../dom";
import { swatch } from "../palette";
import { visible } from "../text";
import type { Curve, ScalePage } from "./data";

const HEIGHT = 380;
const EDGE = { left: 84, right: 18, top: 12, bottom: 44 };
const COLOURS = 8;
/** Beyond this ratio of costs a linear axis shows only the largest. */
const FLAT = 20;

type Scale = ScaleContinuousNumeric<number, number>;

interface Scales {
  x: Scale;
  y: Scale;
  ticks: number[];
}

export function colourOf(number: number): string {
  return `var(--law-${number % COLOURS})`;
}

/** A cost as it is told: time, or a plain number. */
export function costText(page: ScalePage, value: number): string {
  if (page.scale.cost_unit === "ns") return tickTime(Math.round(value));
  if (Math.abs(value) >= 1e7) return value.toExponential(3).replace(/\.?0*e\+?/, "e");
  return value.toLocaleString("en", { maximumSignificantDigits: 5 });
}

function known(values: (number | null)[]): number[] {
  return values.filter((value): value is number => value !== null);
}

function scales(page: ScalePage, room: number, logarithmic: boolean): Scales {
  const { configurations } = page.scale;
  const sizes = page.configurations.flatMap(({ curve }) => curve.size);
  const costs = configurations.flatMap((each) => each.costs);
  const measured = costs.reduce((a, b) => Math.max(a, b), 0);
  // A band that opens far away is cut, so that what was measured can be seen.
  const bands = page.configurations.flatMap(({ curve }) => [
    ...known(curve.law),
    ...known(curve.low),
    ...known(curve.high),
  ]);
  const all = [...costs, ...bands.filter((value) => value <= 4 * measured)];
  const low = all.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const high = all.reduce((a, b) => Math.max(a, b), Math.max(low, 1e-12));
  const x = (logarithmic ? scaleSymlog().constant(1) : scaleLinear())
    .domain([
      sizes.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
      sizes.reduce((a, b) => Math.max(a, b), 1),
    ])
    .range([EDGE.left, room - EDGE.right]);
  const steep = logarithmic && low > 0 && high / low > FLAT;
  const pad = 0.06 * (high - low || high || 1);
  const domain = steep ? [low, high] : [Math.max(0, low - pad), high + pad];
  const y = (steep ? scaleLog() : scaleLinear()).domain(domain).range([HEIGHT - EDGE.bottom, EDGE.top]);
  const distinct = [...new Set(configurations.flatMap((each) => each.sizes))].sort((a, b) => a - b);
  return { x, y, ticks: logarithmic ? apart(distinct, x) : x.ticks(Math.max(2, Math.floor(room / 110))) };
}

/** Of the sizes those whose labels do not lie on one another. */
function apart(sizes: number[], x: Scale): number[] {
  let last = Number.NEGATIVE_INFINITY;
  return sizes.filter((size) => {
    if (x(size) - last < 34) return false;
    last = x(size);
    return true;
  });
}

function line(curve: Curve, values: (number | null)[], { x, y }: Scales): string {
  let path = "";
  let open = false;
  curve.size.forEach((size, i) => {
    const value = values[i] ?? null;
    if (value === null) {
      open = false;
      return;
    }
    path += `${open ? "L" : "M"}${x(size)},${y(value)}`;
    open = true;
  });
  return path;
}

function band(curve: Curve, { x, y }: Scales): string {
  const edges = curve.size.flatMap((size, i) => {
    const [low, high] = [curve.low[i] ?? null, curve.high[i] ?? null];
    return low === null || high === null ? [] : [{ at: x(size), low: y(low), high: y(high) }];
  });
  if (edges.length === 0) return "";
  const above = edges.map(({ at, high }) => `${at},${high}`).join("L");
  const below = edges
    .reverse()
    .map(({ at, low }) => `${at},${low}`)
    .join("L");
  return `M${above}L${below}Z`;
}

function drawing(page: ScalePage, room: number, logarithmic: boolean): SVGSVGElement {
  const at = scales(page, room, logarithmic);
  const label = `${page.subtitle}: measurements and laws`;
  const chart = svg("svg", {
    width: room,
    height: HEIGHT,
    viewBox: `0 0 ${room} ${HEIGHT}`,
    role: "img",
    "aria-label": visible(label),
  });
  const across = svg("g", { class: "axis", transform: `translate(0,${HEIGHT - EDGE.bottom})` });
  const size = (value: number): string => value.toLocaleString("en", { maximumSignificantDigits: 4 });
  select(across).call(
    axisBottom(at.x)
      .tickValues(at.ticks)
      .tickFormat((value) => size(Number(value))),
  );
  const up = svg("g", { class: "axis", transform: `translate(${EDGE.left},0)` });
  select(up).call(
    axisLeft(at.y)
      .ticks(6)
      .tickFormat((value) => costText(page, Number(value))),
  );
  chart.append(across, up);
  const name = page.scale.unit ? `${page.scale.variable} (${page.scale.unit})` : page.scale.variable;
  chart.append(svg("text", { x: room - EDGE.right, y: HEIGHT - 6, class: "end" }, visible(name, 60)));
  for (const { size: where, text } of page.crossovers) {
    const x = at.x(where);
    if (!(x >= EDGE.left && x <= room - EDGE.right)) continue;
    const mark = svg("path", { class: "crossover", d: `M${x},${EDGE.top}V${HEIGHT - EDGE.bottom}` });
    mark.append(svg("title", {}, visible(text, 300)));
    chart.append(mark);
  }
  // Bands and rivals that go beyond the axes end at their edge.
  const inside = { x: EDGE.left, y: 0, width: room - EDGE.left, height: HEIGHT - EDGE.bottom + 6 };
  chart.append(svg("defs", {}, svg("clipPath", { id: "scaling-inside" }, svg("rect", inside))));
  const clipped = { "clip-path": "url(#scaling-inside)" };
  page.configurations.forEach(({ curve, law }, number) => {
    const found = page.scale.configurations[number];
    if (!found) return;
    const group = svg("g", { class: "configuration", ...clipped, stroke: colourOf(number), fill: colourOf(number) });
    group.append(svg("path", { class: "band", d: band(curve, at) }));
    if (curve.runner_up) group.append(svg("path", { class: "runner-up", d: line(curve, curve.runner_up, at) }));
    group.append(svg("path", { class: "law", d: line(curve, curve.law, at) }, svg("title", {}, visible(law, 300))));
    found.sizes.forEach((where, i) => {
      const cost = found.costs[i] ?? 0;
      const dot = svg("circle", { class: "measured", cx: at.x(where), cy: at.y(cost), r: 4.5, "data-cost": cost });
      const text = `${found.name ? `${found.name}, ` : ""}${page.scale.variable} = ${size(where)}: ${costText(page, cost)}`;
      dot.append(svg("title", {}, visible(text, 300)));
      group.append(dot);
    });
    for (const { size: where, value, low, high } of found.predictions) {
      if (low === null || high === null) continue;
      const x = at.x(where);
      const bar = svg("path", { class: "predicted", d: `M${x},${at.y(low)}V${at.y(high)}` });
      const told = `${page.scale.variable} = ${size(where)}: ${value === null ? "" : `${costText(page, value)}, `}${costText(page, low)} to ${costText(page, high)}`;
      bar.append(svg("title", {}, visible(told, 300)));
      group.append(bar);
      if (value !== null) {
        const y = at.y(value);
        group.append(svg("path", { class: "diamond", d: `M${x - 5},${y}l5,-5l5,5l-5,5z` }));
      }
    }
    chart.append(group);
  });
  return chart;
}

/** The picture with its legend, and a switch for the axis of sizes. */
export function scalingPicture(page: ScalePage): HTMLElement {
  const place = el("div", { class: "scaling" });
  let logarithmic = true;
  const draw = (): void => place.replaceChildren(drawing(page, Math.max(place.clientWidth, 320), logarithmic));
  const kinds = [
    { value: "log", title: "Sizes by factors" },
    { value: "linear", title: "Sizes as they are" },
  ];
  const switched = choice("The axis of sizes", "sizes", kinds, (value) => {
    logarithmic = value === "log";
    if (place.isConnected) draw();
  });
  onWidth(place, draw);
  const names = page.scale.configurations.map(({ name }, i) =>
    el("span", { class: "sign-of" }, swatch(colourOf(i)), visible(name || "measured", 60)),
  );
  const signs = [
    ["law", "law"],
    ["runner-up", "runner-up"],
    ["band", "band of all laws that the measurements leave open"],
    ["predicted", "predicted"],
  ];
  const lines = signs.map(([kind, text]) => el("span", { class: "sign-of" }, sample(kind ?? ""), text ?? ""));
  return el(
    "div",
    {},
    el("div", { class: "toolbar" }, switched),
    place,
    el("p", { class: "legend-line" }, ...names, ...lines),
  );
}

function sample(kind: string): SVGSVGElement {
  const shape = { band: "M0,2H22V12H0Z", predicted: "M11,0V14M6,7l5,-5l5,5l-5,5z" }[kind] ?? "M0,7H22";
  const drawn = svg("svg", { width: 22, height: 14, "aria-hidden": "true", class: "scaling" });
  drawn.append(svg("g", { stroke: "var(--soft)", fill: "var(--soft)" }, svg("path", { class: kind, d: shape })));
  return drawn;
}
