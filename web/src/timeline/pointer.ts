/** Wheel, drag, pinch and clicks. d3-zoom makes them the same on every device. */
import { select } from "d3-selection";
import { type D3ZoomEvent, zoom, zoomIdentity } from "d3-zoom";
import { el } from "../dom";
import { stamp, time } from "../format";
import { nearestEdge } from "./answers";
import type { Chart } from "./chart";
import { nameOf } from "./details";

const SNAP = 6;
/** A line and a page of a wheel that counts in them, in pixels. */
const PIXELS = [1, 25, 800];
/** How far a pixel of the wheel zooms, as a power of 2: a notch of 100 pixels shows four fifths of the time. */
const ZOOM = 0.0032;
/** A pinch arrives as a wheel with Ctrl, in steps smaller than a notch, and zooms faster. */
const PINCH = { below: 15, times: 6 };

/** How far one event of the wheel zooms in, as a power of 2. */
export function wheelZoom({ deltaY, deltaMode, ctrlKey }: WheelEvent): number {
  const pixels = deltaY * (PIXELS[deltaMode] ?? 1);
  return -pixels * ZOOM * (ctrlKey && Math.abs(pixels) < PINCH.below ? PINCH.times : 1);
}

/** Lets the pointer move, zoom, pick and select. `selects` says whether a plain drag selects. */
export function listen(chart: Chart, selects: () => boolean): void {
  const { canvas, view } = chart;
  const room = (): number => view.room;
  let drag: number | null = null;
  let own = false;

  const zooming = zoom<HTMLCanvasElement, unknown>()
    .scaleExtent([1, Math.max(1, view.whole / 200)])
    .filter((event: MouseEvent | WheelEvent | TouchEvent) => {
      if (event.type === "wheel") return event.ctrlKey || event.metaKey || document.activeElement === canvas;
      if ("button" in event && event.button !== 0) return false;
      return !event.shiftKey && !selects();
    })
    .wheelDelta(wheelZoom)
    .on("zoom", (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
      if (own) return;
      const { k, x } = event.transform;
      const length = view.whole / k;
      const from = view.first - (x / k / room()) * view.whole;
      view.show(from, from + length);
      const source: unknown = event.sourceEvent;
      if (source instanceof MouseEvent && source.buttons > 0) chart.pane.scrollTop -= source.movementY;
      chart.changed();
    });
  const selection = select(canvas);
  selection.call(zooming).on("dblclick.zoom", null);
  /** Gives d3-zoom the part of the axis that keys, links and buttons chose. */
  const follow = (): void => {
    const k = view.whole / view.length;
    own = true;
    selection.call(
      zooming.transform,
      zoomIdentity.translate((-(view.from - view.first) / view.whole) * room() * k, 0).scale(k),
    );
    own = false;
  };
  canvas.addEventListener("pointerdown", follow, { capture: true });
  canvas.addEventListener("wheel", follow, { capture: true, passive: true });
  canvas.addEventListener("touchstart", follow, { capture: true, passive: true });

  const place = (event: MouseEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top + chart.pane.scrollTop];
  };
  const snapped = (event: MouseEvent): number => {
    const at = Math.max(view.first, Math.min(view.last, view.time(place(event)[0])));
    return event.altKey ? at : nearestEdge(chart.timeline, at, SNAP * view.pixel);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.focus({ preventScroll: true });
    if (event.button !== 0 || !(event.shiftKey || selects())) return;
    drag = snapped(event);
    canvas.setPointerCapture(event.pointerId);
  });
  const tip = el("div", { class: "tl-tip", hidden: true, "aria-hidden": "true" });
  chart.element.append(tip);
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    chart.hover = x > view.gutter ? view.time(x) : null;
    showTip(chart, tip, x, y);
    if (drag !== null) {
      const to = snapped(event);
      if (Math.abs(view.x(to) - view.x(drag)) > 3) chart.selection = drag <= to ? [drag, to] : [to, drag];
    }
    chart.redraw();
  });
  canvas.addEventListener("pointerleave", () => {
    chart.hover = null;
    tip.hidden = true;
    chart.redraw();
  });
  canvas.addEventListener("pointerup", () => {
    if (drag !== null && chart.selection) chart.changed();
    drag = null;
  });
  canvas.addEventListener("click", (event) => {
    const [x, y] = place(event);
    if (x < view.gutter) return;
    const found = chart.at(x, y);
    if (event.shiftKey && found && chart.picked) {
      const before = chart.picked;
      const ends = [before.row.lane.from(before.i), found.row.lane.from(found.i)];
      const last = Math.max(before.row.lane.to(before.i), found.row.lane.to(found.i));
      if (before.row !== found.row || before.i !== found.i) chart.select(Math.min(...ends), last);
      return;
    }
    if (event.shiftKey || (selects() && chart.selection)) return;
    chart.instant = view.time(x);
    chart.picked = found;
    chart.changed();
  });
  canvas.addEventListener("dblclick", (event) => {
    const found = chart.at(...place(event));
    if (found) chart.fit(found.row.lane.from(found.i), found.row.lane.to(found.i));
  });
  chart.ruler.addEventListener("click", (event) => {
    const x = event.clientX - chart.ruler.getBoundingClientRect().left;
    if (x < view.gutter) return;
    chart.picked = null;
    chart.instant = view.time(x);
    chart.changed();
  });
  chart.ruler.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const factor = 2 ** -wheelZoom(event);
      const at = view.time(event.clientX - chart.ruler.getBoundingClientRect().left);
      chart.show(at - (at - view.from) * factor, at + (view.to - at) * factor);
    },
    { passive: false },
  );
  const jump = (event: PointerEvent): void => {
    const x = event.clientX - chart.overview.getBoundingClientRect().left;
    const middle = view.first + ((x - view.gutter) / view.room) * view.whole;
    chart.show(middle - view.length / 2, middle + view.length / 2);
  };
  chart.overview.addEventListener("pointerdown", (event) => {
    chart.overview.setPointerCapture(event.pointerId);
    jump(event);
  });
  chart.overview.addEventListener("pointermove", (event) => {
    if (event.buttons) jump(event);
  });
}

/** Beside the pointer: the bar below it, or the instant. */
function showTip(chart: Chart, tip: HTMLElement, x: number, y: number): void {
  const { view, hover } = chart;
  tip.hidden = hover === null;
  if (hover === null) return;
  const found = chart.at(x, y);
  const lane = found?.row.lane;
  const text =
    found && lane
      ? [nameOf(chart, { lane, i: found.i }), time(lane.length(found.i)), `at ${stamp(lane.from(found.i))} s`]
      : [];
  tip.replaceChildren(
    ...[...text, `${stamp(hover)} s`].map((line, i) => el(i === 0 && found ? "strong" : "span", {}, line)),
  );
  const above = chart.canvas.offsetTop - chart.pane.scrollTop + y + chart.pane.offsetTop;
  tip.style.left = `${Math.max(0, Math.min(x + 14, view.width - tip.offsetWidth - 4))}px`;
  tip.style.top = `${above + 16 + tip.offsetHeight > chart.element.clientHeight ? above - tip.offsetHeight - 8 : above + 16}px`;
}
