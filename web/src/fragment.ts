/** What the reader sees, in the fragment of the address, so that a link shows the same. */

export interface Seen {
  view: [number, number] | null;
  selection: [number, number] | null;
  instant: number | null;
  /** The picked bar: track, lane, bar. */
  picked: [number, number, number] | null;
  query: string;
  /** Which find of the search the reader went to, from 0 on. */
  place: number | null;
  folded: string[] | null;
  /** How far the tracks are scrolled, in pixels; null: so that the picked bar is seen. */
  scroll: number | null;
  /** What other parts of the page show, by name: unit, phase, filters of tables, the frame that the flame graph zooms to. */
  page: Record<string, string>;
  /** Eight digits of what the link was made for. */
  boot: string | null;
}

/** No value of an address is longer, in characters: as long as what a search box takes. */
const LONGEST = 500;

export const EMPTY: Seen = {
  view: null,
  selection: null,
  instant: null,
  picked: null,
  query: "",
  place: null,
  folded: null,
  scroll: null,
  page: {},
  boot: null,
};

/** As many numbers as are asked for; empty text is none. */
function numbers(text: string | null, count: number): number[] | null {
  const parts = (text ?? "").split("~");
  const found = parts.map(Number);
  const all = parts.every((part) => part.trim() !== "") && found.every(Number.isFinite);
  return all && found.length === count ? found : null;
}

/** Two numbers, the smaller first. */
function interval(text: string | null): [number, number] | null {
  const [a, b] = numbers(text, 2) ?? [];
  return a === undefined || b === undefined ? null : [Math.min(a, b), Math.max(a, b)];
}

/** The times of a state as far as an axis has them; those beside it are none. */
export function withinAxis(seen: Seen, first: number, last: number): Seen {
  const cut = (given: [number, number] | null): [number, number] | null =>
    given && given[0] <= last && given[1] >= first ? [Math.max(first, given[0]), Math.min(last, given[1])] : null;
  const { instant } = seen;
  const beside = instant !== null && (instant < first || instant > last);
  return { ...seen, view: cut(seen.view), selection: cut(seen.selection), instant: beside ? null : instant };
}

/** Reads a fragment; what is damaged counts as not there. An anchor such as `#flame` is not a state. */
export function readFragment(hash: string): Seen | null {
  if (!hash.includes("=")) return null;
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const page: Record<string, string> = {};
  for (const [key, value] of given) if (key.startsWith("m.")) page[key.slice(2)] = value.slice(0, LONGEST);
  const picked = numbers(given.get("p"), 3);
  const found = numbers(given.get("n"), 1)?.[0];
  return {
    ...EMPTY,
    view: interval(given.get("v")),
    selection: interval(given.get("s")),
    instant: numbers(given.get("t"), 1)?.[0] ?? null,
    picked: picked as [number, number, number] | null,
    query: (given.get("q") ?? "").slice(0, LONGEST),
    place: found === undefined ? null : found - 1,
    folded: given.has("c") ? (given.get("c") ?? "").split("~").filter(Boolean) : null,
    scroll: numbers(given.get("y"), 1)?.[0] ?? null,
    page,
    boot: given.get("b"),
  };
}

export function writeFragment(seen: Seen): string {
  const given = new URLSearchParams();
  if (seen.view) given.set("v", seen.view.map(Math.round).join("~"));
  if (seen.selection) given.set("s", seen.selection.map(Math.round).join("~"));
  if (seen.instant !== null) given.set("t", String(Math.round(seen.instant)));
  if (seen.picked) given.set("p", seen.picked.join("~"));
  if (seen.query) given.set("q", seen.query);
  if (seen.place !== null) given.set("n", String(seen.place + 1));
  if (seen.folded) given.set("c", seen.folded.join("~"));
  if (seen.scroll !== null) given.set("y", String(Math.round(seen.scroll)));
  for (const [key, value] of Object.entries(seen.page)) given.set(`m.${key}`, value);
  if (seen.boot) given.set("b", seen.boot);
  return `#${given}`;
}

/** Eight digits that differ between different data (FNV-1a). */
export function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
