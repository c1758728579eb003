/** What only moved from one callee to another, and what may only have a new name. */
import { el, section } from "../dom";
import { exact } from "../format";
import { visible } from "../text";
import type { ExactComparison, Moved } from "./data";
import { fine, signed } from "./signed";

const SHOWN = 12;
const NAMED = 3;

function names(parts: [string, number][]): Node[] {
  const shown = parts
    .slice(0, NAMED)
    .flatMap(([name, ns], i): (Node | string)[] => [
      i > 0 ? ", " : "",
      el("span", { class: "code" }, visible(name)),
      ` ${signed(ns)}`,
    ]);
  if (parts.length > NAMED) shown.push(` and ${exact(parts.length - NAMED)} more`);
  return shown.map((part) => (typeof part === "string" ? document.createTextNode(part) : part));
}

function line(move: Moved, show: (node: number) => void): HTMLElement {
  const look = el("button", { type: "button", class: "link code" }, visible(move.caller));
  look.addEventListener("click", () => show(move.node));
  return el(
    "li",
    {},
    el("strong", {}, fine(move.moved_ns)),
    " under ",
    look,
    ": from ",
    ...names(move.lost),
    " to ",
    ...names(move.gained),
    `; net ${signed(move.net_ns)}`,
  );
}

export function movedSection(
  id: string,
  comparison: ExactComparison,
  show: (node: number) => void,
): HTMLElement | null {
  const { moved, renamed } = comparison;
  if (moved.length === 0 && renamed.length === 0) return null;
  const more = moved.slice(SHOWN);
  const list = (moves: Moved[]): HTMLElement => el("ul", { class: "told" }, ...moves.map((move) => line(move, show)));
  const parts: HTMLElement[] =
    moved.length > 0 ? [list(moved.slice(0, SHOWN))] : [el("p", { class: "note" }, "No cost moved.")];
  if (more.length > 0) {
    parts.push(el("details", {}, el("summary", {}, `${exact(more.length)} smaller moves`), list(more)));
  }
  if (renamed.length > 0) {
    const pairs = renamed.map((pair) =>
      el(
        "li",
        {},
        el("span", { class: "code" }, visible(pair.old)),
        " → ",
        el("span", { class: "code" }, visible(pair.new)),
        `: ${visible(pair.why)} (${fine(pair.total_a_ns)}, ${fine(pair.total_b_ns)})`,
      ),
    );
    const title = `Renamed? ${exact(renamed.length)} suggested, never matched`;
    parts.push(el("details", {}, el("summary", {}, title), el("ul", { class: "told" }, ...pairs)));
  }
  const lead =
    "Opposite changes under one caller that cancel to less than a quarter: inlining, another path, a callee under another name.";
  return section(id, "Moved, not changed", lead, ...parts);
}
