/** What a timeline is drawn on: a canvas, or the text of an SVG file. Both know the same few shapes. */
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

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

export class SvgTarget implements Target {
  readonly #parts: string[] = ["<g>"];
  readonly #palette: Palette;
  readonly #width: (text: string) => number;

  constructor(palette: Palette, width: (text: string) => number) {
    this.#palette = palette;
    this.#width = width;
  }

  /** What is drawn from here on has its top at this height. */
  moveTo(y: number): void {
    this.#parts.push(`</g><g transform="translate(0,${y})">`);
  }

  bar(x: number, y: number, width: number, height: number, look: number, strength: number): void {
    const opacity = strength < 1 ? ` fill-opacity="${strength.toFixed(2)}"` : "";
    const place = `x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(0, width).toFixed(1)}" height="${height}"`;
    this.#parts.push(`<rect ${place} fill="${escaped(this.#palette.bars[look] ?? "")}"${opacity}/>`);
    if (width >= PATTERNED && this.#palette.patterns[look]) this.#parts.push(`<rect ${place} fill="url(#p${look})"/>`);
  }

  rect(x: number, y: number, width: number, height: number, colour: string): void {
    const place = `x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(0, width).toFixed(1)}"`;
    this.#parts.push(`<rect ${place} height="${Math.max(0, height).toFixed(1)}" fill="${escaped(colour)}"/>`);
  }

  frame(x: number, y: number, width: number, height: number, colour: string): void {
    const place = `x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(0, width).toFixed(1)}" height="${height}"`;
    this.#parts.push(`<rect ${place} fill="none" stroke="${escaped(colour)}" stroke-width="2"/>`);
  }

  unsure(x: number, y: number, width: number, height: number): void {
    const place = `x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(0, width).toFixed(1)}" height="${height}"`;
    this.#parts.push(`<rect ${place} fill="url(#unsure)" fill-opacity="${HATCHED}"/>`);
  }

  text(x: number, y: number, text: string, colour: string): void {
    const place = `x="${x.toFixed(1)}" y="${y.toFixed(1)}"`;
    this.#parts.push(`<text ${place} fill="${escaped(colour)}">${escaped(text)}</text>`);
  }

  widthOf(text: string): number {
    return this.#width(text);
  }

  file(width: number, height: number, title: string): string {
    const patterns = this.#palette.patterns
      .map((path, look) =>
        path
          ? `<pattern id="p${look}" width="8" height="8" patternUnits="userSpaceOnUse"><path d="${path}" ` +
            `fill="none" stroke="${escaped(this.#palette.pattern)}" stroke-width="1.2"/></pattern>`
          : "",
      )
      .join("");
    const unsure =
      `<pattern id="unsure" width="8" height="8" patternUnits="userSpaceOnUse"><path d="${UNSURE}" ` +
      `fill="none" stroke="${escaped(this.#palette.ink)}" stroke-width="2"/></pattern>`;
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
      `role="img" font-family="system-ui, sans-serif" font-size="11"><title>${escaped(title)}</title>` +
      `<defs>${patterns}${unsure}</defs>${this.#parts.join("")}</g></svg>\n`
    );
  }
}
