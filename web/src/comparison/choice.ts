/** A row of buttons of which one is chosen, and what belongs to it is shown. */
import { el } from "../dom";

let groups = 0;

export interface Choice {
  value: string;
  title: string;
}

/** Radio buttons that look like a switch; `choose` is called with the first value at once. */
export function choice(label: string, all: Choice[], choose: (value: string) => void): HTMLElement {
  groups += 1;
  const name = `choice-${groups}`;
  const buttons = all.map(({ value, title }, i) => {
    const radio = el("input", { type: "radio", name, value, checked: i === 0 });
    radio.addEventListener("change", () => choose(value));
    return el("label", {}, radio, el("span", {}, title));
  });
  const first = all[0];
  if (first) choose(first.value);
  return el("fieldset", { class: "units" }, el("legend", { class: "unseen" }, label), ...buttons);
}
