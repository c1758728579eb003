/**
 * The filter language of the page: words, `-word`, `"two words"`, `field:text`, `field~text`, `field=text`, and
 * comparisons such as `dur>1ms`. The timeline and every table read it; `firstlight ui` has it for its list.
 */

export type Operator = ":" | "~" | "=" | ">" | ">=" | "<" | "<=";

export interface Term {
  /** Whether what matches is left out. */
  not: boolean;
  /** Null for a word. */
  field: string | null;
  operator: Operator;
  value: string;
  /** As it was typed. */
  typed: string;
}

const TERM = /(-?)(?:([a-z_]+)(:|~|>=|<=|>|<|=))?(?:"([^"]*)"|(\S+))/g;
const UNITS: Record<string, number> = { s: 1e9, ms: 1e6, us: 1e3, µs: 1e3, ns: 1, k: 1e3, m: 1e6, g: 1e9 };

/** The terms of a filter, in lower case. */
export function readTerms(text: string): Term[] {
  return [...text.toLowerCase().matchAll(TERM)].map(([typed, minus, field, operator, quoted, plain]) => ({
    not: minus === "-",
    field: field ?? null,
    operator: (operator ?? "~") as Operator,
    value: quoted ?? plain ?? "",
    typed,
  }));
}

/** A figure: `10ms` in nanoseconds, `3k`, `2m` and `1g` in thousands, millions and billions, or a plain number. */
export function readFigure(text: string): number | null {
  const found = /^(-?\d+(?:\.\d+)?)(s|ms|us|µs|ns|k|m|g)?$/.exec(text);
  return found ? Number(found[1]) * (found[2] === undefined ? 1 : (UNITS[found[2]] ?? 1)) : null;
}

/** Whether a figure is beyond a limit. */
export function compares(figure: number, operator: Operator, limit: number): boolean {
  if (operator === ">") return figure > limit;
  if (operator === ">=") return figure >= limit;
  if (operator === "<") return figure < limit;
  return operator === "<=" && figure <= limit;
}

/** Whether a text is what a term asks for. */
export function says(text: string, operator: Operator, value: string): boolean {
  return operator === "=" ? text.toLowerCase() === value : text.toLowerCase().includes(value);
}

/** A column as a filter sees it. */
export interface FilterColumn<Row> {
  names: string[];
  value: (row: Row) => string | number | null;
}

export interface RowFilter<Row> {
  matches: (row: Row) => boolean;
  /** Terms that mean nothing here. */
  wrong: string[];
}

/** Other words for a column, so that one filter serves the timeline and the tables. */
const ALSO: Record<string, string[]> = { dur: ["duration", "took"], name: [] };

/** A filter over rows: words look into the text of a row, terms into its columns. */
export function rowFilter<Row>(
  typed: string,
  text: (row: Row) => string,
  columns: FilterColumn<Row>[],
): RowFilter<Row> {
  const tests: ((row: Row) => boolean)[] = [];
  const wrong: string[] = [];
  const named = (field: string): FilterColumn<Row> | undefined => {
    const wanted = [field, ...(Object.hasOwn(ALSO, field) ? (ALSO[field] ?? []) : [])];
    const found = columns.find((column) => column.names.some((name) => wanted.includes(name)));
    return found ?? (field === "name" ? columns[0] : undefined);
  };
  for (const term of readTerms(typed)) {
    const column = term.field === null ? undefined : named(term.field);
    const figure = [":", "~", "="].includes(term.operator) ? null : readFigure(term.value);
    let test: ((row: Row) => boolean) | null = null;
    if (term.field === null) test = (row) => says(text(row), "~", term.value);
    else if (figure !== null && column) {
      test = (row) => {
        const value = column.value(row);
        return typeof value === "number" && compares(value, term.operator, figure);
      };
    } else if ([":", "~", "="].includes(term.operator)) {
      // A colon of a name such as `usb:1` is a part of a word.
      test = column
        ? (row) => says(String(column.value(row) ?? ""), term.operator, term.value)
        : (row) => says(text(row), "~", term.typed.replace(/^-/, "").replaceAll('"', ""));
    }
    if (test === null) wrong.push(term.typed);
    else {
      const wanted = test;
      tests.push(term.not ? (row) => !wanted(row) : wanted);
    }
  }
  return { matches: (row) => tests.every((test) => test(row)), wrong };
}
