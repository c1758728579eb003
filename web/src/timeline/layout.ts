/** Where each track stands: rows of lanes below the heads of groups, as far as they are unfolded. */
import { isGraph, type Track } from "./data";
import type { Lane } from "./lane";

export const ROW = 18;
/** The graph of a queue. */
const TALL = 2 * ROW;
const HEAD = 22;
const GAP = 3;

/** A lane at its height in the drawing. */
export interface Row {
  track: Track;
  lane: Lane;
  y: number;
  height: number;
  /** The pale bar behind the runs of a process. */
  life: boolean;
  /** One of many lanes that share the row of a folded group. */
  folded: boolean;
}

/** The label of a group or of a track. */
export interface Head {
  key: string;
  label: string;
  note: string;
  level: 1 | 2 | 3;
  y: number;
  height: number;
  /** Whether what is below it shows; undefined where nothing is. */
  open: boolean | undefined;
  track: Track | null;
}

export interface Layout {
  rows: Row[];
  heads: Head[];
  height: number;
}

export function groupKey(group: string): string {
  return `g:${group}`;
}

/** The figure next to a label, and how many bars are too many for the page. */
function noteOf({ note, left_out }: Track): string {
  const rest = left_out > 0 ? `${left_out.toLocaleString("en")} shorter left out` : "";
  return [note, rest].filter((text) => text !== "").join(", ");
}

/** What is folded at first: the details of every track, and lists that say little at a glance. */
export function foldedAtFirst(tracks: Track[]): Set<string> {
  const folded = new Set<string>();
  for (const [i, track] of tracks.entries()) {
    if (track.parent >= 0) folded.add(`t:${track.parent}`);
    if (track.label === "Active units" || track.lanes.length > 120) folded.add(`t:${i}`);
  }
  return folded;
}

/** Places every track that `shown` lets through. */
export function layOut(tracks: Track[], folded: Set<string>, shown: (track: Track) => boolean): Layout {
  const rows: Row[] = [];
  const heads: Head[] = [];
  let y = 0;
  const groups = [...new Set(tracks.map((track) => track.group))];
  for (const group of groups) {
    const members = tracks.filter((track) => track.group === group && shown(track));
    if (members.length === 0) continue;
    const key = groupKey(group);
    const open = !folded.has(key);
    const top = members.filter((track) => track.parent < 0).length;
    const note = `${top.toLocaleString("en")} ${top === 1 ? "track" : "tracks"}`;
    heads.push({ key, label: group, note, level: 1, y, height: HEAD, open, track: null });
    if (!open) {
      for (const track of members) {
        if (track.parent >= 0) continue;
        for (const lane of track.role === "process" ? track.lanes.slice(1) : track.lanes)
          rows.push({ track, lane, y: y + 3, height: HEAD - 6, life: false, folded: true });
      }
    }
    y += HEAD;
    if (!open) continue;
    for (const track of members) {
      const index = tracks.indexOf(track);
      if (track.parent >= 0 && folded.has(`t:${track.parent}`)) continue;
      const detailed = members.some((other) => other.parent === index);
      const foldable = detailed || track.lanes.length > 12;
      const openTrack = !folded.has(`t:${index}`);
      const single = !openTrack && !detailed && track.lanes.length > 1;
      const row = isGraph(track) ? TALL : ROW;
      const height = track.role === "process" || single ? ROW : Math.max(1, track.lanes.length) * row;
      heads.push({
        key: `t:${index}`,
        label: track.label,
        note: noteOf(track),
        level: track.parent >= 0 ? 3 : 2,
        y,
        height,
        open: foldable ? openTrack : undefined,
        track,
      });
      track.lanes.forEach((lane, i) => {
        const life = track.role === "process" && i === 0;
        const place = track.role === "process" || single ? y : y + i * row;
        const inset = track.role === "process" && !life ? 3 : 1;
        rows.push({ track, lane, y: place + inset, height: row - 2 * inset, life, folded: single });
      });
      y += height + GAP;
    }
  }
  return { rows, heads, height: y };
}
