/** What ran at an instant, and the sums of an interval. */
import { counted, type Timeline, type Track } from "./data";
import type { Lane } from "./lane";

/** A bar of a track. */
export interface Spot {
  track: Track;
  lane: Lane;
  i: number;
}

/** Every bar in which an instant lies; a bar has its start and not its end. */
export function ranAt(timeline: Timeline, time: number): Spot[] {
  const found: Spot[] = [];
  for (const track of timeline.tracks) {
    for (const lane of counted(track)) {
      const i = lane.at(time);
      if (i >= 0) found.push({ track, lane, i });
    }
  }
  return found;
}

export interface Sum {
  group: string;
  kind: string;
  name: string;
  /** Of the bars, as far as they lie in the interval. */
  time: number;
  bars: number;
  longest: number;
}

/** What kind of thing a track has: its label, or what its role says where the label names one thing of many. */
export function kindOf(track: Track): string {
  if (track.role === "process") return "Processor time";
  return track.role === "calls" ? "System calls" : track.label;
}

/** The bars of an interval, added up by their track and name, the longest first. */
export function sums(timeline: Timeline, from: number, to: number): Sum[] {
  const found = new Map<string, Sum>();
  for (const track of timeline.tracks) {
    const kind = kindOf(track);
    for (const lane of counted(track)) {
      for (let i = lane.after(from); i < lane.size && lane.from(i) < to; i++) {
        // The bars of a queue differ by how many wait: together they are the time in which any waits.
        const name = track.role === "queue" ? "any number waiting" : (timeline.names[lane.named(i)] ?? "");
        const key = `${track.group}\0${kind}\0${name}`;
        let sum = found.get(key);
        if (!sum) {
          sum = { group: track.group, kind, name, time: 0, bars: 0, longest: 0 };
          found.set(key, sum);
        }
        const part = Math.min(to, lane.to(i)) - Math.max(from, lane.from(i));
        sum.time += part;
        sum.bars++;
        sum.longest = Math.max(sum.longest, part);
      }
    }
  }
  return [...found.values()].sort((a, b) => b.time - a.time);
}

/** The edges of bars that are nearest to an instant: where an interval may begin or end. */
export function nearestEdge(timeline: Timeline, time: number, within: number): number {
  let best = time;
  let distance = within;
  for (const track of timeline.tracks) {
    for (const lane of counted(track)) {
      const i = lane.after(time);
      const edges = [lane.from(i), lane.to(i), lane.to(i - 1)];
      edges.forEach((edge, place) => {
        const known = place === 2 ? i > 0 : i < lane.size;
        if (!known || Math.abs(edge - time) >= distance) return;
        best = edge;
        distance = Math.abs(edge - time);
      });
    }
  }
  return best;
}
