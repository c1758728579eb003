/** The timeline of two boots: the choice of the mark that aligns them, and the list of what differs. */
import { address } from "../address";
import { signed } from "../comparison/signed";
import { el } from "../dom";
import { exact, time, words } from "../format";
import { DataTable } from "../table";
import { visible } from "../text";
import type { Log } from "./console_log";
import { readTimeline, type TimelineDescription } from "./data";
import { bothGaps, type GapTimes } from "./gaps";
import { bothLogs, type Difference, differences, pairOf, type Side, sharedMarks } from "./pair";
import { timelineSection } from "./section";

export interface SideData {
  name: string;
  timeline: TimelineDescription;
  marks: { mark: string[]; time_ns: (number | null)[] };
  log: { time_ns: (number | null)[]; text: string[]; lines: number };
  gaps: GapTimes;
}

const MOST = 400;

/** The section of both boots. `align` is the mark that the reader of the command line chose. */
export function pairSection(sides: [SideData, SideData], align: string | null, columns: Uint8Array): HTMLElement {
  let at = 0;
  const [a, b] = sides.map((side): Side => {
    const timeline = readTimeline(side.timeline, columns.subarray(at, at + side.timeline.bytes));
    at += side.timeline.bytes;
    return { name: side.name, timeline, marks: side.marks };
  }) as [Side, Side];
  const shared = sharedMarks(a, b);
  const chosen = shared.find(({ mark }) => mark === align) ?? shared[0];
  let mark = chosen?.mark ?? "";
  const offsetOf = (): number => {
    const found = shared.find((each) => each.mark === mark);
    return found ? found.a - found.b : 0;
  };
  let pair = pairOf(a, b, offsetOf());
  const logsOf = (): Log[] => bothLogs(sides[0].log, sides[1].log, offsetOf());
  const said = el("p", { class: "note", role: "status" });
  const say = (): void => {
    const by = offsetOf();
    const where = mark === "" ? "at their beginnings, for they share no mark" : `at the mark ${words(mark)}`;
    said.textContent = visible(
      `A is ${a.name}, B is ${b.name}; aligned ${where}. B is ${by === 0 ? "not moved" : `moved by ${signed(by)}`}.`,
    );
  };
  const name = visible(`${a.name} and ${b.name}`, 100);
  const { element, chart, restore, search } = timelineSection(pair, {
    name,
    marks: sides[0].marks,
    logs: logsOf(),
    gaps: () => bothGaps(sides[0].gaps, sides[1].gaps, offsetOf()),
    more: () => [],
    lead: "Both boots on one axis, each track of A above that of B. A red edge: longer than in the other boot; a blue one: shorter; a dashed one: in this boot only.",
  });
  const table = new DataTable<Difference>({
    label: "Bars that differ",
    rows: differences(pair, MOST),
    step: 15,
    filterText: (each) => `${each.group} ${each.label} ${each.name}`,
    filterLabel: "Filter the differences",
    empty: "Every bar of A is in B and lasts as long.",
    sort: { id: "size", desc: true },
    columns: [
      { id: "kind", title: "Kind", value: (each) => `${each.group} › ${visible(each.label, 60)}` },
      {
        id: "name",
        title: "Name",
        value: (each) => visible(each.name, 100),
        cell: (each) => {
          const button = el("button", { type: "button", class: "link" }, visible(each.name, 100));
          button.addEventListener("click", () => show(each));
          return button;
        },
      },
      { id: "a", title: "A", number: true, value: (each) => each.a, cell: (each) => time(each.a) },
      { id: "b", title: "B", number: true, value: (each) => each.b, cell: (each) => time(each.b) },
      {
        id: "size",
        title: "Change",
        number: true,
        value: (each) => Math.abs(each.change),
        cell: (each) => signed(each.change),
        hint: (each) => `${exact(each.change)} ns`,
      },
    ],
  });
  const show = ({ spot }: Difference): void => {
    const track = pair.tracks[spot.track];
    const lane = track?.lanes[spot.lane];
    if (!track || !lane) return;
    chart.view.show(lane.from(spot.i) - lane.length(spot.i), lane.to(spot.i) + lane.length(spot.i));
    chart.pick({ track, lane, i: spot.i }, true);
    element.scrollIntoView();
  };
  const alignAt = (chosenMark: string): void => {
    mark = chosenMark;
    marks.value = mark;
    pair = pairOf(a, b, offsetOf());
    chart.replace(pair, logsOf());
    search();
    table.setRows(differences(pair, MOST));
    say();
  };
  const marks = el(
    "select",
    {},
    ...shared.map((each) => el("option", { value: each.mark }, visible(words(each.mark), 40))),
  );
  marks.value = mark;
  marks.addEventListener("change", () => {
    alignAt(marks.value);
    address.changed();
  });
  say();
  const tools = shared.length > 1 ? el("label", { class: "choice" }, "Aligned at the mark ", marks) : null;
  element.querySelector(".tl-tools")?.before(...[tools, said].filter((part) => part !== null));
  element.append(el("h3", {}, "What differs, largest first"), table.element);
  address.keep("align", {
    read: () => mark || null,
    write: (text) => {
      const wanted = text ?? chosen?.mark;
      if (wanted !== undefined && wanted !== mark && shared.some((each) => each.mark === wanted)) alignAt(wanted);
    },
  });
  restore();
  return element;
}
