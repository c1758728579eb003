/** The types of what the report carries. `docs/design/report-page.md` is the specification. */

import type { TableData } from "./data_table";
import type { Slices, SlicesDescription } from "./slices";
import type { TimelineDescription } from "./timeline/data";
import type { Timing } from "./timing";

type Column = (number | null)[];

export interface Failure {
  reason: string;
  detail: string;
  console_tail: string[];
}

export interface BootInfo {
  name: string;
  mode: string;
  status: string;
  failure: Failure | null;
  clock: string;
  virtual: boolean;
  about: [string, string][];
  totals: { instructions: number | null; virtual_ns: number | null; idle_ns: number | null };
  missing: string[];
  unreliable: Unreliable | null;
  repeat: string;
}

export interface Marks {
  mark: string[];
  time_ns: Column;
  instructions: Column;
  idle_ns: Column;
  source: string[];
  detail: string[];
}

export interface Spans {
  name: string[];
  level: (string | null)[];
  track: string[];
  start_ns: Column;
  end_ns: Column;
  instructions: Column;
  idle_ns: Column;
}

export interface Phases extends Spans {
  /** How far the time of each may be off: 0 where its marks are known, null where nothing bounds it. */
  unsure_ns: Column;
}

/** The calling-context tree, one entry of each column per node; names are indices into `strings`. */
export interface TreeColumns {
  parent: number[];
  name: number[];
  module: number[];
  kind: number[];
  calls: number[];
  self_instructions: number[];
  self_ns: Column;
  folded: number[];
}

export interface PhaseTree {
  node: number[];
  calls: number[];
  self_instructions: number[];
  self_ns: Column;
}

export interface FunctionColumns {
  name: number[];
  module: number[];
  kind: number[];
  count: number[];
  total_instructions: number[];
  total_ns: Column;
  self_instructions: number[];
  self_ns: Column;
  max_sub: number[];
  max_sub_count: Column;
  /** The cost of the emulated machine that most of the function's self is; -1 for none. */
  machine: number[];
}

/** Kernel and userspace in one tree: processes, their user functions, and the system calls that these made. */
export interface ProcessTree extends TreeColumns {
  pruning: Pruning & { function_share: number };
}

/** Functions of user mode, those with the most instructions first. */
export interface UserFunctions {
  /** How many the boot has; the page may have fewer. */
  rows: number;
  /** What all of them executed. */
  instructions: number;
  name: string[];
  file: string[];
  self_instructions: number[];
  self_ns: number[];
  calls: Column;
  call_instructions: Column;
}

export interface Pruning {
  share: number;
  depth: number;
  nodes: number;
  kept: number;
}

export interface Invariant {
  name: string;
  holds: boolean;
  value: string;
  /** The largest value that holds; null where another figure is it. */
  limit: number | null;
  /** What cannot be relied on when it is broken, in words. */
  concerns: string;
  functions: string[];
}

/** What cannot be relied on, because an invariant of the recording does not hold. */
export interface Unreliable {
  text: string;
  broken: string[];
  hint: string;
}

export interface Source {
  file: string;
  /** Null: it was not recognised, and only kept. */
  format: string | null;
  understood: number;
  not_understood: number;
  clock: string;
  fit: string;
  problems: string[];
  notes: string[];
}

export interface Records {
  records: number;
  sources: Source[];
  contradictions: { what: string; statements: [string, string][] }[];
}

/** Columns of the processes, each behind the one that created it. */
export interface Processes {
  /** How many the boot has; the page may have fewer. */
  rows: number;
  /** The command line. */
  name: string[];
  /** The kernel's name of the process. */
  comm: string[];
  /** The path of the executable; empty for a thread of the kernel. */
  image: string[];
  service: string[];
  started_by: string[];
  pid: number[];
  depth: number[];
  start_ns: Column;
  end_ns: Column;
  cpu_ns: Column;
  wait_ns: Column;
  user_instructions: Column;
  kernel_instructions: Column;
  interrupt_instructions: Column;
  calls: Column;
  /** Of each, triples of a state (0 running, 1 runnable, 2 blocked), a start and an end. */
  parts: number[][];
}

/** A known cause that the boot has. */
export interface Finding {
  id: string;
  sort: "cause" | "feature" | "machine";
  title: string;
  cost_ns: number;
  share: number;
  certainty: string;
  remedy: string;
  /** The time that other findings have, too. */
  shares: { title: string; ns: number }[];
  /** Intervals: start and end in turn. */
  places: number[];
}

/** What the first part of the data says of the second one. */
export interface Later {
  /** How many rows the sections have. */
  rows: Record<"flame" | "functions" | "user-functions" | "initcalls" | "processes" | "facts", number>;
  /** Whether the call tree has times. */
  timed: boolean;
  /** The function with the most instructions of its own. */
  hottest: { function: string; self_instructions: number } | null;
}

/** What the head of the page and the timeline are drawn from. */
export interface FirstData {
  format: "firstlight-page";
  version: number;
  boot: BootInfo;
  records: Records;
  marks: Marks;
  phases: Phases;
  /** Costs of the emulated machine; null of a boot that was not recorded exactly. */
  machine: TableData | null;
  findings: Finding[];
  timeline: TimelineDescription;
  timing: Timing;
  log: { time_ns: Column; text: string[]; lines: number };
  later: Later;
}

/** What all other sections are drawn from. */
export interface LaterData {
  strings: string[];
  initcalls: Spans & { rows?: number };
  tree: TreeColumns;
  phase_tree: Record<string, PhaseTree>;
  process_tree: ProcessTree;
  user_functions: UserFunctions;
  /** Null where the boot has none. */
  slices: SlicesDescription | null;
  functions: FunctionColumns;
  phase_functions: Record<string, FunctionColumns>;
  pruning: Pruning;
  processes: Processes;
  facts: { fact: string[]; value: string[]; facts: number };
  invariants: Invariant[];
}

export interface PageData extends FirstData, LaterData {
  /** The slices with their columns, when the page has read them. */
  sliced?: Slices;
}
