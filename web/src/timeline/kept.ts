/** The state of the timeline in the address of the page. */
import { address } from "../address";
import { digest, type Seen, withinAxis } from "../fragment";
import type { Chart } from "./chart";
import type { SearchBox } from "./search_box";

/** What a time may be: the axis, and the console lines before and after it. */
function axisOf({ view, logs }: Chart): [number, number] {
  let [first, last] = [view.first, view.last];
  for (const { time_ns } of logs) {
    for (const at of time_ns) {
      first = Math.min(first, at ?? first);
      last = Math.max(last, at ?? last);
    }
  }
  return [first, last];
}

/** Keeps the state in the address. False where the address was made for other data. */
export function keepState(chart: Chart, search: SearchBox, name: string): boolean {
  const { timeline } = chart;
  const boot = digest(
    `${name}\0${timeline.names.join("\0")}\0${timeline.first}\0${timeline.last}\0${timeline.tracks.length}`,
  );
  const atFirst = [...chart.folded].sort().join("~");
  const read = (): Omit<Seen, "page"> => {
    const { view, picked } = chart;
    const folded = [...chart.folded].sort();
    const track = picked ? chart.timeline.tracks.indexOf(picked.row.track) : -1;
    return {
      view: view.from === view.first && view.to === view.last ? null : [view.from, view.to],
      selection: chart.selection,
      instant: chart.instant,
      picked: picked ? [track, picked.row.track.lanes.indexOf(picked.row.lane), picked.i] : null,
      query: search.text,
      place: search.place,
      folded: folded.join("~") === atFirst ? null : folded,
      // With a picked bar also the beginning: without a place, the bar is brought into view.
      scroll: picked || chart.pane.scrollTop > 0 ? chart.pane.scrollTop : null,
      boot,
    };
  };
  const write = (asked: Seen): void => {
    const state = withinAxis(asked, ...axisOf(chart));
    chart.folded.clear();
    for (const key of state.folded ?? atFirst.split("~")) chart.folded.add(key);
    chart.relayout();
    chart.view.show(...(state.view ?? [chart.view.first, chart.view.last]));
    chart.selection = state.selection;
    search.text = state.query;
    search.place = state.place;
    chart.instant = state.instant;
    const [track, lane, i] = state.picked ?? [-1, -1, -1];
    const found = chart.timeline.tracks[track]?.lanes[lane];
    const row = chart.layout.rows.find((each) => each.lane === found);
    chart.picked = row && Number.isInteger(i) && i >= 0 && i < row.lane.size ? { row, i } : null;
    chart.scroll(state.scroll ?? (chart.picked ? null : 0));
    chart.changed();
  };
  address.keep("only", {
    read: () => (search.only ? "1" : null),
    write: (text) => {
      search.only = text === "1";
    },
  });
  const seen = address.keepTimeline({ read, write });
  chart.onChange(address.changed);
  chart.pane.addEventListener("scroll", address.changed, { passive: true });
  return !seen?.boot || seen.boot === boot;
}
