/** The timeline of a page of one boot: what the page knows of its bars, and how a selection reaches the profile. */
import { time } from "../format";
import type { Selection } from "../selection";
import { visible } from "../text";
import type { FirstData } from "../types";
import type { Chart } from "./chart";
import { readTimeline, type Timeline } from "./data";
import type { More } from "./details";
import { findingsList } from "./findings";
import { follow } from "./follow";
import { gapsOf } from "./gaps";
import type { Picked } from "./paint";
import { type TimelineSection, timelineSection } from "./section";

/** The section, or nothing where a boot has no bar. */
export function bootTimeline(data: FirstData, columns: Uint8Array, selection: Selection): TimelineSection | null {
  if (data.timeline.tracks.length === 0) return null;
  const timeline = readTimeline(data.timeline, columns);
  const gaps = gapsOf(data.timing.gaps);
  const made = timelineSection(timeline, {
    name: visible(data.boot.name, 80),
    marks: data.marks,
    logs: [data.log],
    gaps: () => gaps,
    more: (on, picked) => more(data, on, picked),
    lead: "Everything that was recorded, on one axis. Choose a stretch of time, and the sums and the profile below follow.",
  });
  const { element, chart } = made;
  const found = findingsList(chart, data.findings);
  if (found) element.querySelector(".tl-tools")?.before(found);
  follow(chart, selection);
  made.restore();
  return made;
}

/** What a bar waited for, with the way there. */
function more(data: FirstData, chart: Chart, picked: Picked): More[] {
  const name = chart.timeline.names[picked.row.lane.named(picked.i)] ?? "";
  const { units, devices } = data.timing;
  const found: More[] = [];
  const unit = picked.row.track.label === "Units" ? units.name.indexOf(name) : -1;
  const waited = units.waited_for[unit];
  if (waited) {
    const ordered = units.ordered_ns[unit];
    const long = ordered ? ` ${time(ordered)}` : "";
    found.push({ text: `It waited${long} for ${visible(waited, 100)}.`, ...leadTo(chart, "Units", waited) });
  }
  const device = picked.row.track.label === "Probes" ? devices.name.indexOf(name) : -1;
  const supplier = devices.supplier[device];
  if (supplier) found.push({ text: `It waited for ${visible(supplier, 100)}.`, ...leadTo(chart, "Probes", supplier) });
  return found;
}

/** A button that picks the bar of a name, where a track has it. */
function leadTo(chart: Chart, label: string, name: string): Pick<More, "leads"> {
  const spot = spotOf(chart.timeline, label, name);
  return spot ? { leads: { label: "Go there", act: () => chart.pick(spot, true) } } : {};
}

export function spotOf(timeline: Timeline, label: string, name: string) {
  const number = timeline.names.indexOf(name);
  for (const track of timeline.tracks) {
    if (track.label !== label || number < 0) continue;
    for (const lane of track.lanes) {
      const i = lane.name.indexOf(number);
      if (i >= 0) return { track, lane, i };
    }
  }
  return null;
}
