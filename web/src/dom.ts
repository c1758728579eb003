/** Elements without HTML: text only ever arrives as text. */

type Attributes = Record<string, string | number | boolean | undefined>;
type Child = Node | string | null | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== undefined));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag) as SVGElementTagNameMap[K];
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== undefined));
  return element;
}

/** A section of the page with its heading and a line that says how to read it. */
export function section(id: string, title: string, lead: string, ...children: Child[]): HTMLElement {
  const heading = el("h2", { id: `${id}-title` }, title);
  return el(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    heading,
    el("p", { class: "lead" }, lead),
    ...children,
  );
}

/**
 * Draws when an element first has a width, and whenever it gets another. Not within the observer's own call: drawing
 * changes heights, and a browser reports sizes that change while it tells of sizes as an error.
 */
export function onWidth(element: Element, draw: () => void): void {
  let width = 0;
  new ResizeObserver(() => {
    requestAnimationFrame(() => {
      // What is hidden has none, and is drawn when it is shown.
      if (element.clientWidth === width || element.clientWidth === 0) return;
      width = element.clientWidth;
      draw();
    });
  }).observe(element);
}
