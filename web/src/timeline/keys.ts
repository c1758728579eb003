/** The keys of the timeline, and the list of them. */
import { el } from "../dom";
import type { Chart } from "./chart";
import { counted } from "./data";
import type { Picked } from "./paint";

export const KEYS: [string, string][] = [
  ["← →", "previous or next bar of the lane"],
  ["↑ ↓", "the track above or below, at the same time"],
  ["+ −  or  w s", "zoom in or out"],
  ["Ctrl+← Ctrl+→  or  a d", "move along the axis"],
  ["Enter", "details of the bar"],
  ["m", "select the time of the bar"],
  ["[ ]", "move the selection to the neighbouring edge"],
  ["f", "fit the selection or the bar"],
  ["g", "the next gap: the longest time without a console line first"],
  ["n N", "next or previous bar that the search found"],
  ["/", "search"],
  ["0", "show the whole boot"],
  ["Escape", "choose nothing; once more: leave the timeline"],
  ["?", "this list"],
];

export interface Acts {
  describe(picked: Picked): string;
  next(step: number): void;
  /** Null where the console has no gaps. */
  gap: (() => void) | null;
  help(): void;
}

/** The list of the keys; that of the gaps only where there are some. */
export function keyList(gaps: boolean): HTMLElement {
  const rows = KEYS.filter(([keys]) => gaps || keys !== "g").map(([keys, does]) =>
    el("tr", {}, el("th", { scope: "row" }, keys), el("td", {}, does)),
  );
  return el("table", { class: "tl-keys" }, el("caption", { class: "unseen" }, "Keys"), el("tbody", {}, ...rows));
}

export function listenKeys(chart: Chart, acts: Acts): void {
  const { view } = chart;
  const pan = (part: number): void => chart.show(view.from + part * view.length, view.to + part * view.length);
  const zoom = (factor: number): void => {
    const { picked } = chart;
    const middle = picked
      ? (picked.row.lane.from(picked.i) + picked.row.lane.to(picked.i)) / 2
      : (view.from + view.to) / 2;
    const at = middle > view.from && middle < view.to ? middle : (view.from + view.to) / 2;
    chart.show(at - (at - view.from) * factor, at + (view.to - at) * factor);
  };
  const fit = (): void => {
    const { picked, selection } = chart;
    if (selection) chart.fit(...selection);
    else if (picked) chart.fit(picked.row.lane.from(picked.i), picked.row.lane.to(picked.i));
  };
  const mark = (): void => {
    const { picked } = chart;
    if (picked) chart.select(picked.row.lane.from(picked.i), picked.row.lane.to(picked.i));
  };
  const leave = (): void => {
    if (chart.selection || chart.picked || chart.instant !== null) chart.clear();
    else chart.canvas.blur();
  };
  const acting: Record<string, () => void> = {
    ArrowRight: () => along(chart, 1, acts),
    ArrowLeft: () => along(chart, -1, acts),
    ArrowDown: () => across(chart, 1, acts),
    ArrowUp: () => across(chart, -1, acts),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    w: () => zoom(0.5),
    "-": () => zoom(2),
    s: () => zoom(2),
    a: () => pan(-0.2),
    d: () => pan(0.2),
    "0": () => chart.show(view.first, view.last),
    f: fit,
    m: mark,
    Enter: () => chart.changed(),
    "[": () => edge(chart, 0),
    "]": () => edge(chart, 1),
    n: () => acts.next(1),
    N: () => acts.next(-1),
    ...(acts.gap ? { g: acts.gap } : {}),
    "?": () => acts.help(),
    Escape: leave,
  };
  chart.canvas.addEventListener("keydown", (event) => {
    if (event.metaKey || event.altKey) return;
    if (event.ctrlKey) {
      const step = { ArrowRight: 0.2, ArrowLeft: -0.2 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      pan(step);
      return;
    }
    const act = acting[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function say(chart: Chart, acts: Acts): void {
  if (!chart.picked) return;
  chart.reveal();
  chart.live.textContent = acts.describe(chart.picked);
  chart.changed();
}

function along(chart: Chart, step: number, acts: Acts): void {
  const picked = chart.picked ?? first(chart);
  if (!picked) return;
  const moved = chart.picked ? Math.max(0, Math.min(picked.row.lane.size - 1, picked.i + step)) : picked.i;
  chart.picked = { row: picked.row, i: moved };
  say(chart, acts);
}

function across(chart: Chart, step: number, acts: Acts): void {
  const { rows } = chart.layout;
  const { picked } = chart;
  if (!picked) {
    along(chart, step, acts);
    return;
  }
  const time = picked.row.lane.from(picked.i);
  for (let at = rows.indexOf(picked.row) + step; at >= 0 && at < rows.length; at += step) {
    const row = rows[at];
    if (!row || row.folded || row.lane.size === 0) continue;
    chart.picked = { row, i: Math.min(row.lane.size - 1, row.lane.after(time)) };
    say(chart, acts);
    return;
  }
}

/** The first bar that is shown. */
function first(chart: Chart): Picked | null {
  const row = chart.layout.rows.find(({ lane, folded }) => !folded && lane.size > 0);
  return row ? { row, i: Math.min(row.lane.size - 1, row.lane.after(chart.view.from)) } : null;
}

/** Moves one end of the selection to the next edge of a bar: the start to an earlier one, the end to a later one. */
function edge(chart: Chart, end: 0 | 1): void {
  const { selection } = chart;
  if (!selection) return;
  let best = end === 0 ? chart.view.first : chart.view.last;
  for (const track of chart.timeline.tracks) {
    for (const lane of counted(track)) {
      const i = lane.after(selection[end]);
      const near = end === 1 ? [lane.from(i), lane.to(i)] : [lane.from(i), lane.from(i - 1), lane.to(i - 1)];
      for (const time of near) {
        if (end === 1 ? time > selection[1] && time < best : time < selection[0] && time > best) best = time;
      }
    }
  }
  chart.select(end === 0 ? best : selection[0], end === 1 ? best : selection[1]);
}
