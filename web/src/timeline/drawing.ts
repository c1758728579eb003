/** The timeline as it is shown, as an element of SVG: title, ruler, tracks with their labels, and legend. */
import { stamp, time } from "../format";
import type { Chart } from "./chart";
import type { Track } from "./data";
import { type Lane, LOOK } from "./lane";
import { layOut } from "./layout";
import { meanings } from "./legend";
import { paint } from "./paint";
import type { Palette } from "./palette";
import { paintRuler, rulerHeight } from "./strips";
import { CanvasTarget, SvgTarget } from "./target";
import type { View } from "./view";

const TITLE = 26;
const LINE = 20;
const SAMPLE = 14;

export interface DrawingOptions {
  /** What the names of its patterns begin with. */
  ids?: string;
  legend?: boolean;
  /** Other colours than those of the screen. */
  palette?: Palette;
}

/** Whether a lane has a bar in the part of the axis that is shown. */
function within(lane: Lane, view: View): boolean {
  const i = lane.after(view.from);
  return i < lane.size && lane.from(i) < view.to;
}

/** The tracks without blank lanes; the first lane of a process is the ground of the others. */
function tracksIn(chart: Chart): Track[] {
  return chart.timeline.tracks.map((track) => {
    const ground = track.role === "process" ? 0 : -1;
    const lanes = track.lanes.filter((lane, i) => chart.shows(track) && (i === ground || within(lane, chart.view)));
    return { ...track, lanes };
  });
}

/** All lanes that have a bar in the part of the axis that is shown. */
export function drawing(chart: Chart, name: string, options: DrawingOptions = {}): SVGSVGElement {
  const { view } = chart;
  const palette = options.palette ?? chart.palette;
  const context = chart.canvas.getContext("2d");
  const widths = context ? new CanvasTarget(context, chart.palette) : null;
  const target = new SvgTarget(palette, (text) => widths?.widthOf(text) ?? text.length * 6, options.ids);
  const layout = layOut(tracksIn(chart), chart.folded, ({ lanes }) => lanes.some((lane) => within(lane, view)));
  const title = `${name}: ${stamp(view.from)} to ${stamp(view.to)} s (${time(view.length)})`;
  target.rect(0, 0, view.width, TITLE, palette.sheet);
  target.text(10, 17, title, palette.ink);

  const picked = chart.picked && layout.rows.find(({ lane }) => lane === chart.picked?.row.lane);
  const scene = {
    ...chart.scene(),
    layout,
    palette,
    instant: chart.instant,
    picked: picked && chart.picked ? { row: picked, i: chart.picked.i } : null,
  };
  target.moveTo(TITLE);
  paintRuler(target, view, scene.ticks, chart.marks, chart.logs, palette);

  const top = TITLE + rulerHeight(chart.logs);
  target.moveTo(top);
  paint(target, scene, 0, layout.height);
  target.rect(0, 0, view.gutter, layout.height, palette.sheet);
  const letters = Math.floor((view.gutter - 24) / 6.2);
  for (const head of layout.heads) {
    const text = head.label.length > letters ? `${head.label.slice(0, letters - 1)}…` : head.label;
    target.text(4 + 8 * head.level, head.y + 14, text, palette.ink);
  }

  const end = top + Math.ceil(layout.height);
  target.moveTo(end);
  return target.drawn(view.width, end + (options.legend === false ? 0 : drawLegend(target, chart, palette)), title);
}

/** The legend in as many lines as it needs; the answer is its height. */
function drawLegend(target: SvgTarget, chart: Chart, palette: Palette): number {
  const { view, timeline } = chart;
  const items = meanings(timeline).map((meaning) => ({ ...meaning, wide: SAMPLE + 24 + target.widthOf(meaning.text) }));
  let [x, y] = [10, 6];
  const places = items.map(({ wide }) => {
    if (x + wide > view.width && x > 10) [x, y] = [10, y + LINE];
    x += wide;
    return [x - wide, y] as const;
  });
  const height = items.length > 0 ? y + LINE : 0;
  target.rect(0, 0, view.width, height, palette.sheet);
  items.forEach(({ sign, text }, i) => {
    const [left, top] = places[i] ?? [0, 0];
    if (sign === "critical") target.rect(left, top + 5, SAMPLE, 3, palette.critical);
    else if (sign === "unsure") target.unsure(left, top, SAMPLE, 12);
    else target.bar(left, top, SAMPLE, 12, LOOK[sign], 1);
    target.text(left + SAMPLE + 5, top + 10, text, palette.ink);
  });
  return height;
}
