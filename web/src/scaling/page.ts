/** The page of a scaling: the law that a cost follows by its size. */

import { dataTable } from "../data_table";
import { el, section } from "../dom";
import { fills } from "../palette";
import { visible } from "../text";
import { SCALING_VERSION, type ScalePage } from "./data";
import { scalingPicture } from "./plot";

const SURE: Record<string, string> = { clear: "good", likely: "good", weak: "unsure", indistinguishable: "unsure" };

/** One configuration: its law in a line, what it rests on, its parts and what it predicts. */
function lawSection(page: ScalePage, number: number): HTMLElement | null {
  const told = page.configurations[number];
  const found = page.scale.configurations[number];
  if (!told || !found) return null;
  const title = found.name ? `The law of ${visible(found.name, 80)}` : "The law";
  const named = (name: string): HTMLElement | null => {
    const data = Object.hasOwn(told.tables, name) ? told.tables[name] : undefined;
    return data ? el("div", {}, el("h3", {}, data.title), dataTable(data)) : null;
  };
  const lines = told.lines.map((text) => el("li", {}, visible(text, 500)));
  const notes = found.notes.map((text) => el("li", { class: "flagged" }, "⚠ ", visible(text, 500)));
  const lead = `${found.regime === "exact" ? "Exact: every distance from the law is real" : "Noisy: the law goes through what scatters"}. ${told.certainty ? `How sure: ${visible(told.certainty)}.` : ""}`;
  return section(
    number === 0 ? "law" : `law-${number + 1}`,
    title,
    lead,
    el("p", { class: "formula code" }, visible(told.law, 300)),
    el("ul", { class: "lines" }, ...notes, ...lines),
    named("predictions"),
    named("parts"),
  );
}

/** Draws the scaling into the page. */
export function drawScaling(page: ScalePage, place: HTMLElement): void {
  const title = visible(page.scale.title || "Scaling", 200);
  document.title = `${title} – Firstlight`;
  const answers = page.configurations.map(({ law, certainty }, i) => {
    const name = page.scale.configurations[i]?.name ?? "";
    const kind = (Object.hasOwn(SURE, certainty) && SURE[certainty]) || "";
    return el(
      "p",
      { class: `answer ${kind}` },
      el(
        "span",
        {},
        name ? `${visible(name, 80)}: ` : "",
        el("strong", {}, visible(law, 300)),
        " ",
        certainty ? el("span", { class: "badge plain" }, visible(certainty, 30)) : null,
      ),
    );
  });
  const meetings = page.crossovers.flatMap(({ text, line }) => [
    el("li", { class: "flagged" }, visible(text, 500)),
    ...(line ? [el("li", {}, visible(line, 500))] : []),
  ]);
  const notes = page.scale.notes.map((text) => el("li", {}, visible(text, 500)));
  const header = el(
    "header",
    {},
    el("p", { class: "brand" }, el("span", { class: "sun", "aria-hidden": "true" }), "Firstlight scaling"),
    el("h1", {}, title),
    ...answers,
    el("p", { class: "note" }, visible(page.subtitle, 400)),
    el("ul", { class: "lines" }, ...meetings, ...notes),
  );
  const lead = "A dot is a measurement, the line the law. Between and beyond the dots the band says what can be said.";
  const sections = [
    section("picture", "Cost by size", lead, scalingPicture(page)),
    ...page.configurations.map((_, i) => lawSection(page, i)),
    section("points", "Measurements", "What was measured beside what the law says.", dataTable(page.points)),
  ].filter((each) => each !== null);
  const links = sections.map((each) =>
    el("a", { href: `#${each.id}` }, each.querySelector("h2")?.textContent ?? each.id),
  );
  const nav = el("nav", { class: "controls", "aria-label": "The page" }, el("div", { class: "places" }, ...links));
  place.replaceChildren(fills(0), header, nav, el("main", { id: "main" }, ...sections));
}

/** The data, if they are a scaling of this version. */
export function checkScaling(value: Partial<ScalePage>): ScalePage {
  if (value.version !== SCALING_VERSION) {
    const read = `The data in this page have version ${String(value.version)}; the page reads version ${SCALING_VERSION}.`;
    throw new Error(read);
  }
  return value as ScalePage;
}
