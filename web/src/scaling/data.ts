/** What the page of a scaling carries; `docs/design/report-page.md` is the specification. */
import type { TableData } from "../data_table";

export const SCALING_VERSION = 1;

export interface Curve {
  size: number[];
  /** Null where only the band is known. */
  law: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
  runner_up: (number | null)[] | null;
}

export interface Prediction {
  size: number;
  value: number | null;
  low: number | null;
  high: number | null;
}

export interface ScalePage {
  format: "firstlight-scale-page";
  version: number;
  subtitle: string;
  scale: {
    title: string;
    variable: string;
    unit: string;
    cost_unit: string | null;
    configurations: {
      name: string;
      regime: string;
      sizes: number[];
      costs: number[];
      law: string;
      runner_up: string | null;
      predictions: Prediction[];
      notes: string[];
    }[];
    notes: string[];
  };
  points: TableData;
  configurations: {
    law: string;
    certainty: string;
    lines: string[];
    curve: Curve;
    tables: Record<string, TableData>;
  }[];
  crossovers: { size: number; text: string; line: string | null }[];
}
