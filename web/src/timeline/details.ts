/** What is known of the choice: a bar, an instant, a selection of time. */
import { durations, instants } from "../columns";
import { el } from "../dom";
import { exact, share, stamp, time } from "../format";
import { DataTable } from "../table";
import { consoleLine, visible } from "../text";
import { calledIn, kindOf, ranAt, type Spot, type Sum, sums } from "./answers";
import type { Chart } from "./chart";
import { leftOutOf, leftOutText } from "./console_log";
import type { Picked } from "./paint";

const LINES = 8;

/** What else the page knows of a bar: lines for its card, each with a bar that it leads to. */
export interface More {
  text: string;
  leads?: { label: string; act: () => void };
}

export function nameOf(chart: Chart, spot: { lane: Spot["lane"]; i: number }): string {
  return visible(chart.timeline.names[spot.lane.named(spot.i)] ?? "", 200);
}

/** Between which instants a phase begins and ends, where records do not show when; nothing for every other bar. */
export function unsureText({ row, i }: Picked): string | null {
  const { lane, track } = row;
  const between = (at: number): string | null => {
    const found = track.unsure?.find(([from]) => from === at);
    return found ? `between ${stamp(found[0])} and ${stamp(found[1])} s` : null;
  };
  const [begin, end] = [between(lane.from(i)), lane.isOpen(i) ? null : between(lane.to(i))];
  if (!begin && !end) return null;
  return [begin ? `begins ${begin}` : "", end ? `ends ${end}` : ""].filter(Boolean).join(", ");
}

/** What a screen reader says of a bar. */
export function describe(chart: Chart, { row, i }: Picked): string {
  const { lane, track } = row;
  const end = lane.isOpen(i) ? "did not end" : `lasts ${time(lane.length(i))}`;
  const critical = lane.isCritical(i) ? ", on the critical path" : "";
  const where = `${track.group}, ${visible(track.label, 100)}`;
  const unsure = unsureText({ row, i });
  const known = `starts at ${time(lane.from(i))}, ${end}${unsure ? `, not exactly known: ${unsure}` : ""}${critical}`;
  return `${nameOf(chart, { lane, i })}, ${where}, ${known}, ${i + 1} of ${lane.size}`;
}

function button(text: string, act: () => void): HTMLButtonElement {
  const made = el("button", { type: "button" }, text);
  made.addEventListener("click", act);
  return made;
}

export class Details {
  readonly element = el("div", { class: "tl-details" });
  readonly #chart: Chart;
  readonly #more: (picked: Picked) => More[];
  #shown: unknown[] = [null];

  constructor(chart: Chart, more: (picked: Picked) => More[]) {
    this.#chart = chart;
    this.#more = more;
    chart.onChange(() => this.draw());
  }

  draw(): void {
    const { selection, instant, picked } = this.#chart;
    const now = [selection?.[0], selection?.[1], instant, picked?.row.lane, picked?.i];
    if (now.length === this.#shown.length && now.every((value, i) => value === this.#shown[i])) return;
    this.#shown = now;
    const parts = [
      picked ? this.#bar(picked) : null,
      selection ? this.#selection(selection) : null,
      instant !== null ? this.#instant(instant) : null,
    ].filter((part) => part !== null);
    const hint = el(
      "p",
      { class: "note" },
      "Click a bar for its details, the ruler for what ran at an instant. Shift and drag selects a stretch of time. " +
        "Drag moves; Ctrl and the wheel zoom, after a click the wheel alone does. ",
      el("kbd", {}, "?"),
      " lists the keys.",
    );
    this.element.replaceChildren(...(parts.length > 0 ? parts : [hint]));
  }

  #bar(picked: Picked): HTMLElement {
    const chart = this.#chart;
    const { lane, track } = picked.row;
    const { i } = picked;
    const [from, to] = [lane.from(i), lane.to(i)];
    const facts: [string, string][] = [
      ["Track", `${track.group} › ${visible(track.label, 120)}`],
      ["Starts at", `${stamp(from)} s`],
      ["Ends at", lane.isOpen(i) ? "it did not end" : `${stamp(to)} s`],
      ["Lasts", `${time(to - from)} (${exact(to - from)} ns, ${share(to - from, chart.view.whole)} of the boot)`],
    ];
    if (track.earlier && track.earlier.length > 0) {
      const names = track.earlier.map(([until, name]) => `${visible(name, 60)} until ${stamp(until)} s`);
      facts.push(["Earlier names", names.join(", ")]);
    }
    const unsure = unsureText(picked);
    if (unsure) facts.push(["Not exactly known", `it ${unsure}: no record shows when`]);
    if (lane.isCritical(i))
      facts.push(["Critical path", `yes; without it the boot ends at most ${time(to - from)} earlier`]);
    const change = lane.change?.[i];
    if (change !== undefined)
      facts.push([
        "Other boot",
        Number.isNaN(change) ? "has no such bar" : `${change >= 0 ? "+" : "−"}${time(Math.abs(change))} here`,
      ]);
    const rows = facts.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)));
    const links = this.#more(picked).map((more) =>
      el("p", { class: "note" }, more.text, " ", more.leads ? button(more.leads.label, more.leads.act) : null),
    );
    return el(
      "div",
      { class: "tl-card", "data-part": "bar" },
      el("h3", {}, nameOf(chart, { lane, i })),
      el("table", { class: "facts-of" }, el("tbody", {}, ...rows)),
      ...links,
      this.#lines(from, to),
      el(
        "p",
        { class: "toolbar" },
        button("Select its time", () => chart.select(from, to)),
        button("Fit", () => chart.fit(from, to)),
        button("What ran then", () => {
          chart.instant = (from + to) / 2;
          chart.changed();
        }),
      ),
    );
  }

  /** The console lines of an interval. */
  #lines(from: number, to: number): HTMLElement | null {
    const found = this.#chart.logs.flatMap((log) =>
      log.time_ns.flatMap((at, i) => (at !== null && at >= from && at <= to ? [{ log, at, i }] : [])),
    );
    const absent = this.#chart.logs.filter((log) => {
      const left = leftOutOf(log);
      return left !== null && left.from < to && left.to > from;
    });
    const partial = absent.length > 0 ? el("p", { class: "note" }, leftOutText(absent)) : null;
    if (found.length === 0) return partial;
    found.sort((a, b) => a.at - b.at);
    const shown = found
      .slice(0, LINES)
      .map(
        ({ log, at, i }) =>
          `${log.side ? `${log.side} ` : ""}${stamp(at)}  ${consoleLine(log.text[i] ?? "").slice(0, 160)}`,
      );
    if (found.length > LINES) shown.push(`… ${exact(found.length - LINES)} more lines`);
    const lines = el("pre", { class: "tl-lines", tabindex: 0, "aria-label": "Console meanwhile" }, shown.join("\n"));
    return partial ? el("div", {}, lines, partial) : lines;
  }

  #selection([from, to]: [number, number]): HTMLElement {
    const chart = this.#chart;
    const table = new DataTable<Sum>({
      label: "Sums of the selection",
      rows: sums(chart.timeline, from, to),
      step: 12,
      filterText: (sum) => `${sum.group} ${sum.kind} ${sum.name}`,
      filterLabel: "Filter the sums",
      empty: "Nothing ran in this stretch, or nothing matches.",
      columns: [
        { id: "kind", title: "Kind", value: (sum) => `${sum.group} › ${visible(sum.kind, 60)}` },
        { id: "name", title: "Name", value: (sum) => visible(sum.name, 100) },
        durations("time", "Time in it", (sum) => sum.time),
        {
          id: "share",
          title: "Share",
          number: true,
          value: (sum) => sum.time,
          cell: (sum) => share(sum.time, to - from),
        },
        { id: "bars", title: "Bars", number: true, value: (sum) => sum.bars, cell: (sum) => exact(sum.bars) },
        durations("longest", "Longest", (sum) => sum.longest),
        durations("mean", "Mean", (sum) => sum.time / sum.bars),
      ],
    });
    return el(
      "div",
      { class: "tl-card wide", "data-part": "selection" },
      el("h3", {}, `Selection: ${stamp(from)} to ${stamp(to)} s, ${time(to - from)}`),
      table.element,
      this.#lines(from, to),
      el(
        "p",
        { class: "toolbar" },
        button("Fit", () => chart.fit(from, to)),
        button("Clear", () => chart.clear()),
      ),
    );
  }

  #instant(at: number): HTMLElement {
    const chart = this.#chart;
    const table = new DataTable<Spot>({
      label: "What ran then",
      rows: ranAt(chart.timeline, at),
      step: 12,
      empty: "Nothing that was recorded.",
      columns: [
        { id: "kind", title: "Kind", value: (spot) => `${spot.track.group} › ${visible(kindOf(spot.track), 60)}` },
        {
          id: "name",
          title: "Name",
          value: (spot) => visible(calledIn(chart.timeline, spot), 200),
          cell: (spot) => {
            const link = button(visible(calledIn(chart.timeline, spot), 200), () => chart.pick(spot, true));
            link.className = "link";
            return link;
          },
        },
        instants("start", "From (s)", (spot) => spot.lane.from(spot.i)),
        durations("length", "Lasts", (spot) => spot.lane.length(spot.i)),
      ],
    });
    return el(
      "div",
      { class: "tl-card wide", "data-part": "instant" },
      el("h3", {}, `What ran at ${stamp(at)} s`),
      table.element,
    );
  }
}
