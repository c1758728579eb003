/** udev as a queue: events over time, how long it was, how long they took. */
import { axisBottom, axisLeft } from "d3-axis";
import { type ScaleLinear, scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { el, onWidth, section, svg } from "./dom";
import { exact, share, time } from "./format";
import { kindFill } from "./palette";
import { DataTable } from "./table";
import type { Queue } from "./timing";
import { figure, instant, text } from "./timing_sections";
import type { PageData } from "./types";

const HEIGHT = 150;
const LEFT = 40;
const RIGHT = 34;
const BOTTOM = 24;
const WAIT = kindFill("idle", "");
const WORK = "var(--function-0)";

/** Steps as a closed shape above the axis. */
function steps(times: number[], values: number[], x: (t: number) => number, y: (v: number) => number): string {
  let path = `M${x(times[0] ?? 0)},${y(0)}`;
  times.forEach((at, i) => {
    path += `V${y(values[i] ?? 0)}H${x(times[i + 1] ?? at)}`;
  });
  return `${path}V${y(0)}Z`;
}

/** Time below, whole numbers at the left. */
function axes(
  chart: SVGSVGElement,
  x: ScaleLinear<number, number>,
  y: ScaleLinear<number, number>,
  room: number,
  most: number,
): void {
  const across = svg("g", { class: "axis", transform: `translate(0,${HEIGHT})` });
  select(across).call(
    axisBottom(x)
      .ticks(Math.max(2, Math.floor(room / 120)))
      .tickFormat((v) => time(Number(v))),
  );
  const up = svg("g", { class: "axis", transform: `translate(${LEFT},0)` });
  select(up).call(
    axisLeft(y)
      .ticks(Math.min(4, most))
      .tickFormat((v) => exact(Number(v))),
  );
  chart.append(across, up);
}

function overTime(queue: Queue, room: number): SVGSVGElement {
  const label = "Events waiting and at work over time";
  const chart = svg("svg", { width: room, height: HEIGHT + BOTTOM, role: "img", "aria-label": label });
  const [first, last] = [queue.time_ns[0] ?? 0, queue.time_ns.at(-1) ?? 1];
  const both = queue.waiting.map((waiting, i) => waiting + (queue.at_work[i] ?? 0));
  const most = both.reduce((a, b) => Math.max(a, b), 1);
  const x = scaleLinear()
    .domain([first, Math.max(last, first + 1)])
    .range([LEFT, room - RIGHT]);
  const y = scaleLinear().domain([0, most]).range([HEIGHT, 8]);
  chart.append(svg("path", { d: steps(queue.time_ns, both, x, y), fill: WAIT, class: "queue-waiting" }));
  chart.append(svg("path", { d: steps(queue.time_ns, queue.at_work, x, y), fill: WORK, class: "queue-work" }));
  axes(chart, x, y, room, most);
  return chart;
}

function histogram(queue: Queue, room: number): SVGSVGElement {
  const chart = svg("svg", { width: room, height: HEIGHT + BOTTOM, role: "img", "aria-label": "Latencies of events" });
  const bin = queue.bin_ns ?? 1;
  const end = (queue.latency_start_ns.at(-1) ?? 0) + bin;
  const x = scaleLinear()
    .domain([0, end])
    .range([LEFT, room - RIGHT]);
  const most = queue.latency_count.reduce((a, b) => Math.max(a, b), 1);
  const y = scaleLinear().domain([0, most]).range([HEIGHT, 8]);
  queue.latency_count.forEach((events, i) => {
    const start = queue.latency_start_ns[i] ?? 0;
    const bar = svg("rect", {
      x: x(start) + 1,
      y: y(events),
      width: Math.max(1, x(start + bin) - x(start) - 2),
      height: HEIGHT - y(events),
      fill: WORK,
      class: "latency-bin",
    });
    bar.append(svg("title", {}, `${time(start)} to ${time(start + bin)}: ${exact(events)} events`));
    chart.append(bar);
  });
  axes(chart, x, y, room, most);
  return chart;
}

export function queueSection(data: PageData): HTMLElement | null {
  const { queue, uevents } = data.timing;
  if (uevents.name.length === 0) return null;
  // Where no event has both of its instants there is nothing to draw, and axes without anything would look like a fault.
  const moved = queue.waiting.some((events) => events > 0) || queue.at_work.some((events) => events > 0);
  const draws = [...(moved ? [overTime] : []), ...(queue.latency_count.length > 0 ? [histogram] : [])];
  const charts = draws.map((draw) => {
    const place = el("div", { class: "waterfall" });
    onWidth(place, () => place.replaceChildren(draw(queue, Math.max(place.clientWidth, 320))));
    return place;
  });
  const workers =
    queue.workers > 0 && queue.utilisation !== null
      ? `${exact(queue.workers)} workers were seen, used ${share(queue.utilisation, 1)} of that time. `
      : "";
  const latency =
    queue.mean_ns === null
      ? "No event has both its arrival and its end: how long they took is not known."
      : `Latency: mean ${time(queue.mean_ns)}, median ${time(queue.median_ns)}, mode ${time(queue.mode_ns)} ` +
        `(in bins of ${time(queue.bin_ns)}), standard deviation ${time(queue.stddev_ns)}.`;
  const busy = !moved
    ? ""
    : `udev was busy for ${time(queue.busy_ns)}${queue.share === null ? "" : `, ${share(queue.share, 1)} of the boot`}; ` +
      `at most ${exact(queue.most_waiting)} events waited and ${exact(queue.most_at_work)} were at work at once. ${workers}`;
  const facts = busy + latency;
  const table = new DataTable<number>({
    label: "Uevents",
    rows: uevents.name.map((_, i) => i),
    filterText: (i) => uevents.name[i] ?? "",
    filterLabel: "Filter uevents",
    sort: { id: "duration", desc: true },
    step: 25,
    empty: "Nothing matches.",
    columns: [
      text("name", "Device", uevents.name, true),
      text("action", "Action", uevents.action),
      instant(uevents.start_ns),
      figure("duration", "Latency", uevents.duration_ns, "From its arrival to the end of udev's work"),
      figure("queued", "queued", uevents.queued_ns),
      figure("blocked", "blocked", uevents.blocked_ns, "Of that: held back by other events"),
      figure("service", "Service", uevents.service_ns, "A worker on it"),
      text("worker", "Worker", uevents.worker),
    ],
  });
  const lead = `${exact(queue.events)} events of devices, ${exact(queue.finished)} with both instants.${charts.length === 2 ? " Above: waiting (striped) and at work; below: how long they took." : ""}`;
  return section("udev", "udev's queue", lead, ...charts, el("p", { class: "note" }, facts), table.element);
}
