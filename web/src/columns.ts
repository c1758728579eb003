/** Columns that many tables have: times, counts, code. */
import { el } from "./dom";
import { exact, instructions, stamp, time } from "./format";
import type { TableColumn } from "./table";

export type Figure<Row> = (row: Row) => number | null | undefined;

/** A column of numbers; `meaning` is the tooltip of its head. */
export function numbers<Row>(
  id: string,
  title: string,
  value: Figure<Row>,
  cell: (row: Row) => Node | string,
  meaning?: string,
): TableColumn<Row> {
  return { id, title, ...(meaning ? { meaning } : {}), number: true, value: (row) => value(row) ?? null, cell };
}

/** Durations, rounded; the tooltip has every nanosecond. */
export function durations<Row>(id: string, title: string, value: Figure<Row>, meaning?: string): TableColumn<Row> {
  return { ...numbers(id, title, value, (row) => time(value(row)), meaning), hint: nanoseconds(value) };
}

/** Instants in seconds. */
export function instants<Row>(id: string, title: string, value: Figure<Row>): TableColumn<Row> {
  return { ...numbers(id, title, value, (row) => stamp(value(row))), hint: nanoseconds(value) };
}

/** Instructions, rounded; the tooltip has every digit. */
export function instructionCounts<Row>(id: string, title: string, value: Figure<Row>): TableColumn<Row> {
  return { ...numbers(id, title, value, (row) => instructions(value(row))), hint: (row) => exact(value(row)) };
}

/** Counts with every digit. */
export function counts<Row>(id: string, title: string, value: Figure<Row>, meaning?: string): TableColumn<Row> {
  return numbers(id, title, value, (row) => exact(value(row)), meaning);
}

/** Text in the type of code. */
export function code<Row>(id: string, title: string, value: (row: Row) => string): TableColumn<Row> {
  return { id, title, value, cell: (row) => el("span", { class: "code" }, value(row)) };
}

/** The tooltip of a time: every nanosecond. */
export function nanoseconds<Row>(value: Figure<Row>): (row: Row) => string {
  return (row) => `${exact(value(row))} ns`;
}
