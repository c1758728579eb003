/** The colours of a timeline, from the style sheet, and the patterns beside them. */
import type { Pattern } from "../palette";

export interface Palette {
  /** By look. */
  bars: string[];
  /** By look: what is drawn over the colour in a tile of 8 by 8, or nothing. */
  patterns: string[];
  pattern: string;
  ink: string;
  soft: string;
  line: string;
  sheet: string;
  faint: string;
  onBar: string;
  critical: string;
  hit: string;
  selection: string;
  edge: string;
  console: string;
  slower: string;
  faster: string;
}

const RISING = "M-2,2 L2,-2 M0,8 L8,0 M6,10 L10,6";
const FALLING = "M-2,6 L2,10 M0,0 L8,8 M6,-2 L10,2";
const UPRIGHT = "M4,0 L4,8";
const LEVEL = "M0,4 L8,4";
const DOTS = "M1,2 h2 M5,6 h2";
const CROSSED = "M0,8 L8,0 M0,0 L8,8";
/** What is drawn in a tile of 8 by 8 for each pattern of the page. */
export const STROKES: Record<Pattern, string> = {
  plain: "",
  rising: RISING,
  falling: FALLING,
  dots: DOTS,
  upright: UPRIGHT,
  level: LEVEL,
  crossed: CROSSED,
};
/** By look: the series of phases and levels, then life, work, deferred, waiting, running, call, other, artefact. */
const PATTERNS = [
  "",
  RISING,
  DOTS,
  FALLING,
  UPRIGHT,
  CROSSED,
  LEVEL,
  "",
  "",
  "",
  CROSSED,
  RISING,
  "",
  UPRIGHT,
  DOTS,
  FALLING,
];
const BARS = ["life", "work", "deferred", "waiting", "running", "call", "other", "artefact"];

/** The colour of a name of the style sheet. */
export type Colour = (name: string) => string;

/** The colours as the style of an element has them now. */
export function colourIn(element: Element): Colour {
  const style = getComputedStyle(element);
  return (name) => style.getPropertyValue(`--${name}`).trim() || "#888";
}

export function paletteOf(colour: Colour): Palette {
  return {
    bars: [...Array.from({ length: 8 }, (_, i) => colour(`phase-${i}`)), ...BARS.map((name) => colour(`bar-${name}`))],
    patterns: PATTERNS,
    pattern: colour("pattern"),
    ink: colour("ink"),
    soft: colour("soft"),
    line: colour("line"),
    sheet: colour("sheet"),
    faint: colour("faint"),
    onBar: colour("frame-text"),
    critical: colour("critical"),
    hit: colour("hit"),
    selection: colour("selection"),
    edge: colour("selection-edge"),
    console: colour("accent"),
    slower: colour("slower-2"),
    faster: colour("faster-2"),
  };
}
