import "./style/page.css";
import "./style/figures.css";
import "./style/controls.css";
import "./style/tables.css";
import "./style/details.css";
import "./style/media.css";
import "./style/charts.css";
import "./style/comparison.css";
import "./style/scaling.css";
import "./style/study.css";
import "./style/timeline.css";
import { drawBoot } from "./boot_page";
import type { ComparisonPage } from "./comparison/data";
import { checkComparison, drawComparison } from "./comparison/page";
import { check, unpack } from "./data";
import { el } from "./dom";
import type { ExperimentPage } from "./experiment/data";
import { checkExperiment, drawExperiment } from "./experiment/page";
import type { ScalePage } from "./scaling/data";
import { checkScaling, drawScaling } from "./scaling/page";
import type { StudyPage } from "./study/data";
import { checkStudy, drawStudy } from "./study/page";
import { visible } from "./text";
import { unpackBytes } from "./timeline/data";

/** What the page can show; the data say which of it they are. */
function draw(data: unknown, columns: Uint8Array, page: HTMLElement): void {
  const format = typeof data === "object" && data !== null && "format" in data ? data.format : undefined;
  if (format === "firstlight-comparison-page")
    drawComparison(checkComparison(data as Partial<ComparisonPage>), columns, page);
  else if (format === "firstlight-experiment-page")
    drawExperiment(checkExperiment(data as Partial<ExperimentPage>), page);
  else if (format === "firstlight-scale-page") drawScaling(checkScaling(data as Partial<ScalePage>), page);
  else if (format === "firstlight-study-page") drawStudy(checkStudy(data as Partial<StudyPage>), page);
  else drawBoot(check(data), columns, page);
}

const page = document.getElementById("page");
const carried = document.getElementById("firstlight-data");
const columns = document.getElementById("firstlight-columns");
if (page && carried) {
  Promise.all([unpack(carried.textContent ?? ""), unpackBytes(columns?.textContent ?? "")])
    .then(([data, bytes]) => {
      carried.remove();
      columns?.remove();
      draw(data, bytes, page);
      document.documentElement.dataset.ready = "yes";
    })
    .catch((problem: unknown) => {
      const why = problem instanceof Error ? problem.message : String(problem);
      page.replaceChildren(
        el("p", { class: "waiting", role: "alert" }, `This report cannot be shown. ${visible(why, 500)}`),
      );
      document.documentElement.dataset.ready = "failed";
    });
}
