// Charts with a line for each step: models that were tried, or a trade-off.

function ladderChart(box, ladder) {
  const kinds = ladder.series.length === 2 ? ["first", "last"] : ["first", "second", "last"];
  const write = (value) => show(value, ladder.scale);
  const values = ladder.steps.flatMap((s) => s.values);
  const intervals = ladder.steps.flatMap((s) => s.intervals).filter((i) => i);
  let [low, high] = range([Math.min(...values), Math.max(...values)], intervals, false);
  low = Math.max(low, 0);
  const across = placer(low, high);
  const marks = ticks(low, high, 5);
  const label = `${count(ladder.steps.length)} steps; arrow keys go from one to the next`;
  const chart = frame(label, across, marks, (v) => tickText(v, marks), ladder.steps.length);
  const height = 12 + 14 * kinds.length;
  const line = (i) => {
    const step = ladder.steps[i];
    const name = element("div", { class: "name" }, step.name);
    step.badges.forEach((badge, at) => {
      if (badge) name.append(element("span", { class: "badge " + kinds[at] }, badge));
    });
    const svg = picture(height, across, marks, false);
    step.values.forEach((value, at) => {
      const y = 13 + 14 * at;
      const g = drawn("g", { class: kinds[at] });
      if (step.intervals[at]) g.append(...bar(step.intervals[at], across, y).filter((n) => n));
      g.append(mark(kinds[at], across(value), y));
      svg.append(g);
    });
    return element("div", { class: "line point" }, name, svg);
  };
  points(chart, ladder.steps.length, line, "ArrowUp", "ArrowDown", (i) => {
    const step = ladder.steps[i];
    const cells = (name, at) => {
      const texts = [name, write(step.values[at])];
      if (step.intervals[at]) texts.push(ends(step.intervals[at], write));
      if (step.more[at]) texts.push(step.more[at]);
      return texts;
    };
    return { title: step.name, lines: ladder.series.map(cells) };
  });
  box.append(key(ladder.series.map((name, at) => [kinds[at], name])), chart);
}

/** The trade-off on rows that can be chosen: as a curve, and model by model. */
function pathCharts(box, ladders) {
  const place = element("div");
  const controls = element("div", { class: "controls" });
  const draw = (ladder) => {
    hideTip();
    place.replaceChildren();
    pathPlot(place, ladder);
    ladderChart(place, ladder);
  };
  if (ladders.length > 1) {
    const options = ladders.map((ladder, at) => [String(at), ladder.part]);
    controls.append(choice("On", options, (at) => draw(ladders[Number(at)])));
  }
  controls.append(pictureButton(place, "path"));
  box.append(controls, place);
  draw(ladders[0]);
}

/** Models as points: across the mean, up what is largest, and a line along the path of the ladder. */
function pathPlot(box, ladder) {
  const [MEAN, WORST] = ladder.curve;
  const write = (value) => show(value, ladder.scale);
  const of = (series) => ladder.steps.map((s) => s.values[series]);
  const room = (values) => {
    const low = Math.min(...values), high = Math.max(...values);
    const edge = (high - low || Math.abs(high) || 1) * 0.08;
    return [low - edge, high + edge];
  };
  const [left, right] = room(of(MEAN)), [bottom, top] = room(of(WORST));
  const x = placer(left, right), y = (value) => 100 - placer(bottom, top)(value);
  const svg = drawn("svg", { "aria-hidden": "true" });
  const down = element("div", { class: "down", "aria-hidden": "true" });
  const across = element("div", { class: "across", "aria-hidden": "true" });
  const up = ticks(bottom, top, 5), along = ticks(left, right, 4);
  for (const value of up.list) {
    svg.append(drawn("line", { class: "gridline", x1: 0, x2: "100%", y1: y(value) + "%", y2: y(value) + "%" }));
    down.append(element("span", { style: `top:${y(value)}%` }, tickText(value, up)));
  }
  for (const value of along.list) {
    across.append(element("span", { style: `left:${x(value)}%` }, tickText(value, along)));
  }
  const places = ladder.steps.map((s) => [x(s.values[MEAN]), y(s.values[WORST])]);
  const line = drawn("g", { class: "last" });
  for (let i = 1; i < ladder.line.length; i++) {
    const [from, to] = [places[ladder.line[i - 1]], places[ladder.line[i]]];
    line.append(drawn("line", { class: "bar", x1: from[0] + "%", y1: from[1] + "%", x2: to[0] + "%", y2: to[1] + "%" }));
  }
  svg.append(line);
  const kind = (i) => ({ ERM: "first", balanced: "second" })[ladder.steps[i].name] || "last";
  const badge = (i) => ladder.steps[i].badges.find((text) => text);
  places.forEach(([a, b], i) => {
    if (badge(i)) svg.append(drawn("circle", { class: "ring", cx: a + "%", cy: b + "%", r: 11 }));
    svg.append(drawn("g", { class: kind(i) }, mark(kind(i), a, b + "%")));
  });
  const plot = element("div", { class: "plot", role: "group",
    "aria-label": `${ladder.series[WORST]} against ${ladder.series[MEAN]}; arrow keys go from model to model` }, svg);
  const spot = (i) => element("div", { class: "spot point", style: `left:${places[i][0]}%;top:${places[i][1]}%` });
  points(plot, places.length, spot, "ArrowLeft", "ArrowRight", (i) => ({
    title: [ladder.steps[i].name, badge(i)].filter((text) => text).join(", "),
    lines: ladder.series.map((name, at) => [name, write(ladder.steps[i].values[at]), ladder.steps[i].more[at]].filter((t) => t)),
  }));
  // Names where they do not lie on each other: what was chosen first, then the ends of the path.
  const said = [];
  const first = [...places.keys()].filter(badge);
  const plain = [...places.keys()].filter((i) => kind(i) !== "last");
  for (const i of [...first, ...plain, ladder.line[0], ladder.line[ladder.line.length - 1], ...places.keys()]) {
    const [a, b] = places[i];
    if (said.some(([c, d]) => Math.abs(a - c) < 14 && Math.abs(b - d) < 7)) continue;
    said.push([a, b]);
    const text = [ladder.steps[i].name, badge(i)].filter((t) => t).join(", ");
    plot.append(element("span", { class: a > 70 ? "label before" : "label", style: `left:${a}%;top:${b}%`, "aria-hidden": "true" }, text));
  }
  box.append(element("div", { class: "curve wide" }, down, plot, across,
    element("div", { class: "across-title" }, `across: ${ladder.series[MEAN]}; up: ${ladder.series[WORST]}`)));
}

/** The choice: its path as a curve, and model by model. */
function selectionCharts(box) {
  box.append(element("div", { class: "controls" }, pictureButton(box, "selection")));
  pathPlot(box, data.selection);
  ladderChart(box, data.selection);
}
