/** The page of a study: what was concluded once, what holds, and the picture behind it. */

import { el, onWidth, section } from "../dom";
import { fills, phaseFill, swatch } from "../palette";
import { colourOf } from "../scaling/plot";
import { visible } from "../text";
import { barsPicture } from "./bars";
import { type Chart, type Finding, STUDY_PAGE_VERSION, type StudyPage } from "./data";
import { histogramPicture, linesPicture } from "./plots";

const KINDS: Record<string, string> = {
  holds: "good",
  "holds in direction": "good",
  "no longer holds": "unsure",
  inconclusive: "unsure",
};
const PICTURES = { bars: barsPicture, stacked: barsPicture, lines: linesPicture, histogram: histogramPicture };

function chartCard(chart: Chart): HTMLElement | null {
  const draw = Object.hasOwn(PICTURES, chart.form) ? PICTURES[chart.form] : undefined;
  if (!draw || chart.series.every(({ points }) => points.length === 0)) return null;
  const place = el("div", { class: "study-chart scaling" });
  onWidth(place, () => place.replaceChildren(draw(chart, Math.max(place.clientWidth, 300))));
  const fill = chart.form === "lines" ? colourOf : phaseFill;
  const names = chart.series
    .filter(({ name }) => name)
    .map(({ name }, i) => el("span", { class: "sign-of" }, swatch(fill(i)), visible(name, 80)));
  return el(
    "figure",
    { class: "chart", "data-chart": chart.key },
    el("h3", {}, visible(chart.title, 200)),
    place,
    el("p", { class: "legend-line" }, el("span", {}, visible(`${chart.up}, by ${chart.across}`, 200)), ...names),
  );
}

function findingLine({ claim, then: before, now, verdict, why }: Finding): HTMLElement {
  const kind = (Object.hasOwn(KINDS, verdict) && KINDS[verdict]) || "";
  const figures = [before && `then ${before}`, now && `here ${now}`].filter(Boolean).join("; ");
  return el(
    "li",
    { class: `answer ${kind}` },
    el("span", {}, el("strong", {}, visible(claim, 400)), " ", el("span", { class: "badge plain" }, verdict)),
    el("p", { class: "note" }, visible([figures, why].filter(Boolean).join(". "), 1000)),
  );
}

function list(lines: string[]): HTMLElement {
  return el("ul", { class: "lines" }, ...lines.map((text) => el("li", {}, visible(text, 1000))));
}

/** Draws the study into the page. */
export function drawStudy(page: StudyPage, place: HTMLElement): void {
  document.title = `${visible(page.title, 100)} – Firstlight`;
  const header = el(
    "header",
    {},
    el("p", { class: "brand" }, el("span", { class: "sun", "aria-hidden": "true" }), "Firstlight study"),
    el("h1", {}, visible(page.title, 200)),
    el("p", { class: "note" }, visible(page.question, 400)),
    page.quick ? el("p", { class: "answer unsure" }, "A quick run: fewer arms and smaller sizes.") : null,
  );
  const missing = page.missing.map(({ what, reason }) => `${what}: ${reason}`);
  const lead =
    "Figures are exact: virtual time at one nanosecond for each instruction, not seconds of a board. A second run gives the same.";
  const sections = [
    section(
      "findings",
      "What was concluded then, and what holds",
      "Compared in direction and form: machines differ.",
      el("ul", { class: "findings" }, ...page.findings.map(findingLine)),
    ),
    page.charts.length > 0 ? section("pictures", "Pictures", lead, ...page.charts.map(chartCard)) : null,
    missing.length > 0
      ? section("missing", "Not measured", "What could not be booted or measured, and why.", list(missing))
      : null,
    section(
      "recipe",
      "How to repeat it",
      "The boots, and what has to be known of the figures.",
      list([...page.recipe, ...page.notes]),
    ),
  ].filter((each) => each !== null);
  const links = sections.map((each) =>
    el("a", { href: `#${each.id}` }, each.querySelector("h2")?.textContent ?? each.id),
  );
  const nav = el("nav", { class: "controls", "aria-label": "The page" }, el("div", { class: "places" }, ...links));
  const most = page.charts.reduce((a, { series }) => Math.max(a, series.length), 0);
  place.replaceChildren(fills(most), header, nav, el("main", { id: "main" }, ...sections));
}

/** The data, if they are a study of this version. */
export function checkStudy(value: Partial<StudyPage>): StudyPage {
  if (value.version !== STUDY_PAGE_VERSION) {
    const read = `The data in this page have version ${String(value.version)}; the page reads version ${STUDY_PAGE_VERSION}.`;
    throw new Error(read);
  }
  return value as StudyPage;
}
