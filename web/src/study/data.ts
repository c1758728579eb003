/** What the page of a study carries; `docs/design/report-page.md` is the specification. */
import type { TableData } from "../data_table";

export const STUDY_PAGE_VERSION = 1;

export interface Series {
  name: string;
  points: [number | string, number][];
  /** The ordinates as people read them. */
  texts: string[];
}

export interface Chart {
  key: string;
  title: string;
  form: "bars" | "stacked" | "lines" | "histogram";
  across: string;
  up: string;
  kind: string;
  series: Series[];
  logarithmic: boolean;
}

export interface Finding {
  claim: string;
  then: string;
  now: string;
  verdict: string;
  why: string;
}

export interface StudyPage {
  format: "firstlight-study-page";
  version: number;
  study: string;
  title: string;
  question: string;
  quick: boolean;
  findings: Finding[];
  findings_table: TableData;
  charts: Chart[];
  missing: { what: string; reason: string }[];
  notes: string[];
  recipe: string[];
}
