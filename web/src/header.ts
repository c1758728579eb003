/** What boot this is, how it ended, and its three figures, kept apart. */

import { el } from "./dom";
import { exact, instructions, share, time, unsureText, words } from "./format";
import { missingPart, recordsPart } from "./records";
import { consoleLine, visible } from "./text";
import type { FirstData, Unreliable } from "./types";

function figure(title: string, value: string, whole: string, note: string): HTMLElement {
  return el(
    "div",
    { class: "figure" },
    el("dt", {}, title),
    el("dd", { class: "value" }, value),
    el("dd", { class: "exact" }, whole),
    el("dd", { class: "note" }, note),
  );
}

function nanoseconds(ns: number | null): string {
  return ns === null ? "not known" : `${exact(ns)} ns`;
}

function badge(kind: string, sign: string, text: string): HTMLElement {
  return el("span", { class: `badge ${kind}` }, el("span", { "aria-hidden": "true" }, sign), ` ${text}`);
}

export function header(data: FirstData): HTMLElement {
  const { boot, marks } = data;
  const failed = boot.status !== "complete";
  const last = marks.mark.length;
  const span = last > 1 ? `${marks.mark[0]} → ${failed ? "where it ended" : marks.mark[last - 1]}` : "the whole record";
  const { instructions: executed, virtual_ns, idle_ns } = boot.totals;
  const imported = boot.mode === "imported";
  const clock = boot.virtual
    ? "of the emulated clock, not seconds of a board"
    : imported
      ? "by the clock of the records"
      : `of the ${visible(boot.clock)} clock`;
  const about = boot.about.map(([name, value]) =>
    el("div", {}, el("dt", {}, visible(name)), el("dd", {}, visible(value, 5000))),
  );
  return el(
    "header",
    {},
    el("p", { class: "brand" }, el("span", { class: "sun", "aria-hidden": "true" }), "Firstlight boot report"),
    el(
      "h1",
      {},
      visible(boot.name),
      failed
        ? badge("bad", "✗", "failed")
        : boot.missing.length > 0
          ? badge("bad", "◐", "incomplete")
          : badge("good", "✓", "complete"),
      boot.unreliable ? badge("bad", "✗", "not reliable") : null,
      badge("plain", "◎", `${visible(boot.mode)} mode`),
    ),
    unreliablePart(boot.unreliable),
    missingPart(boot.missing),
    el(
      "dl",
      { class: "figures" },
      // Records have no instructions and rarely idle time: what none of them can say has no place.
      executed === null && imported
        ? null
        : figure(
            "Instructions",
            instructions(executed),
            executed === null ? "not known" : exact(executed),
            `executed, ${visible(span)}`,
          ),
      figure(
        boot.virtual ? "Virtual time" : "Time",
        time(virtual_ns),
        nanoseconds(virtual_ns),
        imported ? `${visible(span)}, ${clock}` : clock,
      ),
      idle_ns === null && imported
        ? null
        : figure(
            "Idle",
            time(idle_ns),
            nanoseconds(idle_ns),
            idle_ns === null ? "of the time, waiting" : `${share(idle_ns, virtual_ns)} of the time, waiting`,
          ),
    ),
    failed ? failure(data) : null,
    headline(data),
    el("dl", { class: "about" }, ...about),
    recordsPart(data),
  );
}

function largest(values: (number | null)[]): number {
  let found = -1;
  values.forEach((value, i) => {
    if (value !== null && value > (values[found] ?? 0)) found = i;
  });
  return found;
}

/** The one sentence for whoever reads no further: the largest phase and the hottest function. */
function headline(data: FirstData): HTMLElement | null {
  const { phases, boot } = data;
  const { hottest } = data.later;
  const lasts = phases.start_ns.map((start, i) => (phases.end_ns[i] ?? boot.totals.virtual_ns ?? 0) - (start ?? 0));
  const phase = largest(lasts);
  const said: (Node | string)[] = [];
  if (phase >= 0 && lasts.length > 1) {
    const name = el("strong", {}, visible(words(phases.name[phase] ?? ""), 60));
    const unsure = unsureText(phases.unsure_ns[phase] ?? null);
    const off = unsure ? `, perhaps ${unsure}` : "";
    said.push(
      "The longest phase is ",
      name,
      ` with ${time(lasts[phase])}, ${share(lasts[phase], boot.totals.virtual_ns)} of the time${off}. `,
    );
  }
  if (hottest) {
    const name = el("strong", { class: "code" }, visible(hottest.function, 80));
    const part = share(hottest.self_instructions, boot.totals.instructions);
    said.push(
      "Of the functions ",
      name,
      ` executes most by itself: ${instructions(hottest.self_instructions)} instructions, ${part} of all.`,
    );
  }
  return said.length > 0 ? el("p", { class: "headline" }, ...said) : null;
}

/** What a reader has to know before any figure: which of them cannot be relied on, and why. */
function unreliablePart(unreliable: Unreliable | null): HTMLElement | null {
  if (!unreliable) return null;
  return el(
    "div",
    { class: "failure", role: "alert" },
    el("h2", {}, `Not reliable: ${visible(unreliable.text, 500)}`),
    el("ul", {}, ...unreliable.broken.map((text) => el("li", {}, visible(text, 2000)))),
    el("p", {}, visible(unreliable.hint, 500)),
  );
}

const REASONS: Record<string, string> = {
  panic: "The kernel panicked",
  wall_timeout: "The limit of wall time passed",
  virtual_timeout: "The limit of virtual time passed",
  never_ready: "The machine stopped before the ready mark",
  qemu_died: "QEMU died",
  plugin: "The profiling plugin could not work",
};

function failure(data: FirstData): HTMLElement {
  const { failure: why } = data.boot;
  if (!why) {
    return el(
      "div",
      { class: "failure", role: "alert" },
      el("h2", {}, "This boot failed"),
      "The bundle names no reason.",
    );
  }
  const tail = why.console_tail.map((line) => consoleLine(line)).join("\n");
  return el(
    "div",
    { class: "failure", role: "alert" },
    el(
      "h2",
      {},
      `This boot failed: ${(Object.hasOwn(REASONS, why.reason) && REASONS[why.reason]) || visible(why.reason)}`,
    ),
    why.detail ? el("p", {}, visible(why.detail, 5000)) : null,
    el("p", { class: "lead" }, "Everything below is what was attributed up to then."),
    tail ? el("h3", {}, "The last lines of the console") : null,
    tail ? el("pre", { tabindex: 0 }, tail) : null,
  );
}
