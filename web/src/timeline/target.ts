/** What a timeline is drawn on: a canvas, or elements of SVG. Both know the same few shapes. */
import { svg } from "../dom";
import { UNSURE } from "../palette";
import type { Palette } from "./palette";

export interface Target {
  bar(x: number, y: number, width: number, height: number, look: number, strength: number): void;
  rect(x: number, y: number, width: number, height: number, colour: string): void;
  frame(x: number, y: number, width: number, height: number, colour: string): void;
  /** Hatching over bars whose edge is not known. */
  unsure(x: number, y: number, width: number, height: number): void;
  text(x: number, y: number, text: string, colour: string): void;
  widthOf(text: string): number;
}

/** The hatching over what is not known: wide, in the colour of texts, which stay readable below it. */
const HATCHED = 0.5;
/** Bars narrower than this have no pattern. */
const PATTERNED = 5;
export const FONT = "11px system-ui, 'DejaVu Sans', sans-serif";

export class CanvasTarget implements Target {
  readonly context: CanvasRenderingContext2D;
  readonly #palette: Palette;
  readonly #patterns = new Map<number, CanvasPattern | null>();
  #hatching: CanvasPattern | null | undefined;
  readonly #widths = new Map<string, number>();

  constructor(context: CanvasRenderingContext2D, palette: Palette) {
    this.context = context;
    this.#palette = palette;
  }

  bar(x: number, y: number, width: number, height: number, look: number, strength: number): void {
    const g = this.context;
    g.globalAlpha = strength;
    g.fillStyle = this.#palette.bars[look] ?? this.#palette.ink;
    g.fillRect(x, y, width, height);
    g.globalAlpha = 1;
    if (width < PATTERNED) return;
    const pattern = this.#pattern(look);
    if (!pattern) return;
    g.fillStyle = pattern;
    g.fillRect(x, y, width, height);
  }

  rect(x: number, y: number, width: number, height: number, colour: string): void {
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
  }

  frame(x: number, y: number, width: number, height: number, colour: string): void {
    this.context.strokeStyle = colour;
    this.context.lineWidth = 2;
    this.context.strokeRect(x, y, width, height);
  }

  unsure(x: number, y: number, width: number, height: number): void {
    this.#hatching ??= this.#tile(UNSURE, this.#palette.ink, 2);
    this.context.globalAlpha = HATCHED;
    this.context.fillStyle = this.#hatching ?? this.#palette.ink;
    this.context.fillRect(x, y, width, height);
    this.context.globalAlpha = 1;
  }

  text(x: number, y: number, text: string, colour: string): void {
    this.context.fillStyle = colour;
    this.context.fillText(text, x, y);
  }

  widthOf(text: string): number {
    let width = this.#widths.get(text);
    if (width === undefined) {
      this.context.font = FONT;
      width = this.context.measureText(text).width;
      this.#widths.set(text, width);
    }
    return width;
  }

  #pattern(look: number): CanvasPattern | null {
    const known = this.#patterns.get(look);
    if (known !== undefined) return known;
    const path = this.#palette.patterns[look];
    const made = path ? this.#tile(path, this.#palette.pattern, 1.2) : null;
    this.#patterns.set(look, made);
    return made;
  }

  #tile(path: string, colour: string, width: number): CanvasPattern | null {
    const tile = document.createElement("canvas");
    tile.width = 8;
    tile.height = 8;
    const g = tile.getContext("2d");
    if (!g) return null;
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.stroke(new Path2D(path));
    return this.context.createPattern(tile, "repeat");
  }
}

/** Draws elements, which a page can show and whose text is a file. */
export class SvgTarget implements Target {
  readonly #parts: SVGElement[] = [svg("g", {})];
  readonly #palette: Palette;
  readonly #width: (text: string) => number;
  readonly #ids: string;

  /** `ids` comes before the names of patterns, which are one for all drawings of a page. */
  constructor(palette: Palette, width: (text: string) => number, ids = "") {
    this.#ids = ids;
    this.#palette = palette;
    this.#width = width;
  }

  /** What is drawn from here on has its top at this height. */
  moveTo(y: number): void {
    this.#parts.push(svg("g", { transform: `translate(0,${y})` }));
  }

  bar(x: number, y: number, width: number, height: number, look: number, strength: number): void {
    this.#rect(x, y, width, height, {
      fill: this.#palette.bars[look] ?? "",
      "fill-opacity": strength < 1 ? strength.toFixed(2) : undefined,
    });
    if (width >= PATTERNED && this.#palette.patterns[look])
      this.#rect(x, y, width, height, { fill: `url(#${this.#ids}p${look})` });
  }

  rect(x: number, y: number, width: number, height: number, colour: string): void {
    this.#rect(x, y, width, height, { fill: colour });
  }

  frame(x: number, y: number, width: number, height: number, colour: string): void {
    this.#rect(x, y, width, height, { fill: "none", stroke: colour, "stroke-width": 2 });
  }

  unsure(x: number, y: number, width: number, height: number): void {
    this.#rect(x, y, width, height, { fill: `url(#${this.#ids}unsure)`, "fill-opacity": HATCHED });
  }

  text(x: number, y: number, text: string, colour: string): void {
    this.#parts.at(-1)?.append(svg("text", { x: x.toFixed(1), y: y.toFixed(1), fill: colour }, text));
  }

  widthOf(text: string): number {
    return this.#width(text);
  }

  /** The drawing as an element. */
  drawn(width: number, height: number, title: string): SVGSVGElement {
    const { patterns, pattern, ink } = this.#palette;
    const tile = (name: string, path: string, stroke: string, wide: number): SVGPatternElement =>
      svg(
        "pattern",
        { id: `${this.#ids}${name}`, width: 8, height: 8, patternUnits: "userSpaceOnUse" },
        svg("path", { d: path, fill: "none", stroke, "stroke-width": wide }),
      );
    const tiles = patterns.flatMap((path, look) => (path ? [tile(`p${look}`, path, pattern, 1.2)] : []));
    return svg(
      "svg",
      {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "font-family": "system-ui, sans-serif",
        "font-size": 11,
      },
      svg("title", {}, title),
      svg("defs", {}, ...tiles, tile("unsure", UNSURE, ink, 2)),
      ...this.#parts,
    );
  }

  #rect(x: number, y: number, width: number, height: number, look: Record<string, string | number | undefined>): void {
    const [wide, high] = [Math.max(0, width).toFixed(1), Math.max(0, height).toFixed(1)];
    this.#parts.at(-1)?.append(svg("rect", { x: x.toFixed(1), y: y.toFixed(1), width: wide, height: high, ...look }));
  }
}
