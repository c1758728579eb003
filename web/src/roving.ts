/** A group of elements with one stop of the tab key: the arrow keys, Home and End lead from one to the next. */
export function rove(group: Element, items: (HTMLElement | SVGElement)[], current: number): void {
  const stop = (at: number): void => {
    for (const [i, item] of items.entries()) item.setAttribute("tabindex", i === at ? "0" : "-1");
  };
  stop(Math.max(0, current));
  const at = (target: EventTarget | null): number => items.indexOf(target as HTMLElement);
  group.addEventListener("focusin", ({ target }) => {
    if (at(target) >= 0) stop(at(target));
  });
  group.addEventListener("keydown", (event) => {
    if (!(event instanceof KeyboardEvent) || event.ctrlKey || event.metaKey || event.altKey) return;
    const here = at(event.target);
    const moves: Record<string, number> = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: items.length - 1 };
    const next = items[moves[event.key] ?? -1];
    if (here < 0 || moves[event.key] === undefined) return;
    event.preventDefault();
    next?.focus();
  });
}
