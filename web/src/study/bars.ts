/** Bars that lie: of one series or several beside one another for each category, or stacked. */
import { scaleLinear } from "d3-scale";
import { svg } from "../dom";
import { phaseFill } from "../palette";
import { visible } from "../text";
import { valuesAbove } from "./axes";
import type { Chart } from "./data";

const AXIS = 26;
const BAR = 15;
const GAP = 10;
const NARROW = 640;

interface Row {
  name: string;
  /** By the series' number. */
  values: { series: number; value: number; text: string }[];
}

/** The categories in the order in which the series have them first. */
export function rowsOf(chart: Chart): Row[] {
  const rows = new Map<string, Row>();
  chart.series.forEach(({ points, texts }, series) => {
    points.forEach(([at, value], i) => {
      const name = String(at);
      const row = rows.get(name) ?? { name, values: [] };
      row.values.push({ series, value, text: texts[i] ?? "" });
      rows.set(name, row);
    });
  });
  return [...rows.values()];
}

/** The beginning of a name, as far as there is room; the whole of it stands in the bar's title. */
function shortened(name: string, most: number): string {
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

export function barsPicture(chart: Chart, room: number): SVGSVGElement {
  const rows = rowsOf(chart);
  const stacked = chart.form === "stacked";
  const narrow = room < NARROW;
  const left = narrow ? 8 : Math.min(300, Math.max(150, room * 0.26));
  const right = narrow ? 90 : 130;
  const heightOf = ({ values }: Row): number => GAP + (narrow ? 18 : 0) + BAR * (stacked ? 1 : values.length);
  const height = AXIS + rows.reduce((sum, row) => sum + heightOf(row), 0) + 8;
  const sums = rows.map(({ values }) => values.reduce((sum, { value }) => sum + value, 0));
  const ends = stacked ? sums : rows.flatMap(({ values }) => values.map(({ value }) => value));
  const low = ends.reduce((a, b) => Math.min(a, b), 0);
  const high = ends.reduce((a, b) => Math.max(a, b), 0);
  const scale = scaleLinear()
    .domain(low === high ? [0, 1] : [low, high])
    .range([left + 2, room - right]);
  const picture = svg("svg", {
    width: room,
    height,
    viewBox: `0 0 ${room} ${height}`,
    role: "img",
    "aria-label": visible(`${chart.title}: ${chart.up} by ${chart.across}`, 300),
  });
  picture.append(valuesAbove(scale, chart.kind, AXIS - 4, Math.max(2, Math.floor((room - left - right) / 120))));
  let y = AXIS;
  for (const row of rows) {
    const top = y + GAP / 2 + (narrow ? 18 : 0);
    const cut = shortened(visible(row.name, 400), Math.floor((narrow ? room : left) / 7.2));
    picture.append(svg("text", narrow ? { x: 8, y: top - 5 } : { x: left - 8, y: top + BAR - 3, class: "end" }, cut));
    let from = 0;
    row.values.forEach(({ series, value, text }, i) => {
      const [start, end] = stacked ? [from, from + value] : [0, value];
      from = end;
      const at = top + (stacked ? 0 : i * BAR);
      const box = {
        class: "bar",
        x: Math.min(scale(start), scale(end)),
        y: at,
        width: Math.max(stacked ? 0 : 1.5, Math.abs(scale(end) - scale(start))),
        height: BAR - 2,
        fill: phaseFill(series),
        "data-value": value,
      };
      const name = chart.series[series]?.name ?? "";
      const title = visible(`${row.name}${name ? `, ${name}` : ""}: ${text}`, 400);
      picture.append(svg("rect", box, svg("title", {}, title)));
      if (!stacked) picture.append(svg("text", { x: Math.max(scale(0), scale(end)) + 5, y: at + BAR - 4 }, text));
    });
    y += heightOf(row);
  }
  return picture;
}
