/** The timeline on paper: a drawing of all its lanes in place of the canvases, of which a part is scrolled away. */
import { el } from "../dom";
import type { Chart } from "./chart";
import { type DrawingOptions, drawing } from "./drawing";

/** Of the drawing, in pixels; it shrinks to the width of the paper. */
const WIDTH = 1000;

/** The element that has the drawing while the page is printed. Paper has colours of its own, in which the style sheet
 * fills those that the drawing names. */
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
