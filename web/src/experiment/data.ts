/** What the page of an experiment carries; `docs/reference/formats/experiment.md` and `docs/design/report-page.md` specify it. */

import type { TableData } from "../data_table";

export const EXPERIMENT_VERSION = 1;

export interface Cell {
  name: string;
  counted: number;
  time_ns: number | null;
  change_ns: number | null;
  why_not: string | null;
}

export interface Effect {
  factor: string;
  level: string;
  effect_ns: number | null;
  least_ns: number | null;
  most_ns: number | null;
  nothing: string | null;
}

export interface StageRow {
  stage: string;
  times_ns: (number | null)[];
  share_of: string | null;
}

export interface Results {
  experiment: string;
  title: string | null;
  mode: string;
  exact: { canary: boolean | null; varies: boolean };
  cells: Cell[];
  factors: { name: string }[];
  effects: Effect[];
  shares: { total_ns: number | null; factors: { factor: string; level: string; share_ns: number }[] };
  stages: { arms: string[]; rows: StageRow[] } | null;
}

export interface ExperimentPage {
  format: "firstlight-experiment-page";
  version: number;
  heading: string[];
  said: string[];
  tables: Record<string, TableData>;
  results: Results;
}
