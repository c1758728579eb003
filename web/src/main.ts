import "./style/page.css";
import "./style/figures.css";
import "./style/controls.css";
import "./style/tables.css";
import "./style/details.css";
import "./style/charts.css";
import "./style/comparison.css";
import "./style/scaling.css";
import "./style/study.css";
import "./style/timeline.css";
import "./style/media.css";
import { address } from "./address";
import { drawBoot } from "./boot_page";
import { carried, shown } from "./carried";
import type { ComparisonPage } from "./comparison/data";
import { checkComparison, drawComparison } from "./comparison/page";
import { check, checkLater, unpack } from "./data";
import { el } from "./dom";
import type { ExperimentPage } from "./experiment/data";
import { checkExperiment, drawExperiment } from "./experiment/page";
import { printing } from "./print";
import type { ScalePage } from "./scaling/data";
import { checkScaling, drawScaling } from "./scaling/page";
import type { StudyPage } from "./study/data";
import { checkStudy, drawStudy } from "./study/page";
import { visible } from "./text";
import { unpackBytes } from "./timeline/data";

/** What the page can show; the data say which of it they are. The answer is what draws the rest of the page, if any. */
function draw(data: unknown, columns: Uint8Array, page: HTMLElement): ReturnType<typeof drawBoot> | undefined {
  const format = typeof data === "object" && data !== null && "format" in data ? data.format : undefined;
  if (format === "firstlight-comparison-page")
    drawComparison(checkComparison(data as Partial<ComparisonPage>), columns, page);
  else if (format === "firstlight-experiment-page")
    drawExperiment(checkExperiment(data as Partial<ExperimentPage>), page);
  else if (format === "firstlight-scale-page") drawScaling(checkScaling(data as Partial<ScalePage>), page);
  else if (format === "firstlight-study-page") drawStudy(checkStudy(data as Partial<StudyPage>), page);
  else return drawBoot(check(data), columns, page);
  return undefined;
}

/** Says why something is not there. */
function failed(said: string, problem: unknown): HTMLElement {
  const why = problem instanceof Error ? problem.message : String(problem);
  document.documentElement.dataset.ready = "failed";
  return el("p", { class: "waiting", role: "alert" }, `${said} ${visible(why, 500)}`);
}

/** Draws what comes first, while the browser still reads the rest of the file; then, when it is seen, the rest. */
async function open(): Promise<void> {
  const texts = await Promise.all([carried("firstlight-data"), carried("firstlight-columns")]);
  const page = document.getElementById("page");
  if (!page) return;
  let rest: ReturnType<typeof draw>;
  address.open();
  try {
    const [data, columns] = await Promise.all([unpack(texts[0]), unpackBytes(texts[1])]);
    rest = draw(data, columns, page);
  } catch (problem) {
    page.replaceChildren(failed("This report cannot be shown.", problem));
    return;
  }
  printing(page);
  try {
    await shown();
    performance.mark("first-picture-shown");
    const [later, slices] = await Promise.all([carried("firstlight-later"), carried("firstlight-slices")]);
    if (rest) await rest(checkLater(await unpack(later)), await unpackBytes(slices));
    address.drawn();
    performance.mark("page-drawn");
    document.documentElement.dataset.ready = "yes";
  } catch (problem) {
    (document.getElementById("main") ?? page).append(failed("The rest of this report cannot be shown.", problem));
  }
}

open();
