/** Who is compared, and the answer in one sentence, with what it has to be read with. */
import { el } from "../dom";
import { exact, words } from "../format";
import { typeset, visible } from "../text";
import {
  type Comparison,
  type ExactComparison,
  type NoisyComparison,
  type Row,
  type Said,
  shortName,
  sides,
} from "./data";
import { fine, signed, signedCount, signedPercent, signedShare } from "./signed";

const WORDS: Record<string, [string, string]> = {
  slower: ["bad", "▲"],
  regression: ["bad", "▲"],
  faster: ["good", "▼"],
  improvement: ["good", "▼"],
  equal: ["plain", "="],
  same: ["plain", "="],
  equivalent: ["plain", "≈"],
  inconclusive: ["unsure", "?"],
};

/** Lines of figures; the others quote names and arguments. */
const FIGURES = new Set(["caused", "moved", "accident"]);

/** The colour class and the sign of a verdict. */
export function wordOf(said: Said): [string, string] {
  const known = Object.hasOwn(WORDS, said.word) ? WORDS[said.word] : undefined;
  return said.settled && known ? known : ["unsure", "?"];
}

/** What the arms are called in the page: their own names, and paths where these do not tell them apart. */
export function armNames(comparison: Comparison): [string, string] {
  const [a, b] = sides(comparison);
  const short: [string, string] = [shortName(a), shortName(b)];
  return short[0] === short[1] ? [a, b] : short;
}

function card(title: string, value: string, lines: string[], kind = ""): HTMLElement {
  return el(
    "div",
    { class: `figure ${kind}` },
    el("dt", {}, title),
    el("dd", { class: "value" }, value),
    ...lines.map((line, i) => el("dd", { class: i === 0 ? "exact" : "note" }, line)),
  );
}

function exactFigures(comparison: ExactComparison, said: Said): HTMLElement {
  const row: Row = comparison.totals;
  const figure = (id: "ns" | "instructions" | "idle_ns"): HTMLElement | null => {
    const [a, b, change] = [row.a?.[id] ?? null, row.b?.[id] ?? null, row.change[id]];
    if (a === null || b === null || change === null) return null;
    const clock = `${said.clock.slice(0, 1).toUpperCase()}${said.clock.slice(1)}`;
    const title = id === "ns" ? clock : id === "idle_ns" ? "Idle" : "Instructions";
    const unit = id === "instructions" ? "" : " ns";
    const kind = change > 0 ? "up" : change < 0 ? "down" : "";
    const value = id === "instructions" ? signedCount(change) : signed(change);
    const both = id === "instructions" ? `A ${exact(a)} → B ${exact(b)}` : `A ${fine(a)} → B ${fine(b)}`;
    const every = `${signedCount(change)}${unit}, ${signedShare(change, a)} of A`;
    return card(title, value, [every, both], id === "ns" ? kind : "");
  };
  const cards = [figure("ns"), figure("instructions"), figure("idle_ns")].filter((each) => each !== null);
  return el("dl", { class: "figures" }, ...cards);
}

function noisyFigures(comparison: NoisyComparison): HTMLElement {
  const { percent, interval_percent: interval, a_ns, b_ns } = comparison;
  const range =
    interval === null ? "no interval: too few boots" : `${signedPercent(interval[0])} to ${signedPercent(interval[1])}`;
  const mean = (all: number[]): number => all.reduce((sum, ns) => sum + ns, 0) / Math.max(all.length, 1);
  return el(
    "dl",
    { class: "figures" },
    card("B against A", signedPercent(percent), [
      range,
      "robust estimate, and the interval that holds the true change",
    ]),
    card("A, mean", fine(Math.round(mean(a_ns))), [`${exact(a_ns.length)} boots`]),
    card("B, mean", fine(Math.round(mean(b_ns))), [`${exact(b_ns.length)} boots`]),
  );
}

/** The lines below the verdict: what is flagged first, then inputs and reasons. */
function lines(said: Said): HTMLElement {
  const items = said.lines.map(([sort, name, text]) =>
    el(
      "li",
      { class: sort === "flag" ? "flagged" : "" },
      el("span", { class: "of" }, sort === "flag" ? "⚠ " : "", visible(words(name), 60)),
      el("span", {}, FIGURES.has(name) ? typeset(visible(text, 2000)) : visible(text, 2000)),
    ),
  );
  return el("ul", { class: "lines" }, ...items);
}

/** The head of one comparison. */
export function verdictHead(comparison: Comparison, said: Said, level: "h1" | "h2"): HTMLElement {
  const [a, b] = armNames(comparison);
  const [full, other] = sides(comparison);
  const [kind, sign] = wordOf(said);
  const marks =
    comparison.regime === "noisy"
      ? [comparison.first, comparison.last]
      : [comparison.a.from.mark, comparison.a.to.mark];
  const arm = (letter: string, name: string, path: string): HTMLElement =>
    el(
      "span",
      { class: "arm", title: visible(path, 500) },
      el("span", { class: "letter" }, letter),
      visible(name, 120),
    );
  return el(
    "div",
    { class: "verdict-head" },
    el(level, {}, arm("A", a, full), el("span", { class: "to", "aria-label": "to" }, "→"), arm("B", b, other)),
    el(
      "p",
      { class: `answer ${kind}` },
      el("span", { class: "sign", "aria-hidden": "true" }, sign),
      el(
        "span",
        {},
        el("strong", {}, typeset(visible(said.sentence, 500))),
        " ",
        el("span", { class: "badge plain" }, visible(said.word, 30)),
      ),
    ),
    el("p", { class: "note" }, visible(`${said.regime}; ${said.clock}, ${marks[0]} to ${marks[1]}`, 600)),
    comparison.regime === "noisy" ? noisyFigures(comparison) : exactFigures(comparison, said),
    lines(said),
  );
}
