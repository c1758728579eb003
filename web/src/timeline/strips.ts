/** What stands above the tracks: the overview of the whole boot, the ruler, and the console. */
import { exact, time, words } from "../format";
import { consoleLine } from "../text";
import { type Log, leftOutOf } from "./console_log";
import { counted, isGraph, type Timeline } from "./data";
import { LOOK } from "./lane";
import type { Palette } from "./palette";
import type { Target } from "./target";
import { View } from "./view";

export const OVERVIEW = 44;
const TICK_ROW = 24;
const LOG_ROW = 18;
const LETTER = 6;

/** A tick with as many digits as its step needs. */
export function tickText(ns: number, step: number): string {
  if (step >= 1e6) return `${(ns / 1e9).toFixed(Math.max(0, Math.min(3, Math.ceil(9 - Math.log10(step)))))} s`;
  if (step >= 1e3) return `${(ns / 1e6).toFixed(Math.max(0, Math.min(3, Math.ceil(6 - Math.log10(step)))))} ms`;
  return `${(ns / 1e3).toFixed(3)} µs`;
}

export interface Marks {
  time_ns: (number | null)[];
  mark: string[];
}

/** The height of the ruler with the consoles below it. */
export function rulerHeight(logs: Log[]): number {
  return TICK_ROW + LOG_ROW * Math.max(1, logs.length);
}

/** The ruler with its ticks and marks, and below it for each console a tick for each line, as text where it fits. */
export function paintRuler(t: Target, view: View, ticks: number[], marks: Marks, logs: Log[], p: Palette): void {
  const height = rulerHeight(logs);
  t.rect(0, 0, view.width, TICK_ROW, p.faint);
  t.rect(0, TICK_ROW, view.width, height - TICK_ROW, p.sheet);
  const step = (ticks[1] ?? 1e9) - (ticks[0] ?? 0) || 1e9;
  for (const tick of ticks) {
    const x = Math.round(view.x(tick));
    t.rect(x, 15, 1, 9, p.soft);
    const text = tickText(tick, step);
    if (x + t.widthOf(text) + 6 < view.width) t.text(x + 3, 13, text, p.ink);
  }
  marks.time_ns.forEach((at) => {
    if (at === null || at < view.from || at > view.to) return;
    t.rect(view.x(at) - 1, 19, 3, 5, p.critical);
  });
  logs.forEach((log, i) => {
    paintConsole(t, view, log, TICK_ROW + i * LOG_ROW, p);
    paintLeftOut(t, view, log, TICK_ROW + i * LOG_ROW, p);
    paintFound(t, view, log, TICK_ROW + i * LOG_ROW, p);
  });
  t.rect(0, 0, view.gutter, height, p.faint);
  t.text(10, 15, `${time(view.length)} shown`, p.ink);
  logs.forEach((log, i) => {
    const label = log.side ? `${log.side} Console` : "Console";
    if (log.time_ns.length > 0) t.text(10, TICK_ROW + i * LOG_ROW + 13, label, p.ink);
  });
}

function paintConsole(t: Target, view: View, log: Log, top: number, p: Palette): void {
  let last = Number.NEGATIVE_INFINITY;
  for (let i = firstAt(log.time_ns, view.from); i < log.time_ns.length; i++) {
    const at = log.time_ns[i];
    if (at === null || at === undefined) continue;
    if (at > view.to) break;
    const x = view.x(at);
    if (x - last < 1) continue;
    last = x;
    t.rect(x, top + 3, 1, 12, p.console);
    const next = log.time_ns[i + 1];
    const room = (next === null || next === undefined ? view.width : Math.min(view.width, view.x(next))) - x;
    if (room < 60) continue;
    const text = consoleLine(log.text[i] ?? "").replace(/^\[ *[\d.]+\] /, "");
    const letters = Math.floor((room - 8) / LETTER);
    t.text(x + 4, top + 13, text.length > letters ? `${text.slice(0, letters - 1)}…` : text, p.ink);
  }
}

/** Hatching over the time whose lines the page does not have, with their number where it fits. */
export function paintLeftOut(t: Target, view: View, log: Log, top: number, p: Palette): void {
  const left = leftOutOf(log);
  if (!left || left.to < view.from || left.from > view.to) return;
  const x = Math.max(view.gutter, view.x(left.from) + 1);
  const width = Math.min(view.width, view.x(left.to)) - x;
  if (width <= 0) return;
  t.rect(x, top, width, LOG_ROW, p.faint);
  t.unsure(x, top, width, LOG_ROW);
  const text = `${exact(left.lines)} lines are not in this page`;
  const wide = t.widthOf(text);
  if (wide + 16 > width) return;
  t.rect(x + 4, top, wide + 8, LOG_ROW, p.faint);
  t.text(x + 8, top + 13, text, p.ink);
}

/** Over the console lines: a wider tick for each that a search found. */
function paintFound(t: Target, view: View, log: Log, top: number, p: Palette): void {
  for (const i of log.found ?? []) {
    const at = log.time_ns[i] ?? Number.NEGATIVE_INFINITY;
    if (at >= view.from && at <= view.to) t.rect(view.x(at) - 1, top + 1, 3, 16, p.hit);
  }
}

/** The first entry from an instant on; entries without a time count as earlier. */
function firstAt(times: (number | null)[], from: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? Number.NEGATIVE_INFINITY) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The whole boot: its phases, and how busy the other tracks are. */
export function paintOverview(t: Target, timeline: Timeline, width: number, gutter: number, p: Palette): void {
  const view = new View(timeline.first, timeline.last);
  view.width = width;
  view.gutter = gutter;
  t.rect(0, 0, width, OVERVIEW, p.sheet);
  const phases = timeline.tracks.find((track) => track.role === "phases");
  for (const lane of phases?.lanes ?? []) {
    for (let i = 0; i < lane.size; i++) {
      const x = view.x(lane.from(i));
      const wide = Math.max(0.5, view.x(lane.to(i)) - x - 0.5);
      t.bar(x, 2, wide, 15, lane.lookOf(i), 1);
      const name = words(timeline.names[lane.named(i)] ?? "");
      if (t.widthOf(name) + 6 < wide) t.text(x + 3, 14, name, p.onBar);
    }
  }
  const busy = busyness(timeline, view);
  const most = busy.reduce((high, value) => Math.max(high, value), 1);
  busy.forEach((value, x) => {
    const height = Math.round(Math.sqrt(value / most) * 22);
    if (height > 0) t.rect(gutter + x, OVERVIEW - 2 - height, 1, height, p.soft);
  });
  t.text(10, 14, "Whole boot", p.soft);
  t.text(10, 36, "At work", p.soft);
}

/** How many bars there are at once in each pixel, on average. */
export function busyness(timeline: Timeline, view: View): Float64Array {
  const busy = new Float64Array(Math.ceil(view.room));
  const { from: first, pixel } = view;
  for (const track of timeline.tracks) {
    if (track.role === "phases" || track.role === "path" || isGraph(track)) continue;
    for (const lane of counted(track)) {
      if (lane.size > 0 && lane.lookOf(0) === LOOK.life) continue;
      const { start, end, size } = lane;
      for (let i = 0; i < size; i++) {
        const from = ((start[i] ?? 0) - first) / pixel;
        const to = ((end[i] ?? 0) - first) / pixel;
        const last = Math.min(busy.length - 1, Math.floor(to));
        let x = Math.floor(from);
        if (x >= last) {
          if (x < busy.length) busy[x] = (busy[x] ?? 0) + to - from;
          continue;
        }
        busy[x] = (busy[x] ?? 0) + x + 1 - from;
        for (x++; x < last; x++) busy[x] = (busy[x] ?? 0) + 1;
        busy[last] = (busy[last] ?? 0) + Math.min(1, to - last);
      }
    }
  }
  return busy;
}

/** The frame around what is shown, over the overview. */
export function paintWindow(context: CanvasRenderingContext2D, shown: View, p: Palette): void {
  const whole = new View(shown.first, shown.last);
  whole.width = shown.width;
  whole.gutter = shown.gutter;
  const [from, to] = [whole.x(shown.from), whole.x(shown.to)];
  context.globalAlpha = 0.55;
  context.fillStyle = p.sheet;
  context.fillRect(shown.gutter, 0, from - shown.gutter, OVERVIEW);
  context.fillRect(to, 0, shown.width - to, OVERVIEW);
  context.globalAlpha = 1;
  context.strokeStyle = p.edge;
  context.lineWidth = 1.5;
  context.strokeRect(from + 0.75, 1, Math.max(2, to - from - 1.5), OVERVIEW - 2);
}
