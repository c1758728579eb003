/** The filter language of the timeline: that of the tables, with terms such as `kind:initcall`, `dur>1ms`, `at:0.8s`. */
import { compares, type Operator, readTerms, says, type Term } from "../filter";
import type { Log } from "./console_log";
import { searched, type Timeline, type Track } from "./data";
import type { Lane } from "./lane";
import type { Hits } from "./paint";

export interface Query {
  words: string[];
  without: string[];
  tracks: string[];
  groups: string[];
  least: number;
  most: number;
  critical: boolean;
  open: boolean;
  /** An instant that the reader asks for. */
  at: number | null;
  /** What the whole name has to say, or not. */
  names: { not: boolean; operator: Operator; value: string }[];
  /** When a bar starts or ends, from the first instant on. */
  times: { end: boolean; operator: Operator; time: number }[];
  /** Groups and tracks that are left out. */
  notTracks: string[];
  /** A term that means nothing, as it was typed. */
  wrong: string | null;
  /** A word with a colon that may have been meant as a term. */
  unknown: string | null;
}

export interface Found {
  track: Track;
  lane: Lane;
  i: number;
}

export interface Finding {
  found: Found[];
  hits: Hits;
  total: number;
}

const UNITS: Record<string, number> = { s: 1e9, ms: 1e6, us: 1e3, µs: 1e3, ns: 1 };

/** A time with its unit, in nanoseconds; without a unit it is seconds. Null where it is none. */
export function readTime(text: string): number | null {
  const found = /^(\d+(?:\.\d+)?)(s|ms|us|µs|ns)?$/.exec(text.trim());
  return found ? Number(found[1]) * (UNITS[found[2] ?? "s"] ?? 1e9) : null;
}

/** Reads a query. Quotes keep words together. */
export function readQuery(text: string): Query {
  const query: Query = {
    words: [],
    without: [],
    tracks: [],
    groups: [],
    least: 0,
    most: Number.POSITIVE_INFINITY,
    critical: false,
    open: false,
    at: null,
    names: [],
    times: [],
    notTracks: [],
    wrong: null,
    unknown: null,
  };
  for (const term of readTerms(text)) if (!readTerm(query, term)) query.wrong ??= term.typed;
  return query;
}

/** Adds a term to a query; false for one that means nothing. */
function readTerm(query: Query, term: Term): boolean {
  const { field, operator, value, not } = term;
  const bound = /^([<>])=?(\d.*)$/.exec(value);
  if (field === null && bound && !not) return readLength(query, `${bound[1]}=` as Operator, bound[2] ?? "");
  if (field === null) (not ? query.without : query.words).push(value);
  else if (field === "dur" || field === "duration") return !not && readLength(query, operator, value);
  else if (field === "start" || field === "end") {
    const time = readTime(value);
    if (time === null || not || [":", "~", "="].includes(operator)) return false;
    query.times.push({ end: field === "end", operator, time });
  } else if (field === "name") {
    if (![":", "~", "="].includes(operator)) return false;
    query.names.push({ not, operator, value });
  } else if (field === "at" && operator === ":") {
    query.at = readTime(value);
    return query.at !== null;
  } else if (field === "is" && operator === ":" && !not) {
    if (value === "critical") query.critical = true;
    else if (value === "open") query.open = true;
    else return false;
  } else if (["kind", "group", "track"].includes(field)) {
    if (![":", "~", "="].includes(operator)) return false;
    if (not) query.notTracks.push(value);
    else if (field === "track") query.tracks.push(value);
    else query.groups.push(value);
  } else if ([":", "~", "="].includes(operator)) {
    // A colon of a name such as `usb:1` is a part of a word.
    (not ? query.without : query.words).push(`${field}${operator}${value}`);
    query.unknown ??= term.typed;
  } else return false;
  return true;
}

/** A bound of the length; times are whole nanoseconds. */
function readLength(query: Query, operator: Operator, value: string): boolean {
  const time = readTime(value);
  if (time === null || [":", "~", "="].includes(operator)) return false;
  if (operator === ">" || operator === ">=") {
    query.least = Math.max(query.least, operator === ">" ? Math.floor(time) + 1 : time);
  } else query.most = Math.min(query.most, operator === "<" ? Math.ceil(time) - 1 : time);
  return true;
}

/** Whether a query asks for bars at all; `at:` alone does not. */
export function asks(query: Query): boolean {
  const { words, without, tracks, groups, least, most, critical, open, names, times, notTracks } = query;
  const lists = [words, without, tracks, groups, names, times, notTracks];
  const named = lists.some((list) => list.length > 0);
  return named || least > 0 || Number.isFinite(most) || critical || open;
}

/** A kind is a group or a track: `kind:initcall` finds the track of initcalls, `kind:services` all of that group. */
function isOf(track: Track, query: Query): boolean {
  const [label, group] = [track.label.toLowerCase(), track.group.toLowerCase()];
  const kinds = query.groups.every((kind) => group.includes(kind) || label.includes(kind) || track.role.includes(kind));
  const without = query.notTracks.some((name) => group.includes(name) || label.includes(name));
  return kinds && !without && query.tracks.every((name) => label.includes(name));
}

/** Whether a query may find console lines: one with words, and without what only bars have. */
export function asksLines(query: Query): boolean {
  return query.words.length > 0 && !asks({ ...query, words: [], without: [] });
}

/** The console lines that have all words of a query, in order; none where a query asks for what only bars have. */
export function findLines(log: Log, query: Query): number[] {
  const { words, without } = query;
  if (!asksLines(query)) return [];
  return log.time_ns.flatMap((at, i) => {
    const text = (log.text[i] ?? "").toLowerCase();
    const found = words.every((word) => text.includes(word)) && !without.some((word) => text.includes(word));
    return at !== null && found ? [i] : [];
  });
}

/** Every bar that a query matches, in order of time. Names are matched once, not once for each bar. */
export function find(timeline: Timeline, query: Query): Finding {
  const fits = timeline.names.map((name) => {
    const text = name.toLowerCase();
    const words =
      query.words.every((word) => text.includes(word)) && !query.without.some((word) => text.includes(word));
    return words && query.names.every(({ not, operator, value }) => says(text, operator, value) !== not);
  });
  const found: Found[] = [];
  const hits: Hits = new Map();
  let total = 0;
  for (const track of timeline.tracks) {
    if (!isOf(track, query)) continue;
    for (const lane of searched(track)) {
      const before = new Uint32Array(lane.size + 1);
      for (let i = 0; i < lane.size; i++) {
        const length = lane.length(i);
        const hit =
          fits[lane.named(i)] === true &&
          length >= query.least &&
          length <= query.most &&
          (!query.critical || lane.isCritical(i)) &&
          (!query.open || lane.isOpen(i)) &&
          query.times.every(({ end, operator, time }) =>
            compares((end ? lane.to(i) : lane.from(i)) - timeline.first, operator, time),
          );
        before[i + 1] = (before[i] ?? 0) + (hit ? 1 : 0);
        if (!hit) continue;
        found.push({ track, lane, i });
        total += length;
      }
      if (before[lane.size]) hits.set(lane, before);
    }
  }
  found.sort((a, b) => a.lane.from(a.i) - b.lane.from(b.i));
  return { found, hits, total };
}
