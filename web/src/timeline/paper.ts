/** Prints the timeline: an SVG drawing of all lanes replaces the canvases, which show only the part scrolled into view. */
import { el } from "../dom";
import type { Chart } from "./chart";
import { type DrawingOptions, drawing } from "./drawing";

/** The width of the drawing in pixels; CSS scales it to the paper. */
const WIDTH = 1000;

/** The element that contains the drawing while the page is printed. The drawing names its colours as CSS variables, so
 * the print style sheet chooses them. */
export function onPaper(chart: Chart, name: string, options: DrawingOptions = {}): HTMLElement {
  const place = el("div", { class: "tl-paper" });
  const { view } = chart;
  addEventListener("beforeprint", () => {
    if (place.closest("[hidden]")) return;
    const { width, gutter } = view;
    view.width = WIDTH;
    view.gutter = chart.gutter;
    const named = { ...options, ids: `paper-${options.ids ?? ""}`, palette: chart.colours((name) => `var(--${name})`) };
    const drawn = drawing(chart, name, named);
    view.width = width;
    view.gutter = gutter;
    place.replaceChildren(drawn);
  });
  addEventListener("afterprint", () => place.replaceChildren());
  return place;
}
