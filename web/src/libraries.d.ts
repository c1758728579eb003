/** The parts of d3-flame-graph 5 that the page uses; the library brings no types of its own. */
declare module "d3-flame-graph" {
  import type { Selection } from "d3-selection";

  export interface FlameNode<T> {
    data: T & { hide?: boolean; fade?: boolean };
    value: number;
    depth: number;
    x0: number;
    x1: number;
    id: number;
    highlight?: boolean;
    parent: FlameNode<T> | null;
    children?: FlameNode<T>[];
  }

  export interface FlameTooltip<T> {
    (): void;
    show(event: MouseEvent, node: FlameNode<T>): void;
    hide(): void;
    destroy(): void;
  }

  export interface FlameGraph<T> {
    (selection: Selection<HTMLElement, T, null, undefined>): void;
    width(pixels: number): this;
    cellHeight(pixels: number): this;
    transitionDuration(milliseconds: number): this;
    inverted(down: boolean): this;
    minFrameSize(pixels: number): this;
    sort(order: boolean | ((a: FlameNode<T>, b: FlameNode<T>) => number)): this;
    resetHeightOnZoom(reset: boolean): this;
    tooltip(tooltip: FlameTooltip<T>): this;
    setColorMapper(mapper: (node: FlameNode<T>, original: string) => string): this;
    setSearchMatch(match: (node: FlameNode<T>, term: string) => boolean): this;
    setSearchHandler(handler: (results: FlameNode<T>[], sum: number, total: number) => void): this;
    setDetailsHandler(handler: (text: string | null) => void): this;
    onClick(handler: (node: FlameNode<T>) => void): this;
    search(term: string): void;
    clear(): void;
    zoomTo(node: FlameNode<T>): void;
    resetZoom(): void;
    update(data?: T): this;
    destroy(): this;
  }

  export default function flamegraph<T>(): FlameGraph<T>;
}
