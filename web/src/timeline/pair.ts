/** Two timelines as one: each track of A above that of B, aligned at a mark, with the change of every bar. */

import type { Log } from "./console_log";
import { isGraph, type Timeline, type Track } from "./data";
import type { Lane } from "./lane";

export interface Side {
  name: string;
  timeline: Timeline;
  marks: { mark: string[]; time_ns: (number | null)[] };
}

/** One bar, or one pair of bars, that differs. */
export interface Difference {
  group: string;
  label: string;
  name: string;
  a: number | null;
  b: number | null;
  change: number;
  /** The bar to show: that of B where there is one. */
  spot: { side: "a" | "b"; track: number; lane: number; i: number };
}

/** The instants of the marks that both boots have, in order of A. */
export function sharedMarks(a: Side, b: Side): { mark: string; a: number; b: number }[] {
  return a.marks.mark.flatMap((mark, i) => {
    const place = b.marks.mark.indexOf(mark);
    const [one, other] = [a.marks.time_ns[i], b.marks.time_ns[place]];
    return typeof one === "number" && typeof other === "number" ? [{ mark, a: one, b: other }] : [];
  });
}

/** A track's label in any boot: a process keeps its name, not its number. */
function plain(track: Track): string {
  return track.role === "process" ? track.label.replace(/ · \d+$/, "") : track.label;
}

/** Whether the bars of a track have partners in another boot; what processes did and counts of a queue have none. */
function hasPartners(track: Track): boolean {
  return track.role !== "process" && track.role !== "calls" && !isGraph(track);
}

/** The tracks that a pair arranges: no details of other tracks. */
function shown(timeline: Timeline): Track[] {
  return timeline.tracks.filter((track) => track.parent < 0);
}

/** The details that a pair has below a track: the system calls of a process. */
function below({ tracks }: Timeline, track: Track): Track[] {
  const place = tracks.indexOf(track);
  return tracks.filter(({ parent, role }) => parent === place && role === "calls");
}

function keys(tracks: Track[]): Map<string, Track> {
  const found = new Map<string, Track>();
  for (const track of tracks) {
    let key = `${track.group}\0${plain(track)}`;
    for (let place = 2; found.has(key); place++) key = `${track.group}\0${plain(track)}\0${place}`;
    found.set(key, track);
  }
  return found;
}

/** Marks in every lane how much longer each bar is than its partner: the bar of the same name and place in that track. */
function marked(track: Track, names: string[], other: Track | undefined, otherNames: string[]): Lane[] {
  const partners = other ? byName(other, otherNames) : new Map<string, number[]>();
  const seen = new Map<string, number>();
  const order = track.lanes.flatMap((lane, l) => Array.from({ length: lane.size }, (_, i) => ({ lane, l, i })));
  order.sort((x, y) => x.lane.from(x.i) - y.lane.from(y.i));
  const changes = track.lanes.map((lane) => new Float64Array(lane.size).fill(Number.NaN));
  for (const { lane, l, i } of order) {
    const name = names[lane.named(i)] ?? "";
    const place = seen.get(name) ?? 0;
    seen.set(name, place + 1);
    const length = partners.get(name)?.[place];
    const change = changes[l];
    if (length !== undefined && change) change[i] = lane.length(i) - length;
  }
  return track.lanes.map((lane, l) => {
    const made = lane.shifted(0);
    made.change = changes[l] ?? null;
    return made;
  });
}

/** The lengths of a track's bars by name, in order of time. */
function byName(track: Track, names: string[]): Map<string, number[]> {
  const bars = track.lanes.flatMap((lane) => Array.from({ length: lane.size }, (_, i) => ({ lane, i })));
  bars.sort((x, y) => x.lane.from(x.i) - y.lane.from(y.i));
  const found = new Map<string, number[]>();
  for (const { lane, i } of bars) {
    const name = names[lane.named(i)] ?? "";
    const known = found.get(name);
    if (known) known.push(lane.length(i));
    else found.set(name, [lane.length(i)]);
  }
  return found;
}

/** Both boots on A's axis; B is moved by `offset` nanoseconds. */
export function pairOf(a: Side, b: Side, offset: number): Timeline {
  const names = [...a.timeline.names];
  const numbers = new Map(names.map((name, i) => [name, i]));
  const renamed = b.timeline.names.map((name) => {
    let number = numbers.get(name);
    if (number === undefined) {
      number = names.push(name) - 1;
      numbers.set(name, number);
    }
    return number;
  });
  const [ofA, ofB] = [keys(shown(a.timeline)), keys(shown(b.timeline))];
  const tracks: Track[] = [];
  const above = new Map<Track, Track>();
  const placed = (track: Track, side: "a" | "b", other: Track | undefined): Track => {
    const [own, others] = side === "a" ? [a.timeline.names, b.timeline.names] : [b.timeline.names, a.timeline.names];
    const compared = hasPartners(track) ? marked(track, own, other, others) : track.lanes;
    const lanes =
      side === "a"
        ? compared
        : compared.map((lane) =>
            lane.shifted(
              offset,
              lane.name.map((number) => renamed[number] ?? 0),
            ),
          );
    const by = side === "a" ? 0 : offset;
    const unsure = track.unsure?.map(([from, to]): [number, number] => [from + by, to + by]);
    const earlier = track.earlier?.map(([until, name]): [number, string] => [until + by, name]);
    const moved = { ...(unsure ? { unsure } : {}), ...(earlier ? { earlier } : {}) };
    return { ...track, label: `${side.toUpperCase()} ${track.label}`, lanes, ...moved, side };
  };
  const put = (track: Track, side: "a" | "b", other: Track | undefined): void => {
    const made = placed(track, side, other);
    tracks.push(made);
    for (const detail of below(side === "a" ? a.timeline : b.timeline, track)) {
      const child = placed(detail, side, undefined);
      above.set(child, made);
      tracks.push(child);
    }
  };
  for (const [key, track] of ofA) {
    const other = ofB.get(key);
    put(track, "a", other);
    if (other) put(other, "b", track);
    ofB.delete(key);
  }
  for (const track of ofB.values()) put(track, "b", undefined);
  const order = [...new Set([...a.timeline.tracks, ...b.timeline.tracks].map((track) => track.group))];
  tracks.sort((x, y) => order.indexOf(x.group) - order.indexOf(y.group));
  const places = new Map(tracks.map((track, i) => [track, i]));
  for (const [track, parent] of above) track.parent = places.get(parent) ?? -1;
  return {
    first: Math.min(a.timeline.first, b.timeline.first + offset),
    last: Math.max(a.timeline.last, b.timeline.last + offset),
    names,
    tracks,
  };
}

/** The consoles of both boots on A's axis, as far as they have lines. */
export function bothLogs(a: Log, b: Log, offset: number): Log[] {
  const moved = b.time_ns.map((at) => (at === null ? null : at + offset));
  const both: Log[] = [
    { ...a, side: "A" },
    { ...b, side: "B", time_ns: moved },
  ];
  return both.filter(({ text }) => text.length > 0);
}

/** Bars whose length differs, and bars that one boot alone has, the largest first. */
export function differences(pair: Timeline, most: number): Difference[] {
  const found: Difference[] = [];
  pair.tracks.forEach((track, t) => {
    if (!hasPartners(track) || !track.side) return;
    track.lanes.forEach((lane, l) => {
      for (let i = 0; i < lane.size; i++) {
        const change = lane.change?.[i] ?? Number.NaN;
        const alone = Number.isNaN(change);
        if (!alone && (track.side === "a" || change === 0)) continue;
        const length = lane.length(i);
        const spot = { side: track.side ?? "a", track: t, lane: l, i };
        const [a, b] = alone ? (track.side === "a" ? [length, null] : [null, length]) : [length - change, length];
        const name = pair.names[lane.named(i)] ?? "";
        const label = track.label.slice(2);
        found.push({ group: track.group, label, name, a, b, change: (b ?? 0) - (a ?? 0), spot });
      }
    });
  });
  found.sort((x, y) => Math.abs(y.change) - Math.abs(x.change));
  return found.slice(0, most);
}
