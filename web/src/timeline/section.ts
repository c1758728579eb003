/** The first section of a page: the timeline with its tools, and the details of what is chosen. */
import { address } from "../address";
import { el, section } from "../dom";
import { exact, time } from "../format";
import { kindOf, ranAt, sums } from "./answers";
import { Chart } from "./chart";
import type { Log } from "./console_log";
import { copyTools } from "./copies";
import type { Timeline } from "./data";
import { Details, describe, type More } from "./details";
import { type Gap, gapText } from "./gaps";
import { keepState } from "./kept";
import { keyList, listenKeys } from "./keys";
import type { Lane } from "./lane";
import { legend } from "./legend";
import type { Picked } from "./paint";
import { onPaper } from "./paper";
import { listen } from "./pointer";
import { SearchBox } from "./search_box";
import { shownTable } from "./shown";
import type { Marks } from "./strips";

export interface Options {
  name: string;
  marks: Marks;
  logs: Log[];
  more: (chart: Chart, picked: Picked) => More[];
  /** The longest times without a console line, as they lie on the present axis. */
  gaps: () => Gap[];
  lead: string;
}

function tool(text: string, label: string, act: () => void): HTMLElement {
  const button = el(
    "button",
    { type: "button", "aria-label": text.length > 1 ? undefined : label, title: label },
    text,
  );
  button.addEventListener("click", act);
  return button;
}

export interface TimelineSection {
  element: HTMLElement;
  chart: Chart;
  /** Shows what the address asks for, and keeps it there. Called when everything that follows the chart listens to it. */
  restore: () => void;
  /** Searches anew, after the chart shows another timeline. */
  search: () => void;
}

export function timelineSection(timeline: Timeline, options: Options): TimelineSection {
  const chart = new Chart(timeline, options.marks, options.logs);
  const { view } = chart;
  const search = new SearchBox(chart);
  search.box.placeholder += "  ( / )";
  const status = el("p", { class: "count", role: "status" });
  const hasGaps = options.gaps().length > 0;
  const keys = el("details", { class: "tl-help" }, el("summary", {}, "Keys"), keyList(hasGaps));
  const mode = el(
    "button",
    { type: "button", "aria-pressed": "false", title: "Drag selects a stretch of time; without it, Shift and drag" },
    "Select by dragging",
  );
  mode.addEventListener("click", () => {
    const on = mode.getAttribute("aria-pressed") !== "true";
    mode.setAttribute("aria-pressed", String(on));
    chart.canvas.classList.toggle("selects", on);
  });
  const zoom = (factor: number): void => {
    const middle = (view.from + view.to) / 2;
    chart.show(middle - (view.length * factor) / 2, middle + (view.length * factor) / 2);
  };
  const fit = (): void => {
    const { selection, picked } = chart;
    if (selection) chart.fit(...selection);
    else if (picked) chart.fit(picked.row.lane.from(picked.i), picked.row.lane.to(picked.i));
  };
  let gap = -1;
  const nextGap = (): void => {
    const gaps = options.gaps();
    gap = (gap + 1) % gaps.length;
    const found = gaps[gap];
    if (!found) return;
    const { from, to, side } = found;
    chart.instant = (from + to) / 2;
    chart.selection = [from, to];
    chart.fit(from, to);
    status.textContent = gapText(time(to - from), gap + 1, gaps.length, side);
  };
  const details = new Details(chart, (picked) => options.more(chart, picked));
  const tools = el(
    "div",
    { class: "toolbar tl-tools" },
    search.element,
    el(
      "div",
      { class: "tl-buttons" },
      tool("−", "Zoom out", () => zoom(2)),
      tool("+", "Zoom in", () => zoom(0.5)),
      tool("Fit", "Fit the selection or the bar (f)", fit),
      tool("Whole boot", "Show the whole boot (0)", () => chart.show(view.first, view.last)),
      hasGaps ? tool("Next gap", "The longest times without a console line (g)", nextGap) : null,
      mode,
      ...copyTools(chart, options.name, () => address.link(), status),
    ),
    status,
  );
  listen(chart, () => mode.getAttribute("aria-pressed") === "true");
  listenKeys(chart, {
    describe: (picked) => describe(chart, picked),
    next: (by) => search.next(by),
    gap: hasGaps ? nextGap : null,
    help: () => {
      keys.open = true;
      keys.querySelector("summary")?.focus();
    },
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    search.box.focus();
  });
  const element = section(
    "timeline",
    "Timeline",
    options.lead,
    tools,
    chart.element,
    onPaper(chart, options.name),
    chart.live,
    legend(timeline),
    details.element,
    leftOut(timeline),
    shownTable(chart),
    keys,
  );
  chart.relayout();
  details.draw();
  Object.assign(element, { firstlight: answersOf(chart) });
  const restore = (): void => {
    if (!keepState(chart, search, options.name))
      status.textContent = "This link was made for other data than those of this page.";
  };
  return { element, chart, restore, search: () => search.search() };
}

/** What a script may ask the section's element, as `firstlight`: for tests, benches and whoever drives the page. */
function answersOf(chart: Chart) {
  const name = (lane: Lane, i: number): string => chart.timeline.names[lane.named(i)] ?? "";
  return {
    ranAt: (time: number) =>
      ranAt(chart.timeline, time).map(({ track, lane, i }) => [
        track.group,
        kindOf(track),
        name(lane, i),
        lane.from(i),
        lane.to(i),
      ]),
    sums: (from: number, to: number) => sums(chart.timeline, from, to),
    shown: () => [chart.view.from, chart.view.to],
    picked: () => (chart.picked ? name(chart.picked.row.lane, chart.picked.i) : null),
    selection: () => chart.selection,
    /** Where the bar of a name is drawn, in pixels of the window. */
    placeOf: (wanted: string, group?: string) => placeOf(chart, wanted, group),
    drawn: () => chart.drawn,
  };
}

function placeOf(chart: Chart, wanted: string, group?: string): [number, number] | null {
  const box = chart.canvas.getBoundingClientRect();
  for (const { track, lane, y, height, folded, life } of chart.layout.rows) {
    if (folded || life || (group !== undefined && track.group !== group && track.label !== group)) continue;
    for (let i = 0; i < lane.size; i++) {
      if (chart.timeline.names[lane.named(i)] !== wanted) continue;
      const [from, to] = [Math.max(chart.view.from, lane.from(i)), Math.min(chart.view.to, lane.to(i))];
      return [box.left + chart.view.x((from + to) / 2), box.top + y - chart.pane.scrollTop + height / 2];
    }
  }
  return null;
}

/** The bars that a page has no place for. */
function leftOut(timeline: Timeline): HTMLElement | null {
  const count = timeline.tracks.reduce((sum, track) => sum + track.left_out, 0);
  if (count === 0) return null;
  const sum = timeline.tracks.reduce((total, track) => total + track.left_out_ns, 0);
  const text = `${exact(count)} of the shortest bars, ${time(sum)} together, are not in this page; the bundle has all.`;
  return el("p", { class: "note" }, text);
}
