/** Draws lanes. The work of a frame is bounded by lanes times pixels, whatever the number of bars. */
import { visible } from "../text";
import type { Lane } from "./lane";
import type { Layout, Row } from "./layout";
import type { Palette } from "./palette";
import type { Target } from "./target";
import type { View } from "./view";

/** Which bars a search found: for each lane, how many before each bar. */
export type Hits = Map<Lane, Uint32Array>;

export interface Picked {
  row: Row;
  i: number;
}

export interface Scene {
  layout: Layout;
  view: View;
  names: string[];
  palette: Palette;
  ticks: number[];
  selection: readonly [number, number] | null;
  instant: number | null;
  hits: Hits | null;
  picked: Picked | null;
}

/** How far the labels of a lane reach. */
interface Taken {
  until: number;
}

const LEAST_LABEL = 24;
/** A bar that is lower has no label. */
const LABEL_HEIGHT = 7;
const BESIDE_UP_TO = 150;
const FAINTEST = 0.25;

/** Draws everything between two heights of the layout. */
export function paint(target: Target, scene: Scene, top: number, height: number): void {
  const { view, palette, layout, selection } = scene;
  target.rect(0, 0, view.width, height, palette.sheet);
  layout.heads.forEach((head, i) => {
    const y = head.y - top;
    if (y > height || y + head.height < 0) return;
    if (head.level === 1) target.rect(0, y, view.width, head.height, palette.faint);
    else if (i % 2) target.rect(0, y + head.height, view.width, 1, palette.faint);
  });
  for (const tick of scene.ticks) target.rect(Math.round(view.x(tick)), 0, 1, height, palette.line);
  const clamp = (time: number): number => Math.max(view.gutter, Math.min(view.width, view.x(time)));
  if (selection) {
    const x = clamp(selection[0]);
    target.rect(x, 0, Math.max(1, clamp(selection[1]) - x), height, palette.selection);
  }
  for (const row of layout.rows) {
    const y = row.y - top;
    if (y <= height && y + row.height >= 0) paintRow(target, scene, row, y);
  }
  if (selection) {
    for (const edge of selection) {
      const x = view.x(edge);
      if (x >= view.gutter && x <= view.width) target.rect(x, 0, 1, height, palette.edge);
    }
  }
  const { picked } = scene;
  if (picked) {
    const { row, i } = picked;
    const x = clamp(row.lane.from(i));
    target.frame(x, row.y - top, Math.max(3, clamp(row.lane.to(i)) - x), row.height, palette.ink);
  }
  if (scene.instant !== null) {
    const x = view.x(scene.instant);
    if (x >= view.gutter && x <= view.width) target.rect(x, 0, 1, height, palette.ink);
  }
}

/** One lane. Bars narrower than a pixel are drawn together with their neighbours in that pixel. */
export function paintRow(target: Target, scene: Scene, row: Row, y: number): void {
  const { view, palette } = scene;
  const { lane } = row;
  const found = scene.hits?.get(lane);
  const taken = { until: view.gutter };
  for (let i = lane.after(view.from); i < lane.size && lane.from(i) < view.to; ) {
    if (lane.length(i) < view.pixel) {
      const x = Math.floor(view.x(lane.from(i)));
      const next = pixelEnd(lane, view, i);
      const share = Math.min(1, ((lane.sum[next] ?? 0) - (lane.sum[i] ?? 0)) / view.pixel);
      if (x >= view.gutter) {
        const point = next === i + 1 && lane.length(i) === 0;
        const strength = point ? 1 : (FAINTEST + (1 - FAINTEST) * share) * (row.folded ? 0.5 : 1);
        const high = tallness(row, i, next);
        target.bar(x, y + row.height - high, 1, high, lane.lookOf(i), strength);
        if (found && (found[next] ?? 0) > (found[i] ?? 0)) target.rect(x, y - 1, 2, row.height + 2, palette.hit);
      }
      if (next === i + 1 && row.track.beside && !row.folded) paintLabel(target, scene, row, i, x, 1, y, taken);
      i = next;
      continue;
    }
    paintBar(target, scene, row, i, y, found, taken);
    i++;
  }
  paintUnsure(target, view, row, y);
}

/** Over the bars of phases: between which instants one ends and the next one begins, where records do not show when. */
function paintUnsure(target: Target, view: View, row: Row, y: number): void {
  for (const [from, to] of row.track.unsure ?? []) {
    if (to <= view.from || from >= view.to) continue;
    const x = Math.max(view.gutter, view.x(from));
    target.unsure(x, y, Math.max(2, Math.min(view.width, view.x(to)) - x), row.height);
  }
}

/** The height of bars in pixels; of a queue, that of the tallest one, at least a pixel. */
function tallness(row: Row, from: number, to: number): number {
  return row.lane.share ? Math.max(1, Math.round(row.height * row.lane.tallest(from, to))) : row.height;
}

/**
 * The first bar behind the pixel in which bar `i` begins. It jumps by the ends: a jump by the starts would lose a wide
 * bar that begins in the pixel of a narrow one.
 */
export function pixelEnd(lane: Lane, view: View, i: number): number {
  const end = view.time(Math.floor(view.x(lane.from(i))) + 1);
  return Math.max(i + 1, lane.after(end, i));
}

function paintBar(
  target: Target,
  scene: Scene,
  row: Row,
  i: number,
  y: number,
  found: Uint32Array | undefined,
  taken: Taken,
): void {
  const { view, palette } = scene;
  const { lane } = row;
  const x = Math.max(view.gutter, view.x(lane.from(i)));
  const end = Math.min(view.width, view.x(lane.to(i)));
  const width = Math.max(0.5, end - x - (end - x > 3 ? 0.5 : 0));
  const high = tallness(row, i, i + 1);
  target.bar(x, y + row.height - high, width, high, lane.lookOf(i), row.folded ? 0.5 : 1);
  const change = lane.change?.[i];
  if (change !== undefined && !row.life) paintChange(target, palette, change, lane.length(i), x, y, width);
  if (lane.isCritical(i) && !row.folded) target.rect(x, y + row.height - 3, width, 3, palette.critical);
  if (found && (found[i + 1] ?? 0) > (found[i] ?? 0))
    target.frame(x + 1, y + 1, Math.max(1, width - 2), row.height - 2, palette.hit);
  if (!row.life && !row.folded && high > LABEL_HEIGHT) paintLabel(target, scene, row, i, x, width, y, taken);
}

/** The change of a bar against its partner in the other boot, as an edge on top; dashes where it has no partner. */
function paintChange(
  t: Target,
  palette: Palette,
  change: number,
  length: number,
  x: number,
  y: number,
  width: number,
): void {
  if (Number.isNaN(change)) {
    for (let at = x; at < x + width; at += 6) t.rect(at, y, Math.min(3, x + width - at), 3, palette.ink);
  } else if (Math.abs(change) > 0.01 * length) {
    t.rect(x, y, width, Math.abs(change) > 0.2 * length ? 4 : 2, change > 0 ? palette.slower : palette.faster);
  }
}

/** The name inside the bar where it fits, else beside it where the lane is free, else cut. */
function paintLabel(
  target: Target,
  scene: Scene,
  row: Row,
  i: number,
  x: number,
  width: number,
  y: number,
  taken: Taken,
): void {
  const { view, palette } = scene;
  const name = visible(scene.names[row.lane.named(i)] ?? "", 80);
  const wide = target.widthOf(name);
  const middle = y + row.height / 2 + 4;
  if (width >= LEAST_LABEL && palette.patterns[row.lane.lookOf(i)] && wide < width * 4) {
    const under = Math.min(width - 2, wide + 5);
    target.rect(x + 1, y + 1, under, row.height - 2, palette.bars[row.lane.lookOf(i)] ?? palette.sheet);
  }
  if (wide + 6 <= width) {
    target.text(x + 3, middle, name, palette.onBar);
    return;
  }
  if (row.track.beside && width < BESIDE_UP_TO) {
    const next = i + 1 < row.lane.size ? view.x(row.lane.from(i + 1)) : view.width;
    if (next - (x + width) - 6 > wide) {
      target.text(x + width + 3, middle, name, palette.ink);
      taken.until = x + width + wide + 6;
      return;
    }
    const before = i > 0 ? view.x(row.lane.to(i - 1)) : view.gutter;
    if (x - wide - 6 > Math.max(before, taken.until)) {
      target.text(x - wide - 3, middle, name, palette.ink);
      return;
    }
  }
  if (width < LEAST_LABEL) return;
  const letters = Math.floor((width - 8) / (wide / name.length)) - 1;
  if (letters >= 4) target.text(x + 3, middle, cut(name, letters), palette.onBar);
}

/** A name with so many letters; of a path, the end of it, which says more than its beginning. */
function cut(name: string, letters: number): string {
  return name.startsWith("/") ? `…${name.slice(-letters)}` : `${name.slice(0, letters)}…`;
}
