/** The flame graph in the order of time, on the axis of the timeline: it follows its zoom and its selection. */
import { address } from "../address";
import { el } from "../dom";
import { exact, share, stamp, time } from "../format";
import { FRAME_KINDS, tintOf } from "../palette";
import type { Selection } from "../selection";
import type { Slices } from "../slices";
import { visible } from "../text";
import { Chart } from "../timeline/chart";
import type { Timeline } from "../timeline/data";
import { follow } from "../timeline/follow";
import { listenKeys } from "../timeline/keys";
import type { Picked } from "../timeline/paint";
import { type Colour, type Palette, paletteOf, STROKES } from "../timeline/palette";
import { onPaper } from "../timeline/paper";
import { listen } from "../timeline/pointer";
import { SearchBox } from "../timeline/search_box";
import { kind, label, path } from "../tree";
import type { PageData } from "../types";
import { flameLanes } from "./lanes";

const TINTS = 4;
const NO_MARKS = { time_ns: [], mark: [] };

/** The looks of a flame chart: four tints of functions, then the other kinds. */
function colours(colour: Colour): Palette {
  const tints = Array.from({ length: TINTS }, (_, i) => colour(`function-${i}`));
  return {
    ...paletteOf(colour),
    bars: [...tints, ...FRAME_KINDS.map(([, variable]) => colour(variable))],
    patterns: [...tints.map(() => ""), ...FRAME_KINDS.map(([, , pattern]) => STROKES[pattern])],
  };
}

function lookOf(data: PageData, node: number): number {
  const place = FRAME_KINDS.findIndex(([name]) => name === kind(data, node));
  return place < 0 ? tintOf(label(data, node)) : TINTS + place;
}

/** The frames of a tree as a timeline with one track; the names of its bars are the nodes. */
function timelineOf(data: PageData, sliced: Slices, tree: "calls" | "processes"): Timeline {
  const names = data.tree.parent.map((_, node) => label(data, node));
  const lanes = flameLanes(data.tree.parent, sliced.byTime(tree), (node) => lookOf(data, node));
  const plain = { role: "flame", parent: -1, beside: false, left_out: 0, left_out_ns: 0 };
  const note = `${exact(lanes.length)} deep, ${exact(lanes.reduce((sum, lane) => sum + lane.size, 0))} frames`;
  const last = sliced.about.end_ns.at(-1) ?? 1;
  return { first: 0, last, names, tracks: [{ ...plain, group: "Stack", label: "Calls", note, lanes }] };
}

/** What is known of the frame that was picked. */
function details(chart: Chart, data: PageData, sliced: Slices): HTMLElement {
  const { picked } = chart;
  if (!picked)
    return el(
      "p",
      { class: "note" },
      "Click a frame, or move with the arrow keys, to see its callers and its figures.",
    );
  const { lane } = picked.row;
  const [node, from, length] = [lane.named(picked.i), lane.from(picked.i), lane.length(picked.i)];
  const every = picked.row.track.lanes.flatMap((each) =>
    [...each.name.keys()].filter((i) => each.name[i] === node).map((i) => each.length(i)),
  );
  const whole = every.reduce((sum, each) => sum + each, 0);
  const callers = path(data, node)
    .slice(1, -1)
    .map((caller) => label(data, caller));
  const [first, last] = sliced.snapped([from, from + length]);
  const slices = last > first ? `slices ${exact(first + 1)} to ${exact(last + 1)}` : `slice ${exact(first + 1)}`;
  return el(
    "div",
    { class: "fc-card" },
    el("p", { class: "card-name" }, visible(label(data, node), 200)),
    el(
      "p",
      {},
      `${time(length)} with all that it called, from ${stamp(from)} to ${stamp(from + length)} s (${slices}).`,
    ),
    el("p", {}, `In the whole boot, this call path has ${time(whole)}, ${share(whole, chart.view.whole)} of the time.`),
    callers.length > 0 ? el("p", { class: "note via" }, `from ${callers.join(" › ")}`) : null,
  );
}

/** What a screen reader says of a frame. */
function describe(chart: Chart, { row, i }: Picked): string {
  const name = chart.timeline.names[row.lane.named(i)] ?? "";
  const depth = row.track.lanes.indexOf(row.lane) + 1;
  return `${visible(name, 200)}, ${time(row.lane.length(i))}, starts at ${time(row.lane.from(i))}, ${exact(depth)} deep, frame ${i + 1} of ${row.lane.size}`;
}

export interface FlameChart {
  element: HTMLElement;
  /** Makes the frames of the tree that is chosen, at first or after another was. */
  draw(): void;
}

/** The frames of one tree that are shown, with their search. */
interface Shown {
  chart: Chart;
  search: SearchBox;
}

interface Made extends Shown {
  place: HTMLElement;
}

interface Kept {
  read(shown: Shown): string | null;
  write(shown: Shown, text: string | null): void;
}

/** What the address keeps of the frames. The search comes before the place in it, and the frame before the scroll. */
const KEPT: Record<string, Kept> = {
  find: {
    read: ({ search }) => search.text || null,
    write: ({ search }, text) => {
      search.text = text ?? "";
    },
  },
  place: {
    read: ({ search }) => (search.place === null ? null : String(search.place + 1)),
    write: ({ search }, text) => {
      search.place = placeIn(text);
    },
  },
  picked: {
    read: ({ chart: { picked } }) => (picked ? `${picked.row.track.lanes.indexOf(picked.row.lane)}~${picked.i}` : null),
    write: ({ chart }, text) => pickFrame(chart, text),
  },
  scroll: {
    read: ({ chart: { picked, pane } }) => (picked || pane.scrollTop > 0 ? String(Math.round(pane.scrollTop)) : null),
    write: ({ chart }, text) => scrollFrames(chart, text),
  },
};

/** The chart of the trees of a page; it makes nothing before it is shown for the first time. */
export function flameChart(trees: Record<string, PageData>, sliced: Slices, selection: Selection): FlameChart {
  const element = el("div", { class: "flame-chart", id: "flame-chart" });
  const made = new Map<string, Made>();
  /** What the address asks for before there is a chart, by the keys of `KEPT`. */
  const wanted = new Map<string, string | null>();
  const make = (tree: string): Made => {
    const data = trees[tree] ?? (trees.calls as PageData);
    const chart = new Chart(
      timelineOf(data, sliced, tree === "processes" ? "processes" : "calls"),
      NO_MARKS,
      [],
      colours,
    );
    chart.canvas.setAttribute(
      "aria-label",
      "Flame graph in the order of time. Left and right go to the previous and next frame, up and down to callers and " +
        "callees, plus and minus zoom, m selects the time of a frame, f fits it, 0 shows everything.",
    );
    const search = new SearchBox(chart, "Search the frames");
    const card = el("div", { class: "tl-details" });
    let picked: Picked | null = null;
    chart.onChange(() => {
      if (picked?.row === chart.picked?.row && picked?.i === chart.picked?.i) return;
      picked = chart.picked;
      card.replaceChildren(details(chart, data, sliced));
    });
    const place = el(
      "div",
      {},
      el("div", { class: "toolbar tl-tools" }, search.element),
      chart.element,
      onPaper(chart, "Flame graph", { ids: "flame-", legend: false }),
      chart.live,
      card,
    );
    element.append(place);
    listen(chart, () => false);
    listenKeys(chart, {
      describe: (picked) => describe(chart, picked),
      next: (by) => search.next(by),
      gap: null,
      help: () => undefined,
    });
    follow(chart, selection);
    if (selection.shown) chart.view.show(...selection.shown);
    chart.selection = selection.stretch && [...selection.stretch];
    chart.relayout();
    for (const [name, { write }] of Object.entries(KEPT)) write({ chart, search }, wanted.get(name) ?? null);
    wanted.clear();
    card.replaceChildren(details(chart, data, sliced));
    chart.onChange(address.changed);
    chart.pane.addEventListener("scroll", address.changed, { passive: true });
    return { place, chart, search };
  };
  const current = (): Chart | undefined => made.get(selection.tree)?.chart;
  for (const [name, { read, write }] of Object.entries(KEPT)) {
    address.keep(`frames.${name}`, {
      read: () => {
        const shown = made.get(selection.tree);
        return shown ? read(shown) : (wanted.get(name) ?? null);
      },
      write: (text) => {
        const shown = made.get(selection.tree);
        if (shown) write(shown, text);
        else wanted.set(name, text);
      },
    });
  }
  const draw = (): void => {
    if (!made.has(selection.tree)) made.set(selection.tree, make(selection.tree));
    for (const [tree, { place }] of made) place.hidden = tree !== selection.tree;
    current()?.redraw();
  };
  Object.assign(element, { firstlight: answers(current) });
  return { element, draw };
}

/** Picks the frame that the address has, as depth and place in it; none where it means none. */
function pickFrame(chart: Chart, text: string | null): void {
  const [, depth, place] = /^(\d+)~(\d+)$/.exec(text ?? "") ?? [];
  const lane = chart.timeline.tracks[0]?.lanes[Number(depth)];
  const row = chart.layout.rows.find((each) => each.lane === lane);
  const i = Number(place);
  chart.picked = row && i < row.lane.size ? { row, i } : null;
  chart.changed();
}

/** Which find the address has, from 0 on. */
function placeIn(text: string | null): number | null {
  return /^\d{1,9}$/.test(text ?? "") ? Number(text) - 1 : null;
}

/** Scrolls to the pixel that the address has; where it has none, so that the picked frame is seen. */
function scrollFrames(chart: Chart, text: string | null): void {
  if (/^\d{1,7}$/.test(text ?? "")) chart.scroll(Number(text));
  else chart.scroll(chart.picked ? null : 0);
}

/** What a script may ask the element, as `firstlight`. */
function answers(current: () => Chart | undefined) {
  const lanes = () => current()?.timeline.tracks[0]?.lanes ?? [];
  return {
    shown: () => [current()?.view.from, current()?.view.to],
    selection: () => current()?.selection ?? null,
    picked: () => {
      const picked = current()?.picked;
      return picked ? current()?.timeline.names[picked.row.lane.named(picked.i)] : null;
    },
    /** Of each node, the time of its frames between two instants; and whether frames of a lane overlap. */
    between: (from: number, to: number) => {
      const sums: Record<number, number> = {};
      for (const lane of lanes()) {
        for (let i = lane.after(from); i < lane.size && lane.from(i) < to; i++) {
          const part = Math.min(to, lane.to(i)) - Math.max(from, lane.from(i));
          sums[lane.named(i)] = (sums[lane.named(i)] ?? 0) + part;
        }
      }
      return sums;
    },
    frames: () => lanes().map((lane) => lane.size),
    drawn: () => current()?.drawn ?? [],
  };
}
