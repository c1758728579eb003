/** What the picture shows, as a table: for those who do not see it, and for a copy as text. */
import { el } from "../dom";
import { exact, share, stamp, time } from "../format";
import { visible } from "../text";
import { type Sum, sums } from "./answers";
import type { Chart } from "./chart";
import { nameOf } from "./details";

interface ShownTrack {
  label: string;
  bars: number;
  covered: number;
  longest: string;
}

/** The tracks that are unfolded, with what they have in the part of the axis that is shown. */
function shownTracks(chart: Chart): ShownTrack[] {
  const { view } = chart;
  return chart.layout.heads.flatMap(({ track }) => {
    if (!track) return [];
    const lanes = track.role === "process" ? track.lanes.slice(1) : track.lanes;
    let [bars, covered, longest, name] = [0, 0, -1, "–"];
    for (const lane of lanes) {
      covered += lane.covered(view.from, view.to);
      for (let i = lane.after(view.from); i < lane.size && lane.from(i) < view.to; i++) {
        bars++;
        if (lane.length(i) <= longest) continue;
        longest = lane.length(i);
        name = `${nameOf(chart, { lane, i })}, ${time(longest)}`;
      }
    }
    return bars > 0 ? [{ label: `${track.group} › ${visible(track.label, 80)}`, bars, covered, longest: name }] : [];
  });
}

/** A section that unfolds; its table is made when it is open, and again at most twice a second. */
export function shownTable(chart: Chart): HTMLElement {
  const body = el("tbody");
  const head = ["Track", "Bars", "Time", "Longest"].map((text) => el("th", { scope: "col" }, text));
  const caption = el("caption", {});
  const table = el("table", {}, caption, el("thead", {}, el("tr", {}, ...head)), body);
  const frame = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What is shown" }, table);
  const details = el("details", { class: "tl-shown" }, el("summary", {}, "What is shown, as a table"), frame);
  let timer = 0;
  const draw = (): void => {
    timer = 0;
    caption.textContent = `From ${stamp(chart.view.from)} to ${stamp(chart.view.to)} s`;
    const rows = shownTracks(chart).map((track) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, track.label),
        el("td", { class: "number" }, exact(track.bars)),
        el("td", { class: "number" }, time(track.covered)),
        el("td", {}, track.longest),
      ),
    );
    body.replaceChildren(...rows);
  };
  const later = (): void => {
    if (details.open && timer === 0) timer = window.setTimeout(draw, 500);
  };
  details.addEventListener("toggle", later);
  chart.onChange(later);
  return details;
}

/** Of each kind so many rows are in a text. */
const OF_A_KIND = 8;

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

/** What is shown or selected as Markdown, for a bug report. */
export function asText(chart: Chart, boot: string): string {
  const { selection, view } = chart;
  const [from, to] = selection ?? [view.from, view.to];
  const kinds = new Map<string, Sum[]>();
  for (const sum of sums(chart.timeline, from, to)) {
    const kind = `${cell(sum.group)} › ${cell(visible(sum.kind, 60))}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), sum]);
  }
  const rows = [...kinds].flatMap(([kind, all]) => {
    const lines = all
      .slice(0, OF_A_KIND)
      .map((sum) => [cell(visible(sum.name, 100)), time(sum.time), share(sum.time, to - from), exact(sum.bars)]);
    const rest = all.slice(OF_A_KIND);
    if (rest.length > 0) {
      const left = rest.reduce((total, sum) => total + sum.bars, 0);
      lines.push([`${exact(rest.length)} more`, "", "", exact(left)]);
    }
    return lines.map((line) => `| ${kind} | ${line.join(" | ")} |`);
  });
  return [
    `${boot}: ${stamp(from)} to ${stamp(to)} s (${time(to - from)})`,
    "",
    "| Kind | Name | Time | Share | Bars |",
    "|---|---|--:|--:|--:|",
    ...rows,
    "",
  ].join("\n");
}
