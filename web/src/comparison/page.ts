/** The comparison page: every arm against the first, one part of the page each. */
import { el, section } from "../dom";
import { fills } from "../palette";
import { DataTable } from "../table";
import { visible } from "../text";
import { pairSection } from "../timeline/pair_section";
import { bridgePicture, exactBridge, meanBridge } from "./bridge";
import { changesSection, factsPart, levelsOf } from "./changes";
import { choice } from "./choice";
import {
  COMPARISON_VERSION,
  type Comparison,
  type ComparisonPage,
  levelTitle,
  type Said,
  shortName,
  sides,
} from "./data";
import { movedSection } from "./relocated";
import { fine, signed, signedPercent, signedShare } from "./signed";
import { spreadSection } from "./spread";
import { meansSection } from "./statistics";
import { armNames, verdictHead, wordOf } from "./summary";
import { treeSection } from "./tree";

const BRIDGE_LEAD = "From A's total to B's: each step begins where the one before ended. Largest first.";

function bridgeSection(id: string, comparison: Comparison): HTMLElement {
  const place = el("div", {});
  const [a, b] = armNames(comparison);
  const names: [string, string] = [`A ${a}`, `B ${b}`];
  const label = (level: string): string => `Bridge from A's total to B's, by ${levelTitle(level).toLowerCase()}`;
  const draw = (name: string): void => {
    if (comparison.regime === "noisy") {
      const level = comparison.levels.find((each) => each.name === name);
      if (level) place.replaceChildren(bridgePicture(meanBridge(level), names, label(name)));
    } else {
      const level = comparison.levels[name];
      if (level) place.replaceChildren(bridgePicture(exactBridge(comparison, level), names, label(name)));
    }
  };
  const levels =
    comparison.regime === "noisy"
      ? comparison.levels.map((each) => each.name)
      : levelsOf(comparison).map(([name]) => name);
  const all = levels.map((name) => ({ value: name, title: levelTitle(name) }));
  const switched =
    all.length > 1
      ? el("div", { class: "toolbar" }, choice("The steps of the bridge", `${id}.level`, all, draw))
      : null;
  if (!switched && levels[0]) draw(levels[0]);
  const lead = comparison.regime === "noisy" ? `${BRIDGE_LEAD} On means.` : BRIDGE_LEAD;
  return section(id, "The bridge", lead, switched, place);
}

function parts(number: number, comparison: Comparison, said: Said): (HTMLElement | null)[] {
  const id = (name: string): string => (number === 0 ? name : `${name}-${number + 1}`);
  if (comparison.regime === "noisy") {
    return [
      spreadSection(id("spread"), comparison),
      comparison.levels.length > 0 ? bridgeSection(id("bridge"), comparison) : null,
      comparison.levels.length > 0 ? meansSection(id("changes"), comparison, said) : null,
    ];
  }
  if (comparison.equal) return [];
  const tree = treeSection(id("tree"), comparison);
  return [
    bridgeSection(id("bridge"), comparison),
    tree.element,
    movedSection(id("moved"), comparison, tree.show),
    changesSection(id("changes"), comparison),
    factsPart(id("facts"), comparison),
  ];
}

const PLACES: Record<string, string> = {
  spread: "How sure",
  bridge: "Bridge",
  tree: "Where",
  moved: "Moved",
  timeline: "Timeline",
  changes: "What changed",
  facts: "Facts",
};

function navigation(page: ComparisonPage, sections: HTMLElement[]): HTMLElement | null {
  const link = (id: string, title: string): HTMLElement => el("a", { href: `#${id}` }, title);
  const links =
    page.comparisons.length > 1
      ? page.comparisons.map((each, i) => link(`arm-${i + 1}`, visible(armNames(each)[1], 40)))
      : sections.map((each) => link(each.id, PLACES[each.id] ?? each.id));
  if (links.length === 0) return null;
  return el("nav", { class: "controls", "aria-label": "The page" }, el("div", { class: "places" }, ...links));
}

/** The change of the whole and its share, in figures that sort. */
function whole(comparison: Comparison): { a: number; b: number; change: number; text: string; share: string } {
  if (comparison.regime === "noisy") {
    const mean = (all: number[]): number => all.reduce((sum, ns) => sum + ns, 0) / Math.max(all.length, 1);
    const [a, b] = [mean(comparison.a_ns), mean(comparison.b_ns)];
    return { a, b, change: b - a, text: signed(Math.round(b - a)), share: signedPercent(comparison.percent) };
  }
  const { a, b, change } = comparison.totals;
  return {
    a: a?.ns ?? 0,
    b: b?.ns ?? 0,
    change: change.ns,
    text: signed(change.ns),
    share: signedShare(change.ns, a?.ns),
  };
}

/** Every arm in one line, where there are several. */
function summary(page: ComparisonPage): HTMLElement {
  const rows = page.comparisons.map((comparison, i) => ({ comparison, said: page.said[i] as Said, number: i + 1 }));
  type Line = (typeof rows)[number];
  const table = new DataTable<Line>({
    label: "Every arm against the first",
    rows,
    step: 100,
    columns: [
      {
        id: "arm",
        title: "Arm",
        value: ({ comparison }) => visible(armNames(comparison)[1]),
        cell: ({ comparison, number }) => el("a", { href: `#arm-${number}` }, visible(armNames(comparison)[1])),
        hint: ({ comparison }) => visible(sides(comparison)[1], 500),
      },
      {
        id: "total",
        title: "Total",
        number: true,
        value: (line) => whole(line.comparison).b,
        cell: (line) => fine(Math.round(whole(line.comparison).b)),
      },
      {
        id: "change",
        title: "Change",
        number: true,
        value: (line) => whole(line.comparison).change,
        cell: (line) => whole(line.comparison).text,
      },
      {
        id: "share",
        title: "of A",
        number: true,
        value: (line) => whole(line.comparison).change,
        cell: (line) => whole(line.comparison).share,
      },
      {
        id: "verdict",
        title: "Verdict",
        value: ({ said }) => said.sentence,
        cell: ({ said }) => el("span", {}, `${wordOf(said)[1]} ${visible(said.sentence, 300)}`),
      },
    ],
  });
  const first = page.comparisons[0];
  const lead = `Against ${visible(page.baseline, 300)}${first ? `, ${fine(Math.round(whole(first).a))}` : ""}.`;
  return section("arms", "Every arm against the first", lead, table.element);
}

/** Draws the comparison into the page. */
export function drawComparison(page: ComparisonPage, columns: Uint8Array, place: HTMLElement): void {
  const several = page.comparisons.length > 1;
  const brand = el(
    "p",
    { class: "brand" },
    el("span", { class: "sun", "aria-hidden": "true" }),
    "Firstlight comparison",
  );
  const articles = page.comparisons.map((comparison, i) => {
    const said = page.said[i] as Said;
    const sections = parts(i, comparison, said).filter((part) => part !== null);
    const head = verdictHead(comparison, said, several ? "h2" : "h1");
    return { head, sections };
  });
  const all = articles.flatMap(({ sections }) => sections);
  if (page.timelines) {
    const bridge = all.findIndex(({ id }) => id === "bridge");
    all.splice(bridge + 1, 0, pairSection(page.timelines, page.align ?? null, columns));
  }
  const first = page.comparisons[0];
  const [a, b] = first ? armNames(first) : ["", ""];
  document.title = `${visible(several ? `${page.comparisons.length} arms against ${shortName(page.baseline)}` : `${a} → ${b}`, 100)} – Firstlight`;
  const header = el("header", {}, brand);
  const main = el("main", { id: "main" });
  if (several) {
    header.append(el("h1", {}, visible(`${page.comparisons.length} arms against ${shortName(page.baseline)}`, 200)));
    main.append(summary(page));
    articles.forEach(({ head, sections }, i) => {
      main.append(el("article", { id: `arm-${i + 1}`, class: "arm-part" }, head, ...sections));
    });
  } else {
    header.append(...articles.map(({ head }) => head));
    if (page.reason !== undefined) header.append(uncompared(page, page.reason));
    main.append(...all);
  }
  place.replaceChildren(...[fills(0), header, navigation(page, all), main].filter((part) => part !== null));
}

/** The head of a page of two boots that cannot be compared: their timelines are all there is. */
function uncompared(page: ComparisonPage, reason: string): HTMLElement {
  const names = (page.timelines ?? []).map(({ name }) => name).join(" and ");
  return el(
    "div",
    {},
    el("h1", {}, visible(names, 200)),
    el("p", { class: "missing" }, `These boots are not compared: ${visible(reason, 500)}`),
  );
}

/** The data, if they are a comparison of this version. */
export function checkComparison(value: Partial<ComparisonPage>): ComparisonPage {
  if (value.version !== COMPARISON_VERSION) {
    const read = `The data in this page have version ${String(value.version)}; the page reads version ${COMPARISON_VERSION}.`;
    throw new Error(read);
  }
  return value as ComparisonPage;
}
