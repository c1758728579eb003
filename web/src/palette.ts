/** Colours that stay apart for colour-blind eyes (after Okabe and Ito), each with a pattern of its own. */
import { el, svg } from "./dom";

export type Pattern = "plain" | "rising" | "falling" | "dots" | "upright" | "level" | "crossed";

/** Kinds of the calling-context tree: what they are called, in which colour and pattern they are drawn. */
const KINDS: Record<string, { title: string; pattern: Pattern }> = {
  function: { title: "kernel function", pattern: "plain" },
  interrupt: { title: "interrupt", pattern: "rising" },
  exception: { title: "exception", pattern: "falling" },
  syscall: { title: "system call", pattern: "upright" },
  task: { title: "task", pattern: "plain" },
  firmware: { title: "firmware", pattern: "dots" },
  loader: { title: "boot loader", pattern: "upright" },
  decompressor: { title: "decompressor", pattern: "crossed" },
  unknown: { title: "kernel without symbol", pattern: "dots" },
  user: { title: "user mode", pattern: "level" },
  idle: { title: "idle", pattern: "rising" },
  group: { title: "group", pattern: "plain" },
  root: { title: "whole boot", pattern: "plain" },
  folded: { title: "smaller ones together", pattern: "dots" },
};

const PHASE_COLOURS = 8;
const PHASE_PATTERNS: Pattern[] = ["plain", "rising", "dots", "falling", "upright", "crossed", "level"];
const FUNCTION_TINTS = 4;

/** The hatching over what is not known. */
export const UNSURE = "M-2,2 L2,-2 M0,8 L8,0 M6,10 L10,6";
export const HIT = "var(--hit)";

export function kindTitle(kind: string): string {
  return Object.hasOwn(KINDS, kind) ? (KINDS[kind]?.title ?? kind) : kind;
}

/** Kinds of frames that a canvas draws, each with its variable of the style sheet and its pattern. */
export const FRAME_KINDS: [string, string, Pattern][] = Object.entries(KINDS)
  .filter(([kind]) => kind !== "function" && kind !== "root")
  .map(([kind, { pattern }]) => [kind, `kind-${kind}`, pattern]);

/** Which of the four close tints a function has. */
export function tintOf(name: string): number {
  let hash = 0;
  for (let i = 0; i < name.length && i < 64; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  return hash % FUNCTION_TINTS;
}

/** The fill of a frame. Functions get one of four close tints by their name, so that neighbours stay apart. */
export function kindFill(kind: string, name: string): string {
  if (kind === "function") return `var(--function-${tintOf(name)})`;
  return Object.hasOwn(KINDS, kind) ? `url(#kind-${kind})` : "var(--function-0)";
}

/**
 * The fill of a change: its sign as hue and pattern, and as strength how much of its width went one way; what is in one
 * boot only has a pattern of its own.
 */
export function changeFill(change: number, width: number, only: "a" | "b" | null): string {
  if (only !== null) return `url(#change-only-${only})`;
  const net = width > 0 ? change / width : 0;
  if (Math.abs(net) < 0.1) return "url(#change-mixed)";
  const strength = Math.abs(net) > 0.8 ? 2 : Math.abs(net) > 0.4 ? 1 : 0;
  return `var(--${net > 0 ? "slower" : "faster"}-${strength})`;
}

export function phaseFill(index: number): string {
  return `url(#phase-${index})`;
}

/** A small sample of a fill, for legends and tables. */
export function swatch(fill: string): SVGSVGElement {
  return svg(
    "svg",
    { class: "swatch", width: 14, height: 14, "aria-hidden": "true" },
    svg("rect", { width: 14, height: 14, rx: 3, fill }),
  );
}

function lines(pattern: Pattern): SVGElement[] {
  const stroke = { stroke: "var(--pattern)", "stroke-width": 1.2, fill: "none" };
  switch (pattern) {
    case "rising":
      return [svg("path", { ...stroke, d: "M-2,2 L2,-2 M0,8 L8,0 M6,10 L10,6" })];
    case "falling":
      return [svg("path", { ...stroke, d: "M-2,6 L2,10 M0,0 L8,8 M6,-2 L10,2" })];
    case "upright":
      return [svg("path", { ...stroke, d: "M4,0 L4,8" })];
    case "level":
      return [svg("path", { ...stroke, d: "M0,4 L8,4" })];
    case "crossed":
      return [svg("path", { ...stroke, d: "M0,8 L8,0 M0,0 L8,8" })];
    case "dots":
      return [
        svg("circle", { cx: 2, cy: 2, r: 1, fill: "var(--pattern)" }),
        svg("circle", { cx: 6, cy: 6, r: 1, fill: "var(--pattern)" }),
      ];
    default:
      return [];
  }
}

function pattern(id: string, colour: string, kind: Pattern): SVGPatternElement {
  const ground = svg("rect", { width: 8, height: 8, fill: colour });
  return svg("pattern", { id, width: 8, height: 8, patternUnits: "userSpaceOnUse" }, ground, ...lines(kind));
}

/** Every fill of the page, in one invisible drawing that the others refer to. */
export function fills(phases: number): HTMLElement {
  const defs = svg("defs");
  for (const [kind, { pattern: drawn }] of Object.entries(KINDS)) {
    defs.append(pattern(`kind-${kind}`, `var(--kind-${kind})`, drawn));
  }
  defs.append(pattern("change-only-a", "var(--faster-2)", "dots"));
  defs.append(pattern("change-only-b", "var(--slower-2)", "rising"));
  defs.append(pattern("change-mixed", "var(--mixed)", "crossed"));
  const hatching = svg("path", { d: UNSURE, stroke: "var(--ink)", "stroke-width": 2, "stroke-opacity": 0.5 });
  defs.append(svg("pattern", { id: "unsure", width: 8, height: 8, patternUnits: "userSpaceOnUse" }, hatching));
  for (let i = 0; i < phases; i++) {
    const drawn = PHASE_PATTERNS[(i + Math.floor(i / PHASE_COLOURS)) % PHASE_PATTERNS.length] ?? "plain";
    defs.append(pattern(`phase-${i}`, `var(--phase-${i % PHASE_COLOURS})`, drawn));
  }
  const drawing = svg("svg", { width: 0, height: 0, "aria-hidden": "true" }, defs);
  return el("div", { class: "fills" }, drawing);
}
