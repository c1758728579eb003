/** What a comparison page carries; `docs/reference/formats/comparison.md` and `docs/design/report-page.md` are the specification. */

import type { CallKind, SpanKind } from "../schema";
import type { SideData } from "../timeline/pair_section";

export const COMPARISON_VERSION = 1;

export interface Figures {
  ns: number;
  instructions: number | null;
  idle_ns: number | null;
  calls: number | null;
}

/** The parts of a change: gone and new call paths, more calls and the cost of each on the same paths. */
export type SplitPart = "gone_doubled_ns" | "new_doubled_ns" | "calls_doubled_ns" | "cost_doubled_ns";

/** The parts of a change by what it comes from. */
export type CausalPart = "caused_ns" | "moved_ns" | "accident_ns";

export interface Row {
  name: string;
  module: string | null;
  kind: string;
  presence: "both" | "only_a" | "only_b";
  /** The share of its calls that are doubtful, from 0 to 1; null where they are few. */
  doubtful: number | null;
  a: Figures | null;
  b: Figures | null;
  change: Figures;
  split: Record<SplitPart, number> | null;
  /** What is caused, what moved, and what is an accident; only rows of levels have it, of exact profiles. */
  parts?: Record<CausalPart, number> | null;
}

export interface Level {
  rows: Row[];
  left_out: Row & { count: number };
  unchanged: Row & { count: number };
  whole: Row;
}

export interface TreeRow extends Row {
  depth: number;
  total_a_ns: number;
  total_b_ns: number;
  total_change_ns: number;
  width_ns: number;
  pruned: boolean;
  node: number | null;
}

export interface OnlyRow extends TreeRow {
  path: string[];
  /** Its function is in the other boot, too, called from elsewhere. */
  elsewhere: boolean;
}

export interface OnlySum {
  count: number;
  total_ns: number;
}

export interface MergedTree {
  rows: TreeRow[];
  vanished: OnlyRow[];
  vanished_sum: OnlySum;
  new: OnlyRow[];
  new_sum: OnlySum;
  rest: Row;
  nodes: number;
  changed_nodes: number;
}

export interface Side {
  boot: string;
  mode: string;
  from: { mark: string };
  to: { mark: string };
}

export interface Moved {
  caller: string;
  node: number;
  lost: [string, number][];
  gained: [string, number][];
  moved_ns: number;
  net_ns: number;
}

export interface Renamed {
  old: string;
  new: string;
  total_a_ns: number;
  total_b_ns: number;
  why: string;
}

export interface ExactComparison {
  regime: "exact" | "live" | "imported";
  a: Side;
  b: Side;
  equal: boolean;
  totals: Row;
  levels: Record<string, Level>;
  hidden: (Row & { slack_a_ns: number | null; slack_b_ns: number | null })[];
  moved: Moved[];
  renamed: Renamed[];
  facts: { fact: string; a: string | null; b: string | null }[];
  tree: MergedTree | null;
}

export interface MeanRow {
  name: string;
  module: string;
  kind: string;
  a_mean_ns: number;
  b_mean_ns: number;
  change_ns: number;
  change_scaled: number;
  low_ns: number | null;
  high_ns: number | null;
  adjusted_p: number | null;
  differs: boolean;
  /** By how much the change may be off, because records do not show when a phase began; null for an unknown time. */
  unsure_ns: number | null;
}

export interface MeanLevel {
  name: string;
  scale: number;
  rows: MeanRow[];
  whole: MeanRow;
}

export interface NoisyComparison {
  regime: "noisy";
  a: string;
  b: string;
  first: string;
  last: string;
  a_boots: string[];
  b_boots: string[];
  a_ns: number[];
  b_ns: number[];
  paired: boolean;
  soft_percent: number;
  floor_percent: number;
  percent: number;
  interval_percent: [number, number] | null;
  levels: MeanLevel[];
}

export type Comparison = ExactComparison | NoisyComparison;

/** What a comparison comes to, in words. */
export interface Said {
  word: string;
  sentence: string;
  settled: boolean;
  regime: string;
  clock: string;
  /** Sort (`flag`, `band`, `input` or `text`), name, text. */
  lines: [string, string, string][];
  bridge?: string;
  description?: string[][] | null;
  too_few?: Record<string, string>;
}

export interface ComparisonPage {
  /** Of two boots: what their timelines have, and the mark that aligns them. */
  timelines?: [SideData, SideData];
  align?: string | null;
  /** Why two boots are not compared. */
  reason?: string;
  format: "firstlight-comparison-page";
  version: number;
  baseline: string;
  comparisons: Comparison[];
  said: Said[];
}

/** What the two sides are called. */
export function sides(comparison: Comparison): [string, string] {
  return comparison.regime === "noisy" ? [comparison.a, comparison.b] : [comparison.a.boot, comparison.b.boot];
}

/** The last part of a path, which is what a person calls a boot. */
export function shortName(path: string): string {
  return path.replace(/\/+$/, "").split("/").at(-1) || path;
}

/** Kinds that a row's name does not show. */
const NAMED_KINDS: readonly (CallKind | SpanKind)[] = [
  "task",
  "interrupt",
  "exception",
  "syscall",
  "probe",
  "unit",
  "async",
  "uevent_service",
];

/** A row's name, with its module, and its kind where the name does not show it. */
export function rowName(row: { name: string; module: string | null; kind: string }): string {
  const name = row.module ? `${row.name} [${row.module}]` : row.name;
  return (NAMED_KINDS as readonly string[]).includes(row.kind) ? `${name} (${row.kind.replace("_service", "")})` : name;
}

/** What a level is called above its table, and its first column. */
export const LEVELS: Record<string, { title: string; name: string; lead: string }> = {
  phases: { title: "Phases", name: "Phase", lead: "What each phase took." },
  initcalls: { title: "Initcalls", name: "Initcall", lead: "Each with what it called." },
  functions: { title: "Functions", name: "Function", lead: "What each did itself, wherever it was called from." },
  processes: { title: "Processes", name: "Process", lead: "What each executed in user mode and in the kernel." },
  services: { title: "Services", name: "Service", lead: "The instructions of their processes." },
  system_calls: { title: "System calls", name: "Call", lead: "Their instructions in the kernel." },
  files: { title: "Files", name: "File", lead: "The instructions of system calls on them." },
  packages: { title: "Packages", name: "Package", lead: "The instructions of their programs." },
  user_functions: {
    title: "Functions of user mode",
    name: "Function",
    lead: "What each did itself, in all processes.",
  },
  path: { title: "Critical path", name: "Owner", lead: "Of what ran side by side, only what the boot waited for." },
  devices: { title: "Devices", name: "Device", lead: "Their time on the critical path." },
  units: { title: "Units", name: "Unit", lead: "Their time on the critical path." },
};

export function levelTitle(level: string): string {
  return Object.hasOwn(LEVELS, level) ? (LEVELS[level]?.title ?? level) : level;
}
