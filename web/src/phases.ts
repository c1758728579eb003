/** The phases: one stacked bar of the whole boot, and the same as a table; below them the marks. */
import { axisBottom } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { counts, durations, instants, instructionCounts, numbers } from "./columns";
import { el, onWidth, section, svg } from "./dom";
import { amount, instructions, share, time, unsureText, words } from "./format";
import { phaseFill, swatch } from "./palette";
import { rove } from "./roving";
import type { Selection } from "./selection";
import { DataTable } from "./table";
import { visible } from "./text";
import type { PageData } from "./types";

const BAR = { top: 22, height: 54, axis: 26 };
const EDGE = 14;
const FOOT = 7;

interface Phase {
  index: number;
  name: string;
  start: number | null;
  instructions: number | null;
  time: number | null;
  idle: number | null;
  /** How far its time may be off; null where nothing bounds it. */
  unsure: number | null;
}

function rows(data: PageData): Phase[] {
  const { phases, boot } = data;
  return phases.name.map((name, index) => {
    const start = phases.start_ns[index] ?? null;
    const end = phases.end_ns[index] ?? boot.totals.virtual_ns;
    return {
      index,
      name,
      start,
      instructions: phases.instructions[index] ?? null,
      time: start !== null && end !== null ? Math.max(0, end - start) : null,
      idle: phases.idle_ns[index] ?? null,
      unsure: phases.unsure_ns[index] ?? null,
    };
  });
}

function bar(data: PageData, selection: Selection, room: number): SVGSVGElement {
  const all = rows(data);
  const width = room - 2 * EDGE;
  const unit = selection.unit;
  const sum = all.reduce((total, phase) => total + (phase[unit] ?? 0), 0);
  const scale = scaleLinear()
    .domain([0, Math.max(sum, 1)])
    .range([0, width]);
  const height = BAR.top + BAR.height + BAR.axis;
  const label = `The boot in phases, by ${unit === "time" ? "time" : "instructions"}`;
  const drawing = svg("svg", {
    width: room,
    height,
    viewBox: `${-EDGE} 0 ${room} ${height}`,
    role: "group",
    "aria-label": label,
  });
  // Apart from the buttons below them, whose names say more than these texts.
  const labels = svg("g", { class: "segment-labels", "aria-hidden": "true" });
  const segments: SVGGElement[] = [];
  let at = 0;
  for (const phase of all) {
    const value = phase[unit] ?? 0;
    const [x, w] = [scale(at), scale(value)];
    at += value;
    if (w <= 0) continue;
    const off = phase.unsure === 0 ? "" : `, perhaps ${unsureText(phase.unsure)}`;
    const executed = phase.instructions === null ? "" : `${instructions(phase.instructions)} instructions, `;
    const idle = phase.idle === null ? "" : `, idle ${time(phase.idle)}`;
    const text = `${words(phase.name)}: ${executed}${time(phase.time)}${off}${idle}`;
    const group = svg("g", {
      class: selection.phase === null || selection.phase === phase.name ? "segment" : "segment other",
      role: "button",
      "aria-pressed": selection.phase === phase.name,
      "aria-label": visible(text),
      "data-phase": phase.index,
    });
    const gap = w > 3 ? 1 : 0;
    group.append(svg("title", {}, visible(text)));
    group.append(
      svg("rect", { x, y: BAR.top, width: w - gap, height: BAR.height, rx: 2, fill: phaseFill(phase.index) }),
    );
    if (unit === "time" && phase.idle) {
      const foot = { y: BAR.top + BAR.height - FOOT, height: FOOT, fill: "url(#kind-idle)" };
      const length = Math.max(0, Math.min(w - gap, scale(phase.idle)));
      group.append(svg("rect", { x, width: length, ...foot }));
    }
    const unsure = unit === "time" ? begins(data, phase) : null;
    if (unsure !== null) {
      const length = Math.max(2, Math.min(scale(unsure), w - gap));
      group.append(svg("rect", { x, y: BAR.top, width: length, height: BAR.height, fill: "url(#unsure)" }));
    }
    if (w > 30) {
      const texts = [
        svg("text", { class: "name" }, visible(words(phase.name), 60)),
        svg("text", {}, share(value, sum)),
      ];
      texts.forEach((label, line) => {
        label.setAttribute("x", String(x + 7));
        label.setAttribute("y", String(BAR.top + 21 + 20 * line));
        label.setAttribute("data-room", String(w - 12));
        labels.append(label);
      });
    }
    const choose = (): void => {
      selection.phase = selection.phase === phase.name ? null : phase.name;
      document.querySelector<SVGElement>(`[data-phase="${phase.index}"]`)?.focus();
    };
    group.addEventListener("click", choose);
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose();
    });
    segments.push(group);
  }
  drawing.append(...segments);
  rove(
    drawing,
    segments,
    segments.findIndex((each) => each.getAttribute("aria-pressed") === "true"),
  );
  const steps = Math.max(2, Math.floor(width / 110));
  const ticks = axisBottom(scale)
    .ticks(steps)
    .tickSizeOuter(0)
    .tickFormat((value) => amount(Number(value), unit));
  const axis = svg("g", { class: "axis", transform: `translate(0,${BAR.top + BAR.height})` });
  select(axis).call(ticks);
  // At the edge there is no room for the right half of a label.
  if (scale(scale.ticks(steps).at(-1) ?? 0) > width - EDGE)
    axis.querySelector(".tick:last-of-type text")?.setAttribute("text-anchor", "end");
  drawing.append(labels, markTicks(data, selection, scale, width), axis);
  return drawing;
}

/** How much later than its bar a phase may have begun; nothing where the records show when. */
function begins(data: PageData, phase: Phase): number | null {
  const track = data.timeline.tracks.find((each) => each.role === "phases");
  const found = track?.unsure.find(([from]) => from === phase.start);
  return found ? found[1] - found[0] : null;
}

/** What the records say of marks that none of them has. */
function inferred(data: PageData): HTMLElement | null {
  const { mark, detail } = data.marks;
  if (data.phases.unsure_ns.every((unsure) => unsure === 0)) return null;
  const said = mark.flatMap((name, i) => {
    const [, how] = /^inferred: (.*)/s.exec(detail[i] ?? "") ?? [];
    return how ? [el("li", {}, visible(`${words(name)}: ${how}`, 300))] : [];
  });
  const lead = "Hatched: no record shows when a phase ended and the next one began, so both may be off.";
  return el("div", { class: "note unsure-marks" }, el("p", {}, lead), said.length > 0 ? el("ul", {}, ...said) : null);
}

/** Labels that fit get a ground on which they can be read on any pattern; the others go. */
function fitLabels(drawing: SVGSVGElement): void {
  for (const label of drawing.querySelectorAll<SVGTextElement>("text[data-room]")) {
    const width = label.getComputedTextLength();
    if (width > Number(label.dataset.room)) {
      label.remove();
      continue;
    }
    const [x, y] = [Number(label.getAttribute("x")), Number(label.getAttribute("y"))];
    label.before(svg("rect", { x: x - 3, y: y - 13, width: width + 6, height: 17, rx: 3, class: "plate" }));
  }
}

/** Marks above the bar, in the same unit; each is named where the next one leaves room for it. */
function markTicks(data: PageData, selection: Selection, scale: (value: number) => number, width: number): SVGGElement {
  const group = svg("g", { class: "marks", "aria-hidden": "true" });
  const column = selection.unit === "time" ? data.marks.time_ns : data.marks.instructions;
  const places = data.marks.mark.map((mark, i) => {
    const value = column[i];
    return {
      name: visible(words(mark), 40),
      at: data.marks.time_ns[i],
      x: typeof value === "number" ? scale(value) : null,
    };
  });
  const known = places.filter(
    (place): place is typeof place & { x: number } => place.x !== null && place.x <= width + 1,
  );
  known.forEach(({ name, at, x }, i) => {
    const arrow = svg("path", { d: `M${x},${BAR.top - 4} l4,-6 h-8 z` }, svg("title", {}, `${name} at ${time(at)}`));
    group.append(arrow);
    const next = known[i + 1]?.x ?? width;
    const label = svg("text", { x: x + 7, y: BAR.top - 5, "data-mark-room": next - x - 18 }, name);
    group.append(label);
  });
  return group;
}

function fitMarks(drawing: SVGSVGElement): void {
  for (const label of drawing.querySelectorAll<SVGTextElement>("text[data-mark-room]")) {
    if (label.getComputedTextLength() > Number(label.dataset.markRoom)) label.remove();
  }
}

export function phasesSection(data: PageData, selection: Selection): HTMLElement {
  if (data.phases.name.length === 0)
    return section("phases", "Marks of the boot", "The records show no phase: one has two marks.", marks(data, true));
  const place = el("div", { class: "phase-bar" });
  const draw = (): void => {
    const drawing = bar(data, selection, Math.max(place.clientWidth, 320));
    place.replaceChildren(drawing);
    fitLabels(drawing);
    fitMarks(drawing);
  };
  const all = rows(data);
  const sums = {
    instructions: all.reduce((total, phase) => total + (phase.instructions ?? 0), 0),
    time: all.reduce((total, phase) => total + (phase.time ?? 0), 0),
  };
  const table = new DataTable<Phase>({
    label: "Phases",
    rows: all,
    step: 100,
    columns: [
      {
        id: "phase",
        title: "Phase",
        value: (phase) => phase.name,
        cell: (phase) => {
          const button = el("button", { type: "button", class: "link" }, visible(words(phase.name), 60));
          button.addEventListener("click", () => {
            selection.phase = selection.phase === phase.name ? null : phase.name;
          });
          return el("span", { class: "named" }, swatch(phaseFill(phase.index)), button);
        },
      },
      durations("start", "Starts at", (phase) => phase.start),
      ...(all.some((phase) => phase.instructions !== null)
        ? [instructionCounts<Phase>("instructions", "Instructions", (phase) => phase.instructions)]
        : []),
      durations("time", data.boot.virtual ? "Virtual time" : "Time", (phase) => phase.time),
      ...(all.some((phase) => phase.unsure !== 0)
        ? [
            {
              id: "unsure",
              title: "May be",
              value: (phase: Phase) => unsureText(phase.unsure),
              cell: (phase: Phase) => el("span", { class: "unbroken" }, unsureText(phase.unsure)),
            },
          ]
        : []),
      ...(all.some((phase) => phase.idle !== null)
        ? [durations<Phase>("idle", "of it idle", (phase) => phase.idle)]
        : []),
      numbers(
        "share",
        "Share",
        (phase) => phase[selection.unit],
        (phase) => meter(phase[selection.unit], sums[selection.unit]),
        "Of the instructions or of the time of the whole boot, as chosen above",
      ),
    ],
  });
  selection.onChange(() => {
    draw();
    table.redraw();
  });
  onWidth(place, draw);
  const lead =
    "Each phase starts where the one before ends; together they are the whole boot. " +
    "Choose one to see only its functions; the arrow keys lead from one to the next. By time, the striped foot of a phase is how much of it was idle.";
  return section("phases", "Where the boot went", lead, place, inferred(data), table.element, marks(data));
}

/** A share as figure and bar. */
export function meter(part: number | null, whole: number | null): HTMLElement {
  const width = whole ? Math.min(100, (100 * (part ?? 0)) / whole) : 0;
  const bar = el("span", { class: "meter-bar" });
  bar.style.width = `${width}%`;
  return el("span", { class: "meter" }, el("span", { class: "meter-ground" }, bar), el("span", {}, share(part, whole)));
}

function marks(data: PageData, open = data.boot.status !== "complete"): HTMLElement {
  const { marks: columns } = data;
  const table = new DataTable<number>({
    label: "Marks",
    rows: columns.mark.map((_, i) => i),
    step: 200,
    empty: "This boot gave no mark.",
    columns: [
      { id: "mark", title: "Mark", value: (i) => visible(words(columns.mark[i] ?? "")) },
      instants("time", "Time (s)", (i) => columns.time_ns[i]),
      counts("instructions", "Instructions", (i) => columns.instructions[i]),
      durations("idle", "Idle so far", (i) => columns.idle_ns[i]),
      {
        id: "source",
        title: "Known from",
        value: (i) => visible(`${columns.source[i] ?? ""} ${columns.detail[i] ?? ""}`.trim()),
      },
    ],
  });
  return el("details", { open }, el("summary", {}, `Marks (${columns.mark.length})`), table.element);
}
