/** What ran at an instant, and the sums of an interval. */
import { counted, type Timeline, type Track } from "./data";
import { type Lane, LOOK } from "./lane";

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
  return found.sort((a, b) => rank(a.track) - rank(b.track));
}

/** In which order answers stand: what had the processor first, what is merely active last. */
function rank(track: Track): number {
  const label = track.side ? track.label.slice(2) : track.label;
  if (track.role === "process" || label === "Idle") return 0;
  if (track.role === "phases") return 1;
  if (track.role === "path") return 2;
  if (label === "Initcalls") return 3;
  if (track.role === "calls") return 4;
  return isLife(track) ? 6 : 5;
}

/** Whether the bars of a track say that something was there, and not that it did anything. */
function isLife(track: Track): boolean {
  return track.lanes.some((lane) => lane.size > 0 && lane.lookOf(0) === LOOK.life) && track.role !== "process";
}

/** What a bar is called in an answer: a run by its process with its number, a system call by its process, too. */
export function calledIn(timeline: Timeline, { track, lane, i }: Spot): string {
  return callsIn(timeline, track)(timeline.names[lane.named(i)] ?? "");
}

/** Turns the name of a bar of a track into what it is called in an answer. */
function callsIn(timeline: Timeline, track: Track): (name: string) => string {
  if (track.role === "process") {
    const number = numberOf(track);
    return (name) => name + number;
  }
  const parent = track.role === "calls" ? timeline.tracks[track.parent] : undefined;
  if (!parent) return (name) => name;
  const runs = parent.lanes[1];
  const process = runs && runs.size > 0 ? (timeline.names[runs.named(0)] ?? "") + numberOf(parent) : parent.label;
  return (name) => `${process}: ${name}`;
}

function numberOf(track: Track): string {
  return / · \d+$/.exec(track.label)?.[0] ?? "";
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

/** Units that are active from the beginning of an interval to its end are one row. */
const THROUGHOUT = "active throughout";

/** What kind of thing a track has: its label, or what its role says where the label names one thing of many. */
export function kindOf(track: Track): string {
  const side = track.side ? `${track.side.toUpperCase()} ` : "";
  if (track.role === "process") return `${side}Processor time`;
  return track.role === "calls" ? `${side}System calls` : track.label;
}

/** The bars of an interval, added up by their track and name: by kind in the order of answers, the longest first. */
export function sums(timeline: Timeline, from: number, to: number): Sum[] {
  const found = new Map<string, Sum & { rank: number }>();
  for (const track of timeline.tracks) {
    const kind = kindOf(track);
    const life = isLife(track);
    const added = addsTo(timeline, track);
    for (const lane of counted(track)) {
      for (let i = lane.after(from); i < lane.size && lane.from(i) < to; i++) {
        const throughout = life && lane.from(i) <= from && lane.to(i) >= to;
        const name = throughout ? THROUGHOUT : added(timeline.names[lane.named(i)] ?? "");
        const key = `${track.group}\0${kind}\0${name}`;
        let sum = found.get(key);
        if (!sum) {
          sum = { group: track.group, kind, name, time: 0, bars: 0, longest: 0, rank: rank(track) + +throughout };
          found.set(key, sum);
        }
        let part = Math.min(to, lane.to(i)) - Math.max(from, lane.from(i));
        if (track.role === "load") part *= lane.share?.[i] ?? 1;
        sum.time = throughout ? part : sum.time + part;
        sum.bars++;
        sum.longest = Math.max(sum.longest, part);
      }
    }
  }
  for (const sum of found.values()) if (sum.name === THROUGHOUT) sum.name = `${sum.bars} ${THROUGHOUT}`;
  return [...found.values()].sort((a, b) => a.rank - b.rank || b.time - a.time).map(({ rank: _, ...sum }) => sum);
}

/** Turns the name of a bar into what it is added to; the bars of a graph differ by their height and are one sum. */
function addsTo(timeline: Timeline, track: Track): (name: string) => string {
  if (track.role === "queue") return () => "any number waiting";
  return track.role === "load" ? () => "busy" : callsIn(timeline, track);
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
