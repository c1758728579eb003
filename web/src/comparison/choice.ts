/** A row of buttons of which one is chosen, and what belongs to it is shown. */
import { address } from "../address";
import { el } from "../dom";

let groups = 0;

export interface Choice {
  value: string;
  title: string;
}

/** Radio buttons that look like a switch; `choose` is called with the first value at once. The address keeps the choice
 * under `key`. */
export function choice(label: string, key: string, all: Choice[], choose: (value: string) => void): HTMLElement {
  groups += 1;
  const name = `choice-${groups}`;
  const radios: HTMLInputElement[] = [];
  const buttons = all.map(({ value, title }, i) => {
    const radio = el("input", { type: "radio", name, value, checked: i === 0 });
    radio.addEventListener("change", () => {
      choose(value);
      address.changed();
    });
    radios.push(radio);
    return el("label", {}, radio, el("span", {}, title));
  });
  const first = all[0];
  if (first) choose(first.value);
  address.keep(key, {
    read: () => radios.slice(1).find((radio) => radio.checked)?.value ?? null,
    write: (text) => {
      const radio = radios.find(({ value }) => value === text) ?? radios[0];
      if (!radio || radio.checked) return;
      radio.checked = true;
      choose(radio.value);
    },
  });
  return el("fieldset", { class: "units" }, el("legend", { class: "unseen" }, label), ...buttons);
}
