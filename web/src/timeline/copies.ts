/** Copies of what is shown: a link, a picture, an SVG file, a text. Where the clipboard is not allowed, a file. */
import { el } from "../dom";
import type { Chart } from "./chart";
import { drawing } from "./drawing";
import { asText } from "./shown";

function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = el("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

async function copyText(text: string, name: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return "Copied.";
  } catch {
    save(name, new Blob([text], { type: "text/plain" }));
    return `Saved as ${name}: this browser does not allow copies from here.`;
  }
}

/** The picture as it is on the screen: overview, ruler, and tracks with their labels. */
export async function picture(chart: Chart): Promise<Blob | null> {
  const parts = [chart.overview, chart.ruler];
  const high = parts.reduce((sum, part) => sum + part.height, chart.canvas.height);
  const whole = el("canvas", { width: chart.canvas.width, height: high });
  const context = whole.getContext("2d");
  if (!context) return null;
  let y = 0;
  for (const part of [...parts, chart.canvas]) {
    context.drawImage(part, 0, y);
    y += part.height;
  }
  const ratio = chart.canvas.width / chart.view.width;
  const top = chart.overview.height + chart.ruler.height;
  context.setTransform(ratio, 0, 0, ratio, 0, top);
  context.beginPath();
  context.rect(0, 0, chart.view.gutter - 4, chart.canvas.height / ratio);
  context.clip();
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = chart.palette.ink;
  for (const head of chart.layout.heads)
    context.fillText(head.label, 4 + 8 * head.level, head.y - chart.pane.scrollTop + 14);
  return new Promise((done) => whole.toBlob(done, "image/png"));
}

/** The buttons for copies; what happened is said in `status`. */
export function copyTools(chart: Chart, name: string, address: () => string, status: HTMLElement): HTMLElement[] {
  const tool = (text: string, act: () => Promise<string>): HTMLElement => {
    const button = el("button", { type: "button" }, text);
    button.addEventListener("click", () => {
      act().then(
        (said) => {
          status.textContent = said;
        },
        () => {
          status.textContent = "This browser does not allow it.";
        },
      );
    });
    return button;
  };
  const file = name.replace(/[^\w.-]+/g, "-").slice(0, 80) || "boot";
  return [
    tool("Copy link", () => copyText(address(), `${file}-link.txt`)),
    tool("Copy image", async () => {
      const png = await picture(chart);
      if (!png) return "This browser cannot make a picture.";
      try {
        await navigator.clipboard.write([new ClipboardItem({ "image/png": png })]);
        return "Copied.";
      } catch {
        save(`${file}-timeline.png`, png);
        return `Saved as ${file}-timeline.png.`;
      }
    }),
    tool("Save SVG", async () => {
      save(
        `${file}-timeline.svg`,
        new Blob([new XMLSerializer().serializeToString(drawing(chart, name))], { type: "image/svg+xml" }),
      );
      return `Saved as ${file}-timeline.svg.`;
    }),
    tool("Copy text", () => copyText(asText(chart, name), `${file}-timeline.md`)),
  ];
}
