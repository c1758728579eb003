/** Joins a chart with the choice of the page. */
import type { Selection } from "../selection";
import type { Chart } from "./chart";

/** The part of the axis and the stretch of time are one for all charts of the page. */
export function follow(chart: Chart, selection: Selection): void {
  chart.onChange(() => {
    selection.shown = [chart.view.from, chart.view.to];
    selection.stretch = chart.selection;
  });
  selection.onShown(() => {
    const { shown } = selection;
    if (!shown || (shown[0] === chart.view.from && shown[1] === chart.view.to)) return;
    chart.view.show(...shown);
    chart.changed();
  });
  selection.onChange(() => {
    const { stretch } = selection;
    if (stretch?.[0] === chart.selection?.[0] && stretch?.[1] === chart.selection?.[1]) return;
    chart.selection = stretch && [...stretch];
    chart.changed();
  });
}
