/** What boot this is, how it ended, and its three figures, kept apart. */
import type { PageData } from "./data";
import { el } from "./dom";
import { exact, instructions, share, time } from "./format";
import { consoleLine, visible } from "./text";

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

function badge(kind: string, sign: string, text: string): HTMLElement {
  return el("span", { class: `badge ${kind}` }, el("span", { "aria-hidden": "true" }, sign), ` ${text}`);
}

export function header(data: PageData): HTMLElement {
  const { boot, marks } = data;
  const failed = boot.status !== "complete";
  const last = marks.mark.length;
  const span = last > 1 ? `${marks.mark[0]} → ${failed ? "where it ended" : marks.mark[last - 1]}` : "the whole record";
  const { instructions: executed, virtual_ns, idle_ns } = boot.totals;
  const clock = boot.virtual ? "of the emulated clock, not seconds of a board" : visible(boot.clock);
  const about = boot.about.map(([name, value]) =>
    el("div", {}, el("dt", {}, visible(name)), el("dd", {}, visible(value, 2000))),
  );
  return el(
    "header",
    {},
    el("p", { class: "brand" }, el("span", { class: "sun", "aria-hidden": "true" }), "Firstlight boot report"),
    el(
      "h1",
      {},
      visible(boot.name),
      failed ? badge("bad", "✗", "failed") : badge("good", "✓", "complete"),
      badge("plain", "◎", `${visible(boot.mode)} mode`),
    ),
    boot.missing.length > 0
      ? el("p", { class: "missing" }, `Incomplete: ${boot.missing.map((reason) => visible(reason)).join("; ")}`)
      : null,
    el(
      "dl",
      { class: "figures" },
      figure("Instructions", instructions(executed), exact(executed), `executed, ${visible(span)}`),
      figure(boot.virtual ? "Virtual time" : "Time", time(virtual_ns), `${exact(virtual_ns)} ns`, clock),
      figure("Idle", time(idle_ns), `${exact(idle_ns)} ns`, `${share(idle_ns, virtual_ns)} of the time, waiting`),
    ),
    failed ? failure(data) : null,
    el("dl", { class: "about" }, ...about),
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

function failure(data: PageData): HTMLElement {
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
    el("h2", {}, `This boot failed: ${REASONS[why.reason] ?? visible(why.reason)}`),
    why.detail ? el("p", {}, visible(why.detail, 2000)) : null,
    el("p", { class: "lead" }, "Everything below is what was attributed up to then."),
    tail ? el("h3", {}, "The last lines of the console") : null,
    tail ? el("pre", { tabindex: 0 }, tail) : null,
  );
}
