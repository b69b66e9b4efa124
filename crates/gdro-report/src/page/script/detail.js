// A group under every model: counts, rates, and the curves of ROC and calibration.

/** The square of two rates, with curves of every model. */
function square(title, across, up, list) {
  const svg = drawn("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" });
  for (const at of [25, 50, 75]) {
    svg.append(drawn("line", { class: "gridline", x1: 0, x2: 100, y1: at, y2: at }));
    svg.append(drawn("line", { class: "gridline", x1: at, x2: at, y1: 0, y2: 100 }));
  }
  svg.append(drawn("path", { class: "faint", d: "M0 100L100 0" }));
  const plot = element("div", { class: "plot" }, svg);
  for (const { kind, places, marked } of list) {
    const path = places.map(([x, y]) => `${(100 * x).toFixed(2)} ${(100 - 100 * y).toFixed(2)}`).join("L");
    const dash = { first: "2 3", second: "7 3" }[kind] || null;
    if (places.length > 0) {
      svg.append(drawn("path", { stroke: `var(--${kind})`, "stroke-dasharray": dash, d: "M" + path }));
    }
    const marks = drawn("svg", { class: "marks", "aria-hidden": "true" });
    if (marked) {
      for (const [x, y] of places) marks.append(drawn("g", { class: kind }, mark(kind, 100 * x, 100 - 100 * y + "%")));
    }
    plot.append(marks);
  }
  const down = element("div", { class: "down", "aria-hidden": "true" });
  const below = element("div", { class: "across", "aria-hidden": "true" });
  for (const value of [0, 0.5, 1]) {
    down.append(element("span", { style: `top:${100 - 100 * value}%` }, String(value)));
    below.append(element("span", { style: `left:${100 * value}%` }, String(value)));
  }
  return element("figure", { class: "square" }, element("figcaption", {}, title),
    element("div", { class: "curve wide" }, down, plot, below,
      element("div", { class: "across-title" }, `across: ${across}; up: ${up}`)));
}

/** A table with a header for each model. */
function byModel(caption, lines) {
  const head = element("tr", {}, element("td"),
    ...data.models.map((m) => element("th", { scope: "col" }, m.name)));
  const body = lines.map(([name, ...cells]) =>
    element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((c) => element("td", {}, c))));
  return element("div", { class: "scroll" }, element("table", { class: "short" },
    element("caption", {}, element("span", {}, caption)),
    element("thead", {}, head), element("tbody", {}, ...body)));
}

function classDetail(box) {
  const last = data.models[data.models.length - 1];
  const kept = Object.keys(last.detail.curves).map(Number);
  kept.sort((a, b) => last.risk[b] - last.risk[a] || a - b);
  const place = element("div");
  function draw(at) {
    const details = data.models.map((m) => m.detail);
    const counts = (i) => details.map((d) => count(d.counts[at][i]));
    const value = (values) => percent(values[at]);
    const metrics = last.metrics.map((metric, i) =>
      [inFull(metric), ...data.models.map((m) => (metric.is_share ? percent : plain)(m.metrics[i].values[at]))]);
    const table = byModel(`${data.names[at]}: ${count(data.rows[at])} ${data.part}`, [
      ["positive, predicted positive", ...counts(3)],
      ["positive, predicted negative", ...counts(2)],
      ["negative, predicted positive", ...counts(1)],
      ["negative, predicted negative", ...counts(0)],
      ["base rate: positive", ...details.map((d) => value(d.base_rate))],
      ["selection rate: predicted positive", ...details.map((d) => value(d.selection_rate))],
      ["accuracy", ...data.models.map((m) => value(m.accuracy))],
      ...metrics,
    ]);
    const curves = details.map((d, i) => ({ kind: KINDS[i], ...d.curves[at] }));
    const squares = element("div", { class: "squares" });
    if (curves[0].roc.length > 0) {
      squares.append(square("ROC curve", "false positive rate", "true positive rate",
        curves.map((c) => ({ kind: c.kind, places: c.roc, marked: false }))));
    }
    if (curves[0].calibration.length > 0) {
      squares.append(square("Calibration", "mean probability", "share positive",
        curves.map((c) => ({ kind: c.kind, places: c.calibration.map(([x, y]) => [x, y]), marked: true }))));
      const bins = (c) => c.calibration.map(([x, y, rows]) => `${x.toFixed(2)}: ${percent(y)} of ${count(rows)}`).join("; ");
      const text = curves.map((c, i) => element("p", {}, element("strong", {}, data.models[i].name + " "), bins(c)));
      place.replaceChildren(table, squares, element("details", {},
        element("summary", {}, "Calibration in numbers"),
        element("p", {}, "Mean probability of a bin, the share of its rows that are positive, its rows:"), ...text));
    } else {
      place.replaceChildren(table, squares);
    }
  }
  const options = kept.map((at) => [String(at), data.names[at]]);
  box.append(
    element("div", { class: "controls" }, choice("Group, the worst first", options, (at) => draw(Number(at))),
      pictureButton(box, "curves")),
    key(data.models.map((m, at) => [KINDS[at], m.name])), place);
  draw(kept[0]);
}
