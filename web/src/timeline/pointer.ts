/** Wheel, drag, pinch and clicks. d3-zoom makes them the same on every device. */
import { select } from "d3-selection";
import { type D3ZoomEvent, zoom, zoomIdentity } from "d3-zoom";
import { nearestEdge } from "./answers";
import type { Chart } from "./chart";

const SNAP = 6;

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
    const time = Math.max(view.first, Math.min(view.last, view.time(place(event)[0])));
    return event.altKey ? time : nearestEdge(chart.timeline, time, SNAP * view.pixel);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.focus({ preventScroll: true });
    if (event.button !== 0 || !(event.shiftKey || selects())) return;
    drag = snapped(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x] = place(event);
    chart.hover = x > view.gutter ? view.time(x) : null;
    if (drag !== null) {
      const time = snapped(event);
      if (Math.abs(view.x(time) - view.x(drag)) > 3) chart.selection = drag <= time ? [drag, time] : [time, drag];
    }
    chart.redraw();
  });
  canvas.addEventListener("pointerleave", () => {
    chart.hover = null;
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
      const factor = 1.002 ** event.deltaY;
      const at = view.time(event.clientX - chart.ruler.getBoundingClientRect().left);
      chart.show(at - (at - view.from) * factor, at + (view.to - at) * factor);
    },
    { passive: false },
  );
  const jump = (event: PointerEvent): void => {
    const x = event.clientX - chart.overview.getBoundingClientRect().left;
    const time = view.first + ((x - view.gutter) / view.room) * view.whole;
    chart.show(time - view.length / 2, time + view.length / 2);
  };
  chart.overview.addEventListener("pointerdown", (event) => {
    chart.overview.setPointerCapture(event.pointerId);
    jump(event);
  });
  chart.overview.addEventListener("pointermove", (event) => {
    if (event.buttons) jump(event);
  });
}
