/** The timeline on its canvases: what is shown, what is chosen, and the drawing when something changed. */
import { scaleLinear } from "d3-scale";
import { el } from "../dom";
import type { Spot } from "./answers";
import type { Log } from "./console_log";
import type { Timeline, Track } from "./data";
import type { Finding, Found } from "./find";
import { Heads } from "./heads";
import { foldedAtFirst, type Head, type Layout, layOut, type Row } from "./layout";
import { type Hits, type Picked, paint, type Scene } from "./paint";
import { type Colour, colourIn, type Palette, paletteOf } from "./palette";
import { type Marks, OVERVIEW, paintOverview, paintRuler, paintWindow, rulerHeight } from "./strips";
import { CanvasTarget, FONT } from "./target";
import { View } from "./view";

type Listener = () => void;
const NARROW = 560;

export class Chart {
  timeline: Timeline;
  readonly view: View;
  readonly element: HTMLElement;
  readonly canvas = el("canvas", { class: "tl-canvas", tabindex: 0, role: "application" });
  readonly ruler = el("canvas", { class: "tl-ruler", "aria-hidden": "true" });
  readonly overview = el("canvas", { class: "tl-overview", "aria-hidden": "true" });
  readonly pane = el("div", { class: "tl-pane" });
  readonly live = el("p", { class: "unseen", role: "status", "aria-live": "polite" });
  readonly folded: Set<string>;
  readonly marks: Marks;
  logs: Log[];
  selection: [number, number] | null = null;
  instant: number | null = null;
  hover: number | null = null;
  picked: Picked | null = null;
  finding: Finding | null = null;
  onlyFound = false;
  layout: Layout;
  /** How many frames were drawn, and how long each took: for the bench. */
  readonly drawn: number[] = [];
  readonly #heads: Heads;
  readonly #space = el("div", { class: "tl-space" });
  readonly #listeners: Listener[] = [];
  readonly colours: (colour: Colour) => Palette;
  #palette: Palette | null = null;
  #image: HTMLCanvasElement | null = null;
  #wanted = false;
  #height = 0;
  #only: Set<Track> | null = null;
  /** Where to scroll to as soon as the chart is shown. */
  #scroll: { top: number | null } | null = null;

  /** `colours` says which colours the looks of bars have; those of the timeline if it is not given. */
  constructor(timeline: Timeline, marks: Marks, logs: Log[], colours = paletteOf) {
    this.colours = colours;
    this.timeline = timeline;
    this.marks = marks;
    this.logs = logs;
    this.view = new View(timeline.first, timeline.last);
    this.folded = foldedAtFirst(timeline.tracks);
    this.layout = layOut(timeline.tracks, this.folded, () => true);
    this.#heads = new Heads((head) => this.fold(head));
    this.canvas.setAttribute(
      "aria-label",
      "Timeline. Left and right go to the previous and next bar, up and down to other tracks, plus and minus zoom, " +
        "m selects the time of a bar, f fits it, 0 shows everything, question mark lists all keys.",
    );
    this.#space.append(this.#heads.element);
    this.pane.append(this.#space, this.canvas);
    this.element = el("div", { class: "tl-frame" }, this.overview, this.ruler, this.pane);
    this.pane.addEventListener("scroll", () => this.redraw(), { passive: true });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
    matchMedia("print").addEventListener("change", () => {
      this.#palette = null;
      this.#image = null;
      this.draw();
    });
    new ResizeObserver(() => requestAnimationFrame(() => this.#resize())).observe(this.element);
  }

  /** Called after every change of what is chosen or shown. */
  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
    this.redraw();
  }

  redraw(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    requestAnimationFrame(() => {
      this.#wanted = false;
      this.draw();
    });
  }

  recolour(): void {
    this.#palette = null;
    this.#image = null;
    this.redraw();
  }

  get palette(): Palette {
    this.#palette ??= this.colours(colourIn(this.element));
    return this.#palette;
  }

  /** Where the labels of the tracks end. */
  get gutter(): number {
    return this.view.width < NARROW ? 104 : 210;
  }

  show(from: number, to: number): void {
    this.view.show(from, to);
    this.changed();
  }

  /** Shows an interval with some space around it. */
  fit(from: number, to: number): void {
    const around = Math.max((to - from) * 0.05, 100);
    this.show(from - around, to + around);
  }

  fold(head: Head): void {
    if (this.folded.has(head.key)) this.folded.delete(head.key);
    else this.folded.add(head.key);
    this.relayout();
    this.changed();
  }

  /** Whether a track is among those that the reader wants to see. */
  shows(track: Track): boolean {
    return !this.#only || this.#only.has(track);
  }

  relayout(): void {
    this.#only = this.onlyFound && this.finding ? new Set(this.finding.found.map(({ track }) => track)) : null;
    this.layout = layOut(this.timeline.tracks, this.folded, (track) => this.shows(track));
    this.#heads.draw(this.layout);
    this.#space.style.height = `${this.layout.height}px`;
    this.#resize(true);
  }

  /** Shows another timeline with the same tracks: of two boots, at another alignment. */
  replace(timeline: Timeline, logs: Log[]): void {
    this.timeline = timeline;
    this.logs = logs;
    this.view.first = timeline.first;
    this.view.last = timeline.last;
    this.view.show(this.view.from, this.view.to);
    this.picked = null;
    this.finding = null;
    this.#image = null;
    this.relayout();
    this.changed();
  }

  select(from: number, to: number): void {
    this.selection = from <= to ? [from, to] : [to, from];
    this.changed();
  }

  clear(): void {
    this.selection = null;
    this.picked = null;
    this.instant = null;
    this.changed();
  }

  pick(spot: Spot | Found, reveal = false): void {
    const row = this.rowOf(spot);
    if (!row) return;
    this.picked = { row, i: spot.i };
    if (reveal) this.reveal();
    this.changed();
  }

  /** The row of a bar; what it lies in is unfolded first. */
  rowOf(spot: Spot | Found): Row | null {
    const find = (): Row | undefined => this.layout.rows.find((row) => row.lane === spot.lane);
    const row = find();
    if (row && !row.folded) return row;
    const index = this.timeline.tracks.indexOf(spot.track);
    this.folded.delete(`g:${spot.track.group}`);
    this.folded.delete(`t:${index}`);
    if (spot.track.parent >= 0) this.folded.delete(`t:${spot.track.parent}`);
    this.relayout();
    return find() ?? null;
  }

  /** Scrolls and moves so that the picked bar is seen. */
  reveal(): void {
    if (!this.picked) return;
    const { row, i } = this.picked;
    const [from, to] = [row.lane.from(i), row.lane.to(i)];
    const { view } = this;
    if (to < view.from || from > view.to || to - from > view.length) {
      const length = Math.max(view.length, (to - from) * 1.2);
      const middle = (from + to) / 2;
      view.show(middle - length / 2, middle + length / 2);
    }
    this.scroll(null);
  }

  /** Scrolls the tracks to a place in pixels; without one, no further than to see the picked bar. */
  scroll(top: number | null): void {
    this.#scroll = { top };
    this.#scrolled();
  }

  /** Scrolls where it was asked to, unless the chart is not shown yet. */
  #scrolled(): void {
    const { pane, picked } = this;
    const height = pane.clientHeight;
    if (!this.#scroll || height === 0) return;
    const wanted = this.#scroll.top;
    this.#scroll = null;
    if (wanted !== null) pane.scrollTop = wanted;
    else if (picked) {
      const { y, height: own } = picked.row;
      if (y < pane.scrollTop || y + own > pane.scrollTop + height) pane.scrollTop = Math.max(0, y - height / 2);
    }
  }

  /** The bar at a place of the canvas. */
  at(x: number, y: number): Picked | null {
    const time = this.view.time(x);
    let found: Picked | null = null;
    for (const row of this.layout.rows) {
      if (row.folded || y < row.y || y > row.y + row.height) continue;
      const i = row.lane.after(time - 2 * this.view.pixel);
      if (i < row.lane.size && row.lane.from(i) <= time + 2 * this.view.pixel) {
        const exact = row.lane.at(time);
        found = { row, i: exact >= 0 ? exact : i };
      }
    }
    return found;
  }

  #resize(force = false): void {
    const width = this.element.clientWidth;
    const height = Math.min(this.layout.height, Math.max(240, Math.round(innerHeight * 0.62)));
    if (width === 0) return;
    if (!force && width === this.view.width && height === this.#height) {
      this.#scrolled();
      return;
    }
    if (width !== this.view.width) this.#image = null;
    this.view.width = width;
    this.view.gutter = this.gutter;
    this.#height = height;
    this.element.style.setProperty("--gutter", `${this.view.gutter}px`);
    this.pane.style.height = `${height}px`;
    this.#scrolled();
    const ratio = devicePixelRatio || 1;
    const size = (canvas: HTMLCanvasElement, high: number): void => {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(high * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${high}px`;
      canvas.getContext("2d")?.setTransform(ratio, 0, 0, ratio, 0, 0);
    };
    size(this.canvas, height);
    size(this.ruler, rulerHeight(this.logs));
    size(this.overview, OVERVIEW);
    this.#image = null;
    this.draw();
  }

  scene(): Scene {
    const { view } = this;
    const hits: Hits | null = this.finding?.hits ?? null;
    const scale = scaleLinear().domain([view.from, view.to]).range([view.gutter, view.width]);
    return {
      layout: this.layout,
      view,
      names: this.timeline.names,
      palette: this.palette,
      ticks: scale.ticks(Math.max(2, view.room / 110)),
      selection: this.selection,
      instant: this.hover ?? this.instant,
      hits,
      picked: this.picked,
    };
  }

  draw(): void {
    const [main, strip, small] = [this.canvas, this.ruler, this.overview].map((canvas) => canvas.getContext("2d"));
    if (!main || !strip || !small || this.view.width === 0) return;
    const began = performance.now();
    for (const context of [main, strip, small]) context.font = FONT;
    const scene = this.scene();
    paint(this.#target(main), scene, this.pane.scrollTop, this.#height);
    const target = this.#target(strip);
    paintRuler(target, this.view, scene.ticks, this.marks, this.logs, this.palette);
    if (scene.instant !== null) target.rect(this.view.x(scene.instant), 0, 1, rulerHeight(this.logs), this.palette.ink);
    this.#image ??= this.#overview();
    small.drawImage(this.#image, 0, 0, this.view.width, OVERVIEW);
    paintWindow(small, this.view, this.palette);
    if (this.drawn.length === 0) performance.mark("first-picture");
    this.drawn.push(performance.now() - began);
  }

  readonly #targets = new Map<CanvasRenderingContext2D, [Palette, CanvasTarget]>();

  #target(context: CanvasRenderingContext2D): CanvasTarget {
    const known = this.#targets.get(context);
    if (known && known[0] === this.palette) return known[1];
    const made = new CanvasTarget(context, this.palette);
    this.#targets.set(context, [this.palette, made]);
    return made;
  }

  /** The overview without the frame around what is shown: drawn once for a width and a theme. */
  #overview(): HTMLCanvasElement {
    const { width, height } = this.overview;
    const image = el("canvas", { width, height });
    const context = image.getContext("2d");
    if (!context) return image;
    const ratio = width / this.view.width;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = FONT;
    const { timeline, view, palette } = this;
    paintOverview(new CanvasTarget(context, palette), timeline, view.width, view.gutter, palette);
    return image;
  }
}
