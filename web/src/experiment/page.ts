/** The page of an experiment: arms and their stages, or factors and what each of them did. */
import { type Bridge, bridgePicture } from "../comparison/bridge";
import { dataTable } from "../data_table";
import { el, section } from "../dom";
import { words } from "../format";
import { fills } from "../palette";
import { visible } from "../text";
import { changeBars, stackedBars } from "./bars";
import { EXPERIMENT_VERSION, type ExperimentPage, type Results } from "./data";

function table(page: ExperimentPage, name: string): HTMLElement | null {
  const table = Object.hasOwn(page.tables, name) ? page.tables[name] : undefined;
  return table ? dataTable(table) : null;
}

function stagesSection(page: ExperimentPage): HTMLElement | null {
  const { stages, cells } = page.results;
  if (!stages) return null;
  // A share of another stage is a part of that one already, and the last row is the whole.
  const rows = stages.rows.slice(0, -1).filter((row) => row.share_of === null);
  const stacks = stages.arms.map((name, i) => ({
    name,
    total: cells.find((cell) => cell.name === name)?.time_ns ?? 0,
    parts: rows.map((row) => row.times_ns[i] ?? null),
  }));
  // Stages that a plan names may overlap; then they are not parts of a whole.
  const fit = stacks.every(({ total, parts }) => parts.reduce((sum: number, ns) => sum + (ns ?? 0), 0) <= total);
  const names = rows.map((row) => words(row.stage));
  const drawn = fit && rows.length > 0 ? stackedBars(stacks, names, "Stages of each arm") : null;
  const lead = "Each from its first mark to its last in stages, and from each to the next what changed.";
  const figures = table(page, "stages");
  // Cells of factors have no order in which one would follow the other.
  const folded = page.results.factors.length > 0 && figures !== null;
  const shown = folded ? el("details", {}, el("summary", {}, "The stages from cell to cell"), figures) : figures;
  return section("stages", "Stages", lead, drawn, shown);
}

function cellsSection(page: ExperimentPage): HTMLElement {
  const { cells, factors } = page.results;
  const changes = cells.slice(1).map((cell) => ({
    name: cell.name,
    value: cell.change_ns,
    missing: cell.why_not === null ? "–" : "does not count",
  }));
  const what = factors.length > 0 ? "Cells" : "Arms";
  const first = visible(cells[0]?.name ?? "", 80);
  const drawn = changes.length > 0 ? changeBars(changes, `Change of each against ${first}`) : null;
  return section(
    "cells",
    what,
    `What each took, and the change against the first, ${first}.`,
    drawn,
    table(page, "cells"),
  );
}

function effectsSection(page: ExperimentPage): HTMLElement | null {
  const { effects } = page.results;
  if (effects.length === 0) return null;
  const changes = effects.map(({ factor, level, effect_ns, least_ns, most_ns, nothing }) => ({
    name: `${factor}=${level}${nothing === null ? "" : " (nothing)"}`,
    value: effect_ns,
    range: least_ns === null || most_ns === null ? null : ([least_ns, most_ns] as [number, number]),
  }));
  const lead =
    "What each factor did, over every combination of the others. Whiskers: the least and the most; where they lie apart, factors interact.";
  return section("effects", "Main effects", lead, changeBars(changes, "Main effects"), table(page, "effects"));
}

/** From all off to all on, each factor's share a step: they add up exactly. */
export function sharesBridge(results: Results): Bridge | null {
  const { total_ns, factors } = results.shares;
  const a = results.cells[0]?.time_ns;
  if (total_ns === null || a === null || a === undefined) return null;
  const steps = factors.map(({ factor, level, share_ns }) => ({
    name: `${factor}=${level}`,
    ns: share_ns,
    scaled: share_ns,
  }));
  return { a, b: a + total_ns, scale: 1, whole: Math.round(total_ns), means: "all on less all off", steps };
}

function sharesSection(page: ExperimentPage): HTMLElement | null {
  const bridge = sharesBridge(page.results);
  if (!bridge) return null;
  const lead = "Each factor's share of the whole change, averaged over every order in which they can be switched on.";
  const drawn = bridgePicture(bridge, ["all off", "all on"], "Bridge from all off to all on, by factor");
  return section("shares", "Shares", lead, drawn, table(page, "shares"));
}

function quantilesSection(page: ExperimentPage): HTMLElement | null {
  const found = table(page, "quantiles");
  const lead = "Quantiles of the boots of each, and the share of slow ones, against the first.";
  return found && section("quantiles", "Quantiles", lead, found);
}

function interactionsSection(page: ExperimentPage): HTMLElement | null {
  const found = table(page, "interactions");
  return (
    found && section("interactions", "Interactions", "What two change together beyond what each does alone.", found)
  );
}

/** Draws the experiment into the page. */
export function drawExperiment(page: ExperimentPage, place: HTMLElement): void {
  const [title = "", sure = ""] = page.heading;
  const { exact, factors, stages } = page.results;
  document.title = `${visible(page.results.title ?? page.results.experiment, 80)} – Firstlight`;
  const kind = exact.canary === false ? "bad" : exact.varies || exact.canary === null ? "unsure" : "good";
  const header = el(
    "header",
    {},
    el("p", { class: "brand" }, el("span", { class: "sun", "aria-hidden": "true" }), "Firstlight experiment"),
    el("h1", {}, visible(title, 300)),
    el("p", { class: `answer ${kind}` }, visible(sure, 300)),
    el("ul", { class: "lines" }, ...page.said.map((text) => el("li", { class: "flagged" }, visible(text, 1000)))),
  );
  const sections =
    factors.length > 0
      ? [
          effectsSection(page),
          sharesSection(page),
          interactionsSection(page),
          cellsSection(page),
          quantilesSection(page),
          stagesSection(page),
        ]
      : [stagesSection(page), cellsSection(page), quantilesSection(page)];
  const shown = sections.filter((each) => each !== null);
  const links = shown.map((each) => el("a", { href: `#${each.id}` }, each.querySelector("h2")?.textContent ?? each.id));
  const nav = el("nav", { class: "controls", "aria-label": "The page" }, el("div", { class: "places" }, ...links));
  place.replaceChildren(fills(stages?.rows.length ?? 0), header, nav, el("main", { id: "main" }, ...shown));
}

/** The data, if they are an experiment of this version. */
export function checkExperiment(value: Partial<ExperimentPage>): ExperimentPage {
  if (value.version !== EXPERIMENT_VERSION) {
    const read = `The data in this page have version ${String(value.version)}; the page reads version ${EXPERIMENT_VERSION}.`;
    throw new Error(read);
  }
  return value as ExperimentPage;
}
