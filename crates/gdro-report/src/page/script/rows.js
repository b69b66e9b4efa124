// Charts with a line for each group.

/** Where a value lies, in per cent of the width. */
function placer(low, high) {
  return (value) => 100 * (value - low) / (high - low);
}

/** Ends that hold all points, and half as much again on either side where intervals go on: wide ones
 *  are cut off, for they must not press all points together. */
function range(values, intervals, zero) {
  const extreme = (list, pick, start) => list.reduce((a, b) => pick(a, b), start);
  let low = extreme(values, Math.min, zero ? 0 : Infinity), high = extreme(values, Math.max, zero ? 0 : -Infinity);
  const room = Math.max(high - low, Math.abs(high) * 0.1, 1e-12);
  low = Math.max(low - room / 2, extreme(intervals.map((i) => i[0]), Math.min, low));
  high = Math.min(high + room / 2, extreme(intervals.map((i) => i[1]), Math.max, high));
  const edge = (high - low || 1) * 0.02;
  return [low - edge, high + edge];
}

/** An interval at a height, with an arrow where it goes on outside of the chart. */
function bar(interval, place, y) {
  const clip = (x) => Math.min(100, Math.max(0, x));
  const [from, to] = interval.map(place);
  const line = drawn("line", { class: "bar", x1: clip(from) + "%", x2: clip(to) + "%", y1: y, y2: y });
  const arrow = (x, d) => drawn("svg", { x: x + "%", y, width: 1, height: 1, overflow: "visible" },
    drawn("path", { d, fill: "none", stroke: "currentColor", "stroke-width": 2 }));
  return [line, from < 0 ? arrow(0, "M5 -4L0 0L5 4") : null, to > 100 ? arrow(100, "M-5 -4L0 0L-5 4") : null];
}

/** The first and the last groups of an order, on paper: those that do worst and best. */
function edges(groups) {
  return groups.length > 2 * MOST ? [...groups.slice(0, MOST), ...groups.slice(-MOST)] : groups;
}

/** Says between the lines of a chart how many groups are left out there. */
function gapLine(chart, after, left) {
  const others = `… ${count(left)} groups between these …`;
  chart.querySelectorAll(".point")[after].before(element("div", { class: "line gap" }, others));
}

/** The axis and the lines below it. */
function frame(label, place, marks, write, lines) {
  const box = element("div", { class: lines > 2 * MOST ? "dots tall" : "dots", role: "group", "aria-label": label });
  const across = element("div", { class: "ticks" });
  for (const value of marks.list) {
    across.append(element("span", { style: `left:${place(value)}%` }, write(value)));
  }
  const axis = element("div", { class: "line axis", "aria-hidden": "true" },
    element("div", { class: "name" }), across);
  box.append(axis);
  return box;
}

/** The picture of a group. */
function picture(height, place, marks, zero) {
  const svg = drawn("svg", { height, "aria-hidden": "true" });
  for (const value of marks.list) {
    const x = place(value) + "%";
    const kind = zero && value === 0 ? "zero" : "gridline";
    svg.append(drawn("line", { class: kind, x1: x, x2: x, y1: 0, y2: height }));
  }
  return svg;
}

/** A button that shows all groups, or fewer again. */
function moreButton(state, draw) {
  const button = element("button", { type: "button" });
  const update = () => {
    button.textContent = state.all ? `Show ${MOST} groups` : "Show all groups";
    button.setAttribute("aria-expanded", String(state.all));
  };
  button.addEventListener("click", () => { state.all = !state.all; update(); draw(); });
  update();
  return button;
}

/** A choice with a label. */
function choice(label, options, changed) {
  const select = element("select");
  for (const [value, text] of options) select.append(element("option", { value }, text));
  select.addEventListener("change", () => changed(select.value));
  return element("label", {}, label, select);
}

/** The index of the worst group under a model. */
function worstOf(model, measure) {
  let worst = -1;
  const worse = (a, b) => (measure.up ? a < b : a > b);
  measure.values(model).forEach((value, group) => {
    if (value !== null && (worst < 0 || worse(value, measure.values(model)[worst]))) worst = group;
  });
  return worst;
}

/** Orders of the groups in a chart of all models. */
function orders() {
  const list = data.models.map((model, at) => [String(at), `worst under ${model.name} first`]).reverse();
  if (data.level) list.push(["sure", "worst beyond doubt first (near end of the interval)"]);
  list.push(["rows", "most rows first"], ["name", "by name"]);
  return list;
}

/** The chart of risks, or of accuracies. */
function riskChart(box) {
  const last = data.models.length - 1;
  const measures = {
    risk: { up: false, write: show, label: data.unit, values: (m) => m.risk, intervals: (m) => m.risk_interval,
      cut: (m) => m.cut || [] },
    accuracy: { up: true, write: percent, label: "accuracy", values: (m) => m.accuracy,
      intervals: (m) => m.accuracy_interval, cut: () => [] },
  };
  const state = { all: data.names.length <= MOST, order: String(last), measure: "risk", paper: false };
  const place = element("div");

  function sorted(measure) {
    const groups = data.names.map((_, at) => at).filter((at) => data.models.some((m) => measure.values(m)[at] !== null));
    const sign = measure.up ? 1 : -1;
    const far = Infinity;
    const by = (value) => (value === null || value === undefined ? far : sign * value);
    const main = data.models[last];
    const keys = {
      sure: (at) => by((measure.intervals(main)[at] || [])[measure.up ? 1 : 0]),
      rows: (at) => -data.rows[at],
    };
    if (state.order === "name") return groups.sort((a, b) => data.names[a].localeCompare(data.names[b]));
    const of = keys[state.order] || ((at) => by(measure.values(data.models[Number(state.order)])[at]));
    return groups.sort((a, b) => of(a) - of(b) || a - b);
  }

  function draw() {
    hideTip();
    const measure = measures[state.measure];
    const groups = sorted(measure);
    const shown = state.paper ? edges(groups) : state.all ? groups : groups.slice(0, MOST);
    const values = [], intervals = [];
    for (const at of shown) {
      for (const model of data.models) {
        if (measure.values(model)[at] !== null) values.push(measure.values(model)[at]);
        const interval = measure.intervals(model)[at];
        if (interval) intervals.push(interval);
      }
    }
    let [low, high] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    [low, high] = range([low, high], intervals, false);
    low = Math.max(low, 0);
    if (measure.up) high = Math.min(high, 1);
    const across = placer(low, high);
    const marks = ticks(low, high, 5);
    const write = (v) => (measure.up ? Math.round(100 * v) + " %" : tickText(v, marks));
    const height = 12 + 14 * data.models.length;
    const worst = data.models.map((m) => worstOf(m, measure));
    const label = `${measure.label} of ${count(shown.length)} groups; arrow keys go from group to group`;
    const chart = frame(label, across, marks, write, shown.length);
    const line = (i) => {
      const at = shown[i];
      const name = element("div", { class: "name" }, named(at));
      if (worst.length > 1 && worst.every((of) => of === at)) {
        name.append(element("span", { class: "badge last" }, "worst: all models"));
      } else {
        data.models.forEach((model, m) => {
          if (worst[m] === at) name.append(element("span", { class: "badge " + KINDS[m] }, "worst: " + model.name));
        });
      }
      const svg = picture(height, across, marks, false);
      data.models.forEach((model, m) => {
        const y = 13 + 14 * m;
        const value = measure.values(model)[at], interval = measure.intervals(model)[at];
        const g = drawn("g", { class: KINDS[m] });
        if (interval) g.append(...bar(interval, across, y).filter((n) => n));
        if (value !== null && value !== undefined) g.append(mark(KINDS[m], across(value), y));
        svg.append(g);
      });
      return element("div", { class: "line point", "data-group": at }, name, svg);
    };
    state.grow = points(chart, shown.length, line, "ArrowUp", "ArrowDown", (i) => {
      const at = shown[i];
      const list = data.models.map((model) => {
        const interval = measure.intervals(model)[at];
        const value = measure.write(measure.values(model)[at]);
        const cells = [model.name, value];
        if (data.level && data.rows[at] > 0) cells.push(bounds(interval, measure.write, measure.cut(model)[at]));
        return cells;
      });
      list.push(["rows", count(data.rows[at])]);
      if (data.clusters.length > 0) list.push(["clusters", count(data.clusters[at])]);
      return { title: data.names[at], lines: list };
    });
    if (state.paper && shown.length < groups.length) gapLine(chart, MOST, groups.length - shown.length);
    place.replaceChildren(chart);
    direction.textContent = measure.up ? "further right is better →" : "← further left is better";
    amount.textContent = shown.length < data.names.length
      ? `${count(shown.length)} of ${count(data.names.length)} groups` : "";
  }

  const controls = element("div", { class: "controls" });
  const amount = element("span", { class: "count", role: "status" });
  const direction = element("li", { class: "count" });
  if (data.models[last].accuracy.length > 0) {
    controls.append(choice("Show", [["risk", data.unit], ["accuracy", "accuracy"]],
      (value) => { state.measure = value; draw(); }));
  }
  controls.append(choice("Order", orders(), (value) => { state.order = value; draw(); }));
  if (data.names.length > MOST) controls.append(moreButton(state, draw));
  controls.append(pictureButton(box, "groups", state), amount);
  onPaper((paper) => { state.paper = paper; draw(); });
  const marks = key(data.models.map((m, at) => [KINDS[at], m.name]));
  marks.append(direction);
  box.append(controls, marks, place);
  draw();
}

/** The chart of differences to ERM. */
function gainsChart(box) {
  const { value, interval } = data.change;
  const kind = (at) => {
    const ends = interval.length > 0 ? interval[at] : [value[at], value[at]];
    return !ends ? "few" : ends[1] < 0 ? "gain" : ends[0] > 0 ? "loss" : "open";
  };
  const every = value.map((_, at) => at).filter((at) => value[at] !== null);
  every.sort((a, b) => value[a] - value[b] || a - b);
  const telling = every.filter((at) => kind(at) !== "few");
  const narrow = telling.length > 0 && telling.length < every.length && every.length > MOST;
  const state = { all: every.length <= MOST, few: !narrow, paper: false };
  const place = element("div");

  function draw() {
    hideTip();
    const half = state.paper ? MOST : MOST / 2;
    const groups = state.few ? every : telling;
    const some = groups.length <= MOST ? groups : [...groups.slice(0, half), ...groups.slice(-half)];
    const shown = state.paper ? edges(groups) : state.all ? groups : some;
    let low = 0, high = 0;
    for (const at of shown) { low = Math.min(low, value[at]); high = Math.max(high, value[at]); }
    [low, high] = range([low, high], shown.map((at) => interval[at]).filter((i) => i), true);
    const across = placer(low, high);
    const marks = ticks(low, high, 5);
    const label = `differences to ERM of ${count(shown.length)} groups; arrow keys go from group to group`;
    const chart = frame(label, across, marks, (v) => (v > 0 ? "+" : "") + tickText(v, marks), shown.length);
    const line = (i) => {
      const at = shown[i];
      const svg = picture(26, across, marks, true);
      const g = drawn("g", { class: kind(at) });
      if (interval[at]) g.append(...bar(interval[at], across, 13).filter((n) => n));
      g.append(mark(kind(at), across(value[at]), 13));
      svg.append(g);
      return element("div", { class: "line point", "data-group": at }, element("div", { class: "name" }, named(at)), svg);
    };
    const words = { gain: "gains", loss: "loses", open: "too close to tell", few: "too few rows to tell" };
    state.grow = points(chart, shown.length, line, "ArrowUp", "ArrowDown", (i) => {
      const at = shown[i], last = data.models.length - 1;
      const list = [["difference", signed(value[at])]];
      if (interval.length > 0) {
        list.push([data.level + " interval", bounds(interval[at], signed, (data.change.cut || [])[at])]);
        list.push(["verdict", words[kind(at)]]);
      }
      for (const m of [0, last]) list.push([data.models[m].name, show(data.models[m].risk[at])]);
      list.push(["rows", count(data.rows[at])]);
      if (data.clusters.length > 0) list.push(["clusters", count(data.clusters[at])]);
      return { title: data.names[at], lines: list };
    });
    if (shown.length < groups.length) gapLine(chart, half, groups.length - shown.length);
    place.replaceChildren(chart);
  }

  const sure = interval.length > 0 ? "clearly " : "";
  const entries = [["gain", sure + "better than ERM"], ["loss", sure + "worse than ERM"]];
  if (sure) entries.push(["open", "too close to tell"]);
  if (every.some((at) => kind(at) === "few")) entries.push(["few", "too few rows to tell"]);
  const controls = element("div", { class: "controls" });
  if (narrow) {
    const options = [["telling", `with enough rows (${count(telling.length)})`], ["every", `all (${count(every.length)})`]];
    controls.append(choice("Groups", options, (chosen) => { state.few = chosen === "every"; draw(); }));
  }
  if (every.length > MOST) controls.append(moreButton(state, draw));
  controls.append(pictureButton(box, "gains", state));
  onPaper((paper) => { state.paper = paper; draw(); });
  box.append(controls, key(entries), place);
  draw();
}

/** The weights of the groups as bars, the largest first. */
function weightBars(box) {
  const groups = data.names.map((_, at) => at).filter((at) => data.weights[at] !== null);
  groups.sort((a, b) => data.weights[b] - data.weights[a] || a - b);
  const state = { all: groups.length <= MOST, paper: false };
  const place = element("div");
  function draw() {
    hideTip();
    const shown = state.paper ? edges(groups) : state.all ? groups : groups.slice(0, MOST);
    const across = placer(0, 1.02 * data.weights[groups[0]]);
    const marks = ticks(0, data.weights[groups[0]], 5);
    const label = `weights of ${count(shown.length)} groups; arrow keys go from group to group`;
    const chart = frame(label, across, marks, (v) => tickText(v, marks), shown.length);
    const line = (i) => {
      const at = shown[i];
      const svg = picture(24, across, marks, false);
      svg.append(drawn("g", { class: "last" },
        drawn("rect", { class: "column", x: 0, y: 5, width: across(data.weights[at]) + "%", height: 14 })));
      return element("div", { class: "line point", "data-group": at }, element("div", { class: "name" }, named(at)), svg);
    };
    state.grow = points(chart, shown.length, line, "ArrowUp", "ArrowDown", (i) => ({
      title: data.names[shown[i]], lines: [["weight", weight(data.weights[shown[i]])]],
    }));
    if (state.paper && shown.length < groups.length) gapLine(chart, MOST, groups.length - shown.length);
    place.replaceChildren(chart);
  }
  const controls = element("div", { class: "controls" });
  if (groups.length > MOST) controls.append(moreButton(state, draw));
  controls.append(pictureButton(box, "weights", state));
  onPaper((paper) => { state.paper = paper; draw(); });
  box.append(controls, place);
  draw();
}
