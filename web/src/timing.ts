/** What the page carries of the analyses of spans; `docs/design/report-page.md` is the specification. */

export type Figures = (number | null)[];
export type Texts = (string | null)[];

/** Rows of one analysis as columns; `rows` is how many the boot has, which may be more. */
interface Rows {
  rows: number;
  name: string[];
  start_ns: Figures;
  end_ns: Figures;
  duration_ns: Figures;
  grade: Texts;
}

export interface InitcallRows extends Rows {
  level: Texts;
  module: Texts;
  reason: Texts;
  probes: Figures;
  probes_ns: Figures;
  self_ns: Figures;
}

export interface DeviceRows extends Rows {
  driver: Texts;
  tries: Figures;
  deferrals: Figures;
  waited_ns: Figures;
  supplier: Texts;
  result: Texts;
}

export interface UnitRows extends Rows {
  critical: boolean[];
  wanted_ns: Figures;
  ordered_ns: Figures;
  held_ns: Figures;
  hardware_ns: Figures;
  waited_for: Texts;
  state: Texts;
  reason: Texts;
}

export interface UeventRows extends Rows {
  action: Texts;
  queued_ns: Figures;
  blocked_ns: Figures;
  service_start_ns: Figures;
  service_ns: Figures;
  worker: Texts;
}

export interface Queue {
  events: number;
  finished: number;
  busy_ns: number;
  share: number | null;
  most_waiting: number | null;
  most_at_work: number | null;
  workers: number;
  utilisation: number | null;
  mean_ns: number | null;
  median_ns: number | null;
  mode_ns: number | null;
  bin_ns: number | null;
  stddev_ns: number | null;
  latency_start_ns: number[];
  latency_count: number[];
  time_ns: number[];
  waiting: number[];
  at_work: number[];
}

export interface PathRows {
  kind: string[];
  name: string[];
  edge: Texts;
  start_ns: number[];
  end_ns: number[];
  duration_ns: number[];
  during: Texts;
  ran: Texts;
  before: Texts;
  after: Texts;
  service: Texts;
  reason: Texts;
  charged: {
    name: string[];
    service: Texts;
    ran_ns: number[];
    ahead_ns: number[];
    waited_ns: number[];
    idle_ns: number[];
    total_ns: number[];
  };
  processor: { name: string[]; kind: string[]; threads: number[]; run_ns: number[]; unexplained_ns: number[] };
  load: {
    bound: string[];
    start_ns: number[];
    end_ns: number[];
    duration_ns: number[];
    cpu_ns: number[];
    disk_ns: number[];
    idle_ns: number[];
  };
  goal: string;
  first: string;
  unfinished: number;
  beside: { kind: string[]; name: string[]; start_ns: number[]; duration_ns: number[]; slack_ns: number[] };
}

export interface GapRows {
  rows: number;
  gap_ns: number[];
  start_ns: number[];
  end_ns: number[];
  before: Texts;
  after: Texts;
  running: Texts;
}

export interface Timing {
  initcalls: InitcallRows;
  devices: DeviceRows;
  units: UnitRows;
  uevents: UeventRows;
  queue: Queue;
  path: PathRows;
  gaps: GapRows;
}

/** What a grade means, in short. */
export const GRADES: Record<string, string> = {
  exact: "two figures agree, or the clock cannot err",
  good: "one sound figure",
  coarse: "the clock's step is more than a hundredth of it",
  bounded: "a bound: part of it is missing or foreign",
  doubtful: "a known fault applies",
  unknown: "nothing says how long it took",
};
