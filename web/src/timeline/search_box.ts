/** The search across all tracks: a box that speaks the filter language, its count, and the way from find to find. */
import { el } from "../dom";
import { exact, stamp, time } from "../format";
import { consoleLine } from "../text";
import type { Chart } from "./chart";
import { describe } from "./details";
import { asks, find, findLines, readQuery } from "./find";
import type { Log } from "./strips";

const HINT =
  "Words, and terms: kind:initcall  track:udev  dur>10ms  dur<1s  name~pci  start>0.5s  is:critical  is:open  -word  at:0.8s";

/** A line of a console that was found. */
interface Line {
  log: Log;
  at: number;
  i: number;
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
    if (query.at !== null) chart.instant = Math.min(chart.view.last, chart.view.first + query.at);
    const said: string[] = [];
    if (query.wrong !== null) said.push(`“${query.wrong}” is no term. ${HINT}.`);
    if (chart.finding) {
      const nothing = chart.finding.found.length + this.#lines.length === 0;
      if (nothing && query.unknown !== null) said.push(`“${query.unknown}” is no term. ${HINT}.`);
      said.push(nothing ? "Nothing matches." : `${this.#counted()}.`);
    }
    this.result.textContent = said.join(" ");
    if (chart.onlyFound) chart.relayout();
    chart.changed();
  }

  /** Goes to the next bar or line that was found, from the picked one or from the left of what is shown. */
  next(by: number): void {
    const chart = this.#chart;
    const found = chart.finding?.found ?? [];
    const all = found.length + this.#lines.length;
    if (all === 0) return;
    if (this.#place < 0) {
      const from = found.findIndex(({ lane, i }) => lane.to(i) > chart.view.from);
      this.#place = by > 0 ? Math.max(0, from) : all - 1;
    } else this.#place = (this.#place + by + all) % all;
    const spot = found[this.#place];
    const line = this.#lines[this.#place - found.length];
    let text = "";
    if (spot) {
      chart.pick(spot, true);
      if (chart.picked) chart.live.textContent = describe(chart, chart.picked);
    } else if (line !== undefined) text = this.#show(line);
    this.result.textContent = `${exact(this.#place + 1)} of ${this.#counted()}.${text}`;
  }

  #counted(): string {
    const { found, total } = this.#chart.finding ?? { found: [], total: 0 };
    const lines = this.#chart.logs.map(({ side, found: own = [] }) => {
      const text = `${exact(own.length)} console ${own.length === 1 ? "line" : "lines"}`;
      return own.length > 0 ? `${text}${side ? ` of ${side}` : ""}` : "";
    });
    return [found.length > 0 ? `${exact(found.length)} bars, ${time(total)} together` : "", ...lines]
      .filter(Boolean)
      .join(", and ");
  }

  /** Shows the instant of a console line; the answer is the line. */
  #show({ log, at, i }: Line): string {
    const chart = this.#chart;
    const { from, to, length } = chart.view;
    chart.picked = null;
    chart.instant = at;
    if (at < from || at > to) chart.view.show(at - length / 2, at + length / 2);
    const text = `${stamp(at)} s: ${consoleLine(log.text[i] ?? "").slice(0, 200)}`;
    chart.live.textContent = `Console${log.side ? ` of ${log.side}` : ""}, ${text}`;
    chart.changed();
    return ` ${log.side ? `${log.side}, ` : ""}${text}`;
  }

  #filter(): void {
    this.#chart.onlyFound = this.#only.checked;
    this.#chart.relayout();
    this.#chart.changed();
  }
}
