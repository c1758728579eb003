/** The filter language of the timeline: words, and terms such as `kind:initcall`, `track:udev`, `>10ms`, `at:0.8s`. */
import { counted, type Timeline, type Track } from "./data";
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
  /** A term that means nothing, as it was typed. */
  wrong: string | null;
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
    wrong: null,
  };
  for (const [, quoted, plain] of text.toLowerCase().matchAll(/"([^"]*)"|(\S+)/g)) {
    if (quoted !== undefined) query.words.push(quoted);
    else if (plain !== undefined) readTerm(query, plain);
  }
  return query;
}

function readTerm(query: Query, term: string): void {
  const [, key, value] = /^(kind|group|track|at|is):(.*)$/.exec(term) ?? [];
  const bound = /^([<>])=?(\d.*)$/.exec(term);
  if (bound) {
    const time = readTime(bound[2] ?? "");
    if (time === null) query.wrong ??= term;
    else if (bound[1] === ">") query.least = time;
    else query.most = time;
  } else if (key === "at") {
    query.at = readTime(value ?? "");
    if (query.at === null) query.wrong ??= term;
  } else if (key === "is" && value === "critical") query.critical = true;
  else if (key === "is" && value === "open") query.open = true;
  else if (key === "is") query.wrong ??= term;
  else if (key === "track" && value) query.tracks.push(value);
  else if (key && value) query.groups.push(value);
  else if (term.length > 1 && term.startsWith("-")) query.without.push(term.slice(1));
  else query.words.push(term);
}

/** Whether a query asks for bars at all; `at:` alone does not. */
export function asks(query: Query): boolean {
  const { words, without, tracks, groups, least, most, critical, open } = query;
  const named = words.length + without.length + tracks.length + groups.length > 0;
  return named || least > 0 || Number.isFinite(most) || critical || open;
}

/** A kind is a group or a track: `kind:initcall` finds the track of initcalls, `kind:services` all of that group. */
function isOf(track: Track, query: Query): boolean {
  const [label, group] = [track.label.toLowerCase(), track.group.toLowerCase()];
  const kinds = query.groups.every((kind) => group.includes(kind) || label.includes(kind) || track.role.includes(kind));
  return kinds && query.tracks.every((name) => label.includes(name));
}

/** Every bar that a query matches, in order of time. Names are matched once, not once for each bar. */
export function find(timeline: Timeline, query: Query): Finding {
  const fits = timeline.names.map((name) => {
    const text = name.toLowerCase();
    return query.words.every((word) => text.includes(word)) && !query.without.some((word) => text.includes(word));
  });
  const found: Found[] = [];
  const hits: Hits = new Map();
  let total = 0;
  for (const track of timeline.tracks) {
    if (!isOf(track, query)) continue;
    for (const lane of counted(track)) {
      const before = new Uint32Array(lane.size + 1);
      for (let i = 0; i < lane.size; i++) {
        const length = lane.length(i);
        const hit =
          fits[lane.named(i)] === true &&
          length >= query.least &&
          length <= query.most &&
          (!query.critical || lane.isCritical(i)) &&
          (!query.open || lane.isOpen(i));
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
