/** The tracks of a timeline, read from their description and the columns of bytes beside it. */
import { fromBase85, gunzipped } from "../base85";
import { Varints } from "../varints";
import { Lane } from "./lane";

export interface TrackDescription {
  group: string;
  label: string;
  role: string;
  parent: number;
  note: string;
  beside: boolean;
  left_out: number;
  left_out_ns: number;
  /** Of a queue, what each bar of its lane counts; of a load, its percentage. */
  heights: number[];
  /** Of phases, pairs of instants between which a bar begins and the one before it ends. */
  unsure: [number, number][];
  /** Of a process or thread, until when it had another name. */
  earlier: [number, string][];
  lanes: number[];
}

export interface TimelineDescription {
  first_ns: number;
  last_ns: number;
  end_ns: number;
  spans: number;
  /** The length of its columns. */
  bytes: number;
  names: string[];
  tracks: TrackDescription[];
}

export interface Track extends Omit<TrackDescription, "lanes" | "heights" | "unsure" | "earlier"> {
  lanes: Lane[];
  unsure?: [number, number][];
  earlier?: [number, string][];
  /** Which boot it is of, in a page of two. */
  side?: "a" | "b";
}

export interface Timeline {
  first: number;
  last: number;
  names: string[];
  tracks: Track[];
}

/** Base 85 of gzip of bytes. */
export async function unpackBytes(packed: string): Promise<Uint8Array> {
  const bytes = fromBase85(packed.trim());
  return bytes.length === 0 ? bytes : new Uint8Array(await (await gunzipped(bytes)).arrayBuffer());
}

/** Reads the lanes; throws an error when the bytes end before their description does. */
export function readTimeline(described: TimelineDescription, bytes: Uint8Array): Timeline {
  const numbers = new Varints(bytes, "timeline");
  const lane = (size: number): Lane => {
    numbers.need(size);
    const start = new Float64Array(size);
    const end = new Float64Array(size);
    const name = new Uint32Array(size);
    let time = described.first_ns;
    for (let i = 0; i < size; i++) {
      time += numbers.next();
      start[i] = time;
    }
    for (let i = 0; i < size; i++) end[i] = (start[i] ?? 0) + numbers.next();
    for (let i = 0; i < size; i++) name[i] = numbers.next();
    const look = numbers.bytes(size);
    return new Lane(start, end, name, look);
  };
  return {
    first: described.first_ns,
    last: Math.max(described.last_ns, described.first_ns + 1),
    names: described.names,
    tracks: described.tracks.map(({ heights, ...track }) => {
      const lanes = track.lanes.map(lane);
      const most = track.role === "load" ? 100 : heights.reduce((high, count) => Math.max(high, count), 1);
      if (heights.length > 0 && lanes[0]) lanes[0].share = Float32Array.from(heights, (count) => count / most);
      return { ...track, lanes };
    }),
  };
}

/** Whether a track shows bars of another track once more: by level, by thread. */
export function isCopy(track: Track): boolean {
  return track.parent >= 0 && track.role !== "calls";
}

/** Whether a track is a graph: the height of a bar counts. */
export function isGraph(track: Track): boolean {
  return track.role === "queue" || track.role === "load";
}

/** The lanes that a search looks at: those that count, and what waits in a queue, device by device. */
export function searched(track: Track): Lane[] {
  return track.role === "waits" ? track.lanes : counted(track);
}

/** The lanes whose bars count in sums, searches and answers; the life of a process is not work. */
export function counted(track: Track): Lane[] {
  if (isCopy(track)) return [];
  return track.role === "process" ? track.lanes.slice(1) : track.lanes;
}
