/** What `explain` found, above the timeline: what each cause costs and what removes it, with the way to its place. */
import { el } from "../dom";
import { share, time } from "../format";
import { quoted, visible } from "../text";
import type { Finding } from "../types";
import type { Chart } from "./chart";

const AT_FIRST = 4;
const SORTS: Record<Finding["sort"], string> = {
  cause: "",
  feature: "a feature’s cost: the remedy gives it up",
  machine: "the emulated machine’s own: no fact about Linux",
};

/** A remedy in full, for commands and paths are copied from it. Words in backquotes are shown as code. */
function remedy(text: string): (HTMLElement | string)[] {
  return quoted(text, text.length).map((part) => (part.code ? el("code", {}, part.text) : part.text));
}

/** Costs with time in common do not add up. */
function sharedText({ shares }: Finding): string {
  const parts = shares.map(({ title, ns }) => `${time(ns)} of it is also in “${visible(title, 100)}”`);
  return parts.join("; ").replace(/^./, (letter) => letter.toUpperCase());
}

function item(chart: Chart, finding: Finding): HTMLElement {
  const places: [number, number][] = [];
  for (let i = 0; i + 1 < finding.places.length; i += 2)
    places.push([finding.places[i] ?? 0, finding.places[i + 1] ?? 0]);
  let next = 0;
  const text = places.length > 1 ? `Show (${places.length} places)` : "Show";
  const button = el("button", { type: "button", class: "tl-jump" }, text);
  button.addEventListener("click", () => {
    const first = places[0];
    const last = places.at(-1);
    if (!first || !last) return;
    // The first press shows all places together, each further one the next of them.
    const [from, to] = next === 0 ? [first[0], Math.max(...places.map(([, end]) => end))] : (places[next - 1] ?? first);
    next = places.length > 1 ? (next + 1) % (places.length + 1) : 0;
    chart.selection = [from, to];
    chart.instant = null;
    chart.fit(from, to);
    chart.element.scrollIntoView({ block: "nearest" });
    chart.canvas.focus({ preventScroll: true });
    chart.live.textContent = `${visible(finding.title, 200)}: ${time(from)} to ${time(to)}`;
  });
  return el(
    "li",
    { class: `tl-finding of-${finding.sort}` },
    el("strong", {}, time(finding.cost_ns)),
    el("span", { class: "tl-part" }, ` ${share(finding.share, 1)} `),
    visible(finding.title, 200),
    finding.certainty === "estimated" ? el("span", { class: "note" }, " (estimated)") : null,
    finding.remedy ? el("span", { class: "note" }, " Remedy: ", ...remedy(finding.remedy), ".") : null,
    finding.shares.length > 0 ? el("span", { class: "note" }, ` ${sharedText(finding)}.`) : null,
    SORTS[finding.sort] ? el("span", { class: "badge plain" }, SORTS[finding.sort]) : null,
    places.length > 0 ? button : null,
  );
}

/** The list, or nothing where nothing was found. */
export function findingsList(chart: Chart, findings: Finding[]): HTMLElement | null {
  if (findings.length === 0) return null;
  const items = findings.map((finding) => item(chart, finding));
  const rest = items.slice(AT_FIRST);
  const list = (all: HTMLElement[]): HTMLElement => el("ul", { class: "tl-findings" }, ...all);
  const more =
    rest.length > 0 ? el("details", {}, el("summary", {}, `${rest.length} more known causes`), list(rest)) : null;
  return el(
    "div",
    { class: "tl-answers", role: "group", "aria-label": "What the time went to" },
    el("h3", {}, "Known causes in this boot"),
    list(items.slice(0, AT_FIRST)),
    more,
  );
}
