/** Prepares the page for printing: opens the folded known causes and lets drawings shrink to the width of the paper. */

/** Prepares the page when it is printed, and undoes it afterwards. */
export function printing(page: HTMLElement): void {
  let undo: (() => void)[] = [];
  addEventListener("beforeprint", () => {
    for (const details of page.querySelectorAll<HTMLDetailsElement>(".tl-answers details:not([open])")) {
      details.open = true;
      undo.push(() => {
        details.open = false;
      });
    }
    // A drawing without a view box would be cut where it is made smaller.
    for (const drawing of page.querySelectorAll<SVGSVGElement>("main svg[width][height]:not([viewBox])")) {
      drawing.setAttribute("viewBox", `0 0 ${drawing.getAttribute("width")} ${drawing.getAttribute("height")}`);
      undo.push(() => drawing.removeAttribute("viewBox"));
    }
  });
  addEventListener("afterprint", () => {
    for (const act of undo) act();
    undo = [];
  });
}
