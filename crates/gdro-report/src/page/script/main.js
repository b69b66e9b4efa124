// Draws what the page has a place for.

const DRAW = {
  "risk-chart": riskChart,
  "gains-chart": gainsChart,
  "group-table": groupTable,
  "class-detail": classDetail,
  "selection-chart": selectionCharts,
  "path-chart": (box) => pathCharts(box, data.path),
  "risk-curve": (box) => curveChart(box, (line) => line.risks, data.unit, show),
  "weight-bars": weightBars,
  "weight-curve": (box) => curveChart(box, (line) => line.weights, "weight", weight),
};

for (const [id, draw] of Object.entries(DRAW)) {
  const box = document.getElementById(id);
  if (box) draw(box);
}

const copy = document.getElementById("copy");
copy.addEventListener("click", () => {
  const job = document.getElementById("job");
  const done = document.getElementById("copied");
  const select = () => {
    const range = document.createRange();
    range.selectNodeContents(job);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    done.textContent = "Selected: copy it with Ctrl-C.";
  };
  if (!navigator.clipboard) return select();
  navigator.clipboard.writeText(job.textContent).then(() => { done.textContent = "Copied."; }, select);
});
