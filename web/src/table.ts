/** One sortable, filterable table for the whole page; TanStack Table keeps the rows, this draws them. */
import {
  type ColumnDef,
  columnFilteringFeature,
  constructTable,
  createFilteredRowModel,
  createPaginatedRowModel,
  createSortedRowModel,
  globalFilteringFeature,
  rowPaginationFeature,
  rowSortingFeature,
  tableFeatures,
} from "@tanstack/table-core";
import { storeReactivityBindings } from "@tanstack/table-core/store-reactivity-bindings";
import { address } from "./address";
import { el } from "./dom";
import { type RowFilter, rowFilter } from "./filter";

const features = tableFeatures({
  coreReactivityFeature: storeReactivityBindings(),
  rowSortingFeature,
  columnFilteringFeature,
  globalFilteringFeature,
  rowPaginationFeature,
  sortedRowModel: createSortedRowModel(),
  filteredRowModel: createFilteredRowModel(),
  paginatedRowModel: createPaginatedRowModel(),
});

type Value = string | number | null;

/** A row as the library takes it: it wants objects, and the page's rows are often plain indices. */
interface Held<Row> {
  row: Row;
}

export interface TableColumn<Row> {
  id: string;
  title: string;
  /** What the head's tooltip says of the column. */
  meaning?: string;
  value: (row: Row) => Value;
  /** What stands in the cell; without it, the value. */
  cell?: (row: Row) => Node | string;
  /** The exact figure behind a rounded one. */
  hint?: (row: Row) => string | undefined;
  number?: boolean;
  /** It names the row: in narrow windows it stands above the other cells. Without any, the first text does. */
  main?: boolean;
}

export interface TableOptions<Row> {
  label: string;
  /** What the address calls it; without it, its label. No two tables of a page have one. */
  key?: string;
  columns: TableColumn<Row>[];
  rows: Row[];
  /** The text that the filter box looks in; without it there is no box. */
  filterText?: (row: Row) => string;
  filterLabel?: string;
  sort?: { id: string; desc: boolean };
  /** How many rows are shown at first, and more at each press of the button. */
  step?: number;
  empty?: string;
}

/** Draws the table into a new element; `setRows` changes its rows and keeps order, filter and place. */
export class DataTable<Row> {
  readonly element: HTMLElement;
  readonly #options: TableOptions<Row>;
  readonly #table;
  readonly #head = el("tr", { role: "row" });
  readonly #body = el("tbody", { role: "rowgroup" });
  readonly #count = el("p", { class: "count", role: "status" });
  readonly #more = el("div", { class: "more" });
  readonly #main: TableColumn<Row> | undefined;
  #box: HTMLInputElement | null = null;
  #filter: RowFilter<Row> = { matches: () => true, wrong: [] };

  constructor(options: TableOptions<Row>) {
    this.#options = options;
    this.#main = options.columns.find((column) => column.main) ?? options.columns.find((column) => !column.number);
    const columns: ColumnDef<typeof features, Held<Row>>[] = options.columns.map((column) => ({
      id: column.id,
      accessorFn: ({ row }: Held<Row>) => column.value(row),
      sortDescFirst: column.number === true,
      sortFn: (a, b, id) => order(a.getValue<Value>(id), b.getValue<Value>(id)),
    }));
    this.#table = constructTable({
      features,
      columns,
      data: hold(options.rows),
      globalFilterFn: (row) => this.#filter.matches(row.original.row),
      getColumnCanGlobalFilter: (column) => column.id === options.columns[0]?.id,
      initialState: {
        sorting: options.sort ? [options.sort] : [],
        pagination: { pageIndex: 0, pageSize: options.step ?? 50 },
      },
    });
    // Narrow windows show rows as blocks: the roles stay those of a table.
    const table = el(
      "table",
      { role: "table" },
      el("caption", { class: "unseen" }, options.label),
      el("thead", { role: "rowgroup" }, this.#head),
      this.#body,
    );
    const frame = el(
      "div",
      {
        class: options.columns.length > 3 ? "scroll blocks" : "scroll",
        tabindex: 0,
        role: "region",
        "aria-label": `Table: ${options.label}`,
      },
      table,
    );
    this.element = el("div", { class: "data-table" }, this.#filterBox(), frame, this.#more);
    this.redraw();
    this.#keep();
  }

  setRows(rows: Row[]): void {
    this.#table.setOptions((old) => ({ ...old, data: hold(rows) }));
    this.redraw();
  }

  /** Shows only rows that the filter lets through; `filter.ts` has the language. */
  filter(typed: string): void {
    const columns = this.#options.columns.map(({ id, title, value }) => ({
      names: [
        id,
        title
          .toLowerCase()
          .replace(/ \(.*\)$/, "")
          .replaceAll(" ", "_"),
      ],
      value,
    }));
    this.#filter = rowFilter(typed, this.#options.filterText ?? (() => ""), columns);
    this.#table.setGlobalFilter(typed.trim() || undefined);
    this.redraw();
  }

  redraw(): void {
    this.#drawHead();
    this.#drawBody();
  }

  /** Filter, order and number of rows are in the address. */
  #keep(): void {
    const { label, sort, columns } = this.#options;
    const key = this.#options.key ?? label.toLowerCase().replace(/[^a-z]+/g, "-");
    const { pageSize } = this.#table.store.state.pagination;
    const box = this.#box;
    if (box) {
      address.keep(`${key}.filter`, {
        read: () => box.value || null,
        write: (text) => {
          box.value = text ?? "";
          this.filter(box.value);
        },
      });
    }
    const first = orderText(sort);
    address.keep(`${key}.sort`, {
      read: () => {
        const now = orderText(this.#table.store.state.sorting[0]);
        return now === first ? null : now;
      },
      write: (text) => {
        const [, minus, id] = /^(-?)(.*)$/s.exec(text ?? first) ?? [];
        if (id !== "" && !columns.some((column) => column.id === id)) return;
        this.#table.setSorting(id ? [{ id, desc: minus === "-" }] : []);
        this.redraw();
      },
    });
    address.keep(`${key}.rows`, {
      read: () => {
        const size = this.#table.store.state.pagination.pageSize;
        return size === pageSize ? null : String(size);
      },
      write: (text) => {
        const size = /^\d{1,6}$/.test(text ?? "") ? Number(text) : pageSize;
        this.#table.setPageSize(Math.max(pageSize, size));
        this.#drawBody();
      },
    });
  }

  #filterBox(): HTMLElement | null {
    const { filterText, filterLabel } = this.#options;
    if (!filterText) return null;
    const box = el("input", {
      type: "search",
      placeholder: filterLabel ?? "Filter",
      "aria-label": filterLabel ?? "Filter",
      title: `Words, -word, and the columns: ${this.#fields().join(", ")}; such as ${this.#example()}`,
      maxlength: 500,
    });
    box.addEventListener("input", () => {
      this.filter(box.value);
      address.changed();
    });
    this.#box = box;
    return el("div", { class: "toolbar" }, box, this.#count);
  }

  #fields(): string[] {
    return this.#options.columns.map(({ id }) => id);
  }

  #example(): string {
    const figure = this.#options.columns.find((column) => column.number)?.id;
    return figure === undefined ? `${this.#fields()[0]}~text` : `${figure}>1ms`;
  }

  #drawHead(): void {
    const cells = this.#options.columns.map((column) => {
      const sorted = this.#table.getColumn(column.id)?.getIsSorted() ?? false;
      const mark = sorted === "desc" ? "▼" : sorted === "asc" ? "▲" : "";
      const order = el("span", { class: "order", "aria-hidden": "true" }, mark);
      const button = el(
        "button",
        { type: "button", title: column.meaning },
        column.number ? order : null,
        column.title,
        column.number ? null : order,
      );
      button.addEventListener("click", () => {
        this.#table.getColumn(column.id)?.toggleSorting();
        this.redraw();
        address.changed();
        this.#head.querySelector<HTMLElement>(`th[data-column="${column.id}"] button`)?.focus();
      });
      const direction = sorted === "desc" ? "descending" : sorted === "asc" ? "ascending" : "none";
      const attributes = { scope: "col", role: "columnheader", "aria-sort": direction, "data-column": column.id };
      return el("th", { ...attributes, class: column.number ? "number" : undefined }, button);
    });
    this.#head.replaceChildren(...cells);
  }

  #drawBody(): void {
    const { columns, empty } = this.#options;
    const shown = this.#table.getRowModel().rows;
    const rows = shown.map(({ original: { row } }) => {
      const cells = columns.map((column) => {
        const content = column.cell?.(row) ?? String(column.value(row) ?? "–");
        const cell = el("td", { role: "cell", "data-title": column.title, title: column.hint?.(row) }, content);
        cell.classList.toggle("number", column.number === true);
        cell.classList.toggle("main", column === this.#main);
        cell.classList.toggle("unknown", ["", "–"].includes(cell.textContent));
        return cell;
      });
      return el("tr", { role: "row" }, ...cells);
    });
    if (rows.length === 0) {
      const cell = el("td", { role: "cell", colspan: columns.length, class: "empty" }, empty ?? "No row.");
      rows.push(el("tr", { role: "row" }, cell));
    }
    this.#body.replaceChildren(...rows);
    const matching = this.#table.getFilteredRowModel().rows.length;
    const all = this.#options.filterText ? this.#table.getCoreRowModel().rows.length : matching;
    const of = matching === all ? "" : ` of ${all.toLocaleString("en")}`;
    const wrong = this.#filter.wrong.map(
      (term) => ` “${term}” is no term: the columns are ${this.#fields().join(", ")}.`,
    );
    this.#count.textContent = `${matching.toLocaleString("en")}${of} ${all === 1 ? "row" : "rows"}${wrong.length > 0 ? "." : ""}${wrong.join("")}`;
    this.#drawMore(matching - shown.length);
  }

  #drawMore(left: number): void {
    if (left <= 0) {
      this.#more.replaceChildren();
      return;
    }
    const grow = (by: number): void => {
      this.#table.setPageSize((size: number) => size + by);
      this.#drawBody();
      address.changed();
    };
    const step = Math.min(left, 200);
    const next = el("button", { type: "button" }, `Show ${step} more`);
    next.addEventListener("click", () => grow(step));
    const all = left > step ? el("button", { type: "button" }, `Show all ${left.toLocaleString("en")} more`) : null;
    all?.addEventListener("click", () => grow(left));
    this.#more.replaceChildren(...[next, all].filter((button) => button !== null));
  }
}

/** The order of a table as text: a column, with a minus from the largest to the smallest; nothing is not an order. */
function orderText(order: { id: string; desc: boolean } | undefined): string {
  return order ? `${order.desc ? "-" : ""}${order.id}` : "";
}

function hold<Row>(rows: Row[]): Held<Row>[] {
  return rows.map((row) => ({ row }));
}

/** Numbers by size, text by its letters; what is not known comes before all. */
function order(a: Value | undefined, b: Value | undefined): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [left, right] = [String(a ?? ""), String(b ?? "")];
  return left < right ? -1 : left > right ? 1 : 0;
}
