/** The search across all tracks: a box that speaks the filter language, its count, and the way from find to find. */
import { el } from "../dom";
import { stamp } from "../format";
import { consoleLine } from "../text";
import type { Chart } from "./chart";
import type { Log } from "./console_log";
import { leftOutText } from "./console_log";
import { type Counts, countText, placeText } from "./counts";
import { describe } from "./details";
import { asks, asksLines, find, findLines, readQuery } from "./find";

const HINT =
  "Words, and terms: kind:initcall  track:udev  dur>10ms  dur<1s  name~pci  start>0.5s  is:critical  is:open  -word  at:0.8s";

/** A line of a console that was found. */
interface Line {
  log: Log;
  at: number;
  i: number;
}

function textOf({ log, at, i }: Line): string {
  return `${stamp(at)} s: ${consoleLine(log.text[i] ?? "").slice(0, 200)}`;
}

export class SearchBox {
  readonly box = el("input", {
    type: "search",
    class: "tl-search",
    title: HINT,
    maxlength: 500,
  });
  readonly result = el("p", { class: "count", role: "status" });
  readonly element: HTMLElement;
  readonly #chart: Chart;
  readonly #only = el("input", { type: "checkbox" });
  /** The console lines that were found, in order of time; a search goes through them after the bars. */
  #lines: Line[] = [];
  #place = -1;
  /** Which console lines were not searched, for the page does not have them. */
  #leftOut = "";

  constructor(chart: Chart, label = "Search the timeline") {
    this.#chart = chart;
    this.box.setAttribute("aria-label", label);
    this.box.placeholder = label;
    const step = (text: string, title: string, by: number): HTMLElement => {
      const button = el("button", { type: "button", "aria-label": title, title }, text);
      button.addEventListener("click", () => this.next(by));
      return button;
    };
    this.#only.addEventListener("change", () => this.#filter());
    this.box.addEventListener("input", () => this.search());
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        this.next(event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape") chart.canvas.focus();
    });
    this.element = el(
      "div",
      { class: "tl-find" },
      this.box,
      step("‹", "Previous find (N)", -1),
      step("›", "Next find (n)", 1),
      el("label", { class: "choice" }, this.#only, " only tracks with finds"),
      this.result,
    );
  }

  get text(): string {
    return this.box.value;
  }

  set text(text: string) {
    this.box.value = text;
    this.search();
  }

  /** Whether only tracks with finds are shown. */
  get only(): boolean {
    return this.#only.checked;
  }

  set only(only: boolean) {
    if (only === this.only) return;
    this.#only.checked = only;
    this.#filter();
  }

  search(): void {
    const chart = this.#chart;
    const query = readQuery(this.box.value);
    this.#place = -1;
    chart.finding = asks(query) ? find(chart.timeline, query) : null;
    chart.logs = chart.logs.map((log) => ({ ...log, found: findLines(log, query) }));
    this.#lines = chart.logs
      .flatMap((log) => (log.found ?? []).map((i) => ({ log, at: log.time_ns[i] ?? 0, i })))
      .sort((a, b) => a.at - b.at);
    this.#leftOut = asksLines(query) ? leftOutText(chart.logs) : "";
    if (query.at !== null) chart.instant = Math.min(chart.view.last, chart.view.first + query.at);
    const said: string[] = [];
    if (query.wrong !== null) said.push(`“${query.wrong}” is no term. ${HINT}.`);
    if (chart.finding) {
      const nothing = this.#all === 0;
      if (nothing && query.unknown !== null) said.push(`“${query.unknown}” is no term. ${HINT}.`);
      said.push(nothing ? "Nothing matches." : `${countText(this.#counts)}.`, this.#leftOut);
    }
    this.result.textContent = said.filter(Boolean).join(" ");
    if (chart.onlyFound) chart.relayout();
    chart.changed();
  }

  /** Goes to the next bar or line that was found, from the picked one or from the left of what is shown. */
  next(by: number): void {
    const chart = this.#chart;
    const found = chart.finding?.found ?? [];
    const all = this.#all;
    if (all === 0) return;
    if (this.#place < 0) {
      const from = found.findIndex(({ lane, i }) => lane.to(i) > chart.view.from);
      this.#place = by > 0 ? Math.max(0, from) : all - 1;
    } else this.#place = (this.#place + by + all) % all;
    const spot = found[this.#place];
    const line = this.#line;
    if (spot) {
      chart.pick(spot, true);
      if (chart.picked) chart.live.textContent = describe(chart, chart.picked);
    } else if (line) this.#show(line);
    this.#tell();
  }

  /** Which of the finds the reader went to, from 0 on; null before that. */
  get place(): number | null {
    return this.#place < 0 ? null : this.#place;
  }

  /** Sets the current find without moving the view. A number that is not a find is ignored. */
  set place(place: number | null) {
    if (place === null || !Number.isInteger(place) || place < 0 || place >= this.#all) return;
    this.#place = place;
    this.#tell();
  }

  get #all(): number {
    return (this.#chart.finding?.found.length ?? 0) + this.#lines.length;
  }

  /** The console line that the reader is at. */
  get #line(): Line | undefined {
    return this.#lines[this.#place - (this.#chart.finding?.found.length ?? 0)];
  }

  get #counts(): Counts {
    const { found, total } = this.#chart.finding ?? { found: [], total: 0 };
    return { bars: found.length, total, logs: this.#chart.logs };
  }

  /** Says at which find the reader is, and of a console line what it says. */
  #tell(): void {
    const line = this.#line;
    const side = line?.log.side ? `${line.log.side}, ` : "";
    const said = [`${placeText(this.#counts, this.#place)}.`, this.#leftOut, line ? `${side}${textOf(line)}` : ""];
    this.result.textContent = said.filter(Boolean).join(" ");
  }

  /** Shows the instant of a console line. */
  #show(line: Line): void {
    const chart = this.#chart;
    const { from, to, length } = chart.view;
    const { at, log } = line;
    chart.picked = null;
    chart.instant = at;
    if (at < from || at > to) chart.view.show(at - length / 2, at + length / 2);
    chart.live.textContent = `Console${log.side ? ` of ${log.side}` : ""}, ${textOf(line)}`;
    chart.changed();
  }

  #filter(): void {
    this.#chart.onlyFound = this.#only.checked;
    this.#chart.relayout();
    this.#chart.changed();
  }
}
