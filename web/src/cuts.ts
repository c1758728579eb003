/** The stretches of time for which a page has the profile: slices of time, or else the phases. A free selection of time
 * snaps to their edges. */
import { entry } from "./data";
import { exact, instructions, stamp, time, words } from "./format";
import type { Selection } from "./selection";
import type { Range, Slices } from "./slices";
import { visible } from "./text";
import type { PageData } from "./types";

/** What the flame graph and the functions count. */
export interface Scope {
  /** The phases that are counted; null for the whole boot. */
  phases: string[] | null;
  /** The slices that are counted instead of phases. */
  slices: Range | null;
  /** What is counted, in words. */
  text: string;
}

interface Cut {
  name: string;
  from: number;
  to: number;
}

function cuts(data: PageData): Cut[] {
  const { phases, timeline } = data;
  return phases.name.flatMap((name, i) => {
    const from = phases.start_ns[i];
    const to = phases.end_ns[i] ?? timeline.end_ns;
    return typeof from === "number" && entry(data.phase_tree, name) ? [{ name, from, to }] : [];
  });
}

/** The cuts that a stretch of time snaps to: from the edge nearest to its start to that nearest to its end. */
export function snapped(all: Cut[], [from, to]: readonly [number, number]): Cut[] {
  const near = (time: number, edge: (cut: Cut) => number): number => {
    let best = 0;
    all.forEach((cut, i) => {
      if (Math.abs(edge(cut) - time) < Math.abs(edge(all[best] ?? cut) - time)) best = i;
    });
    return best;
  };
  const first = near(from, (cut) => cut.from);
  const last = near(to, (cut) => cut.to);
  if (last >= first) return all.slice(first, last + 1);
  const middle = (from + to) / 2;
  const inside = all.find((cut) => cut.from <= middle && middle < cut.to) ?? all[last];
  return inside ? [inside] : [];
}

/** What the reader's choice counts. */
export function scopeOf(data: PageData, selection: Selection): Scope {
  const { phase, stretch } = selection;
  if (stretch && data.sliced) return inSlices(data.sliced, stretch, "the selection");
  if (stretch) {
    const chosen = snapped(cuts(data), stretch);
    const [first, last] = [chosen[0], chosen.at(-1)];
    if (first && last) {
      const names = first === last ? `the phase ${words(first.name)}` : `${chosen.length} phases`;
      const text = `${names}, ${stamp(first.from)} to ${stamp(last.to)} s: the selection, at the edges of phases`;
      return { phases: chosen.map((cut) => cut.name), slices: null, text: visible(text) };
    }
  }
  if (phase !== null) return { phases: [phase], slices: null, text: `the phase ${visible(words(phase))}` };
  return { phases: null, slices: null, text: "the whole boot" };
}

/** What the reader's choice counts of processes and user functions: slices of time, those of a phase, too. Without slices
 * it is the whole boot. */
export function scopeOfProcesses(data: PageData, selection: Selection): Scope {
  const { sliced } = data;
  const whole = { phases: null, slices: null, text: "the whole boot" };
  if (!sliced?.about.processes) return whole;
  if (selection.stretch) return inSlices(sliced, selection.stretch, "the selection");
  const phase = cuts(data).find((cut) => cut.name === selection.phase);
  return phase ? inSlices(sliced, [phase.from, phase.to], `the phase ${visible(words(phase.name))}`) : whole;
}

function inSlices(sliced: Slices, stretch: readonly [number, number], what: string): Scope {
  const range = sliced.snapped(stretch);
  const { instructions: executed, idle } = sliced.sums(range);
  const slices = range[1] - range[0] + 1;
  const several = slices === 1 ? "1 slice of time" : `${exact(slices)} slices of time`;
  const edges = `${stamp(sliced.start(range[0]))} to ${stamp(sliced.about.end_ns[range[1]] ?? 0)} s`;
  const figures = `${instructions(executed)} instructions and ${time(idle)} idle`;
  const text = `${several}, ${edges}, exactly (${figures}): ${what}, at the nearest edges`;
  return { phases: null, slices: range, text };
}
