// Curves over the rounds of the run.

const DASHES = ["", "7 3", "2 3", "10 3 2 3", "14 4", "4 2 1 2 1 2"];

/** Colour and dashes of a named line: 12 differ in one of the two at least. */
function lineStyle(at) {
  const dash = DASHES[(at + Math.floor(at / 6)) % 6];
  return { stroke: `var(--line-${at % 6})`, "stroke-dasharray": dash || null };
}

/** Rounds up and down so that `lines` of text fit above each other, in pixels. */
function apart(places, height, gap) {
  const order = places.map((_, at) => at).sort((a, b) => places[a] - places[b]);
  const out = [...places];
  let before = -Infinity;
  for (const at of order) { out[at] = Math.max(out[at], before + gap); before = out[at]; }
  let after = height;
  for (const at of order.reverse()) { out[at] = Math.min(out[at], after); after = out[at] - gap; }
  return out;
}

/** A chart of a value of each group over the rounds, on a logarithmic axis that starts with round 0. */
function curveChart(box, of, what, write) {
  const { rounds, lines, left_out } = data.curve;
  const log = (round) => Math.log10(round + 1);
  const end = log(rounds[rounds.length - 1]) || 1;
  const x = (round) => 100 * log(round) / end;
  // Of a stream the curve is on the first rows, where some groups may have none.
  const drawnLines = lines.map((line, at) => ({ ...line, at, values: of(line) })).filter((l) => l.values.length > 0);
  const all = drawnLines.flatMap((l) => l.values);
  let low = all.reduce((a, b) => Math.min(a, b), Infinity), high = all.reduce((a, b) => Math.max(a, b), -Infinity);
  const edge = (high - low || Math.abs(high) || 1) * 0.05;
  low = low >= 0 ? Math.max(0, low - edge) : low - edge;
  high += edge;
  const y = (value) => 100 * (high - value) / (high - low);
  const marks = ticks(low, high, 5);

  const svg = drawn("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" });
  for (const value of marks.list) {
    svg.append(drawn("line", { class: "gridline", x1: 0, x2: 100, y1: y(value), y2: y(value) }));
  }
  const path = (line) => "M" + line.values.map((v, i) => `${x(rounds[i]).toFixed(3)} ${y(v).toFixed(3)}`).join("L");
  for (const line of drawnLines.filter((l) => !l.named)) svg.append(drawn("path", { class: "faint", d: path(line) }));
  const names = drawnLines.filter((l) => l.named);
  for (const line of names) svg.append(drawn("path", { ...lineStyle(line.at), d: path(line) }));

  const plot = element("div", { class: "plot", role: "group",
    "aria-label": `${what} over the rounds; arrow keys go from moment to moment` }, svg);
  const ranked = (i) => [...names].sort((a, b) => b.values[i] - a.values[i]);
  const moment = (i) => {
    const round = rounds[i];
    const from = i === 0 ? 0 : (x(rounds[i - 1]) + x(round)) / 2;
    const to = i === rounds.length - 1 ? 100 : (x(round) + x(rounds[i + 1])) / 2;
    return element("div", { class: "moment point", style: `left:${from}%;width:${to - from}%` });
  };
  points(plot, rounds.length, moment, "ArrowLeft", "ArrowRight", (i) => ({
    title: `round ${count(rounds[i])}`,
    lines: ranked(i).map((line) => [data.names[line.group], write(line.values[i])]),
  }));

  const down = element("div", { class: "down", "aria-hidden": "true" });
  for (const value of marks.list) down.append(element("span", { style: `top:${y(value)}%` }, tickText(value, marks)));
  const across = element("div", { class: "across", "aria-hidden": "true" });
  const powers = [0];
  for (let p = 1; log(p) <= end; p *= 10) powers.push(p);
  for (const round of powers) {
    const text = round >= 1e6 ? "1e" + Math.log10(round) : count(round);
    if (round !== 1) across.append(element("span", { style: `left:${x(round)}%` }, text));
  }
  const right = element("div", { class: "right", "aria-hidden": "true" });
  const chart = element("div", { class: "curve" }, down, plot, right, across,
    element("div", { class: "across-title" }, "rounds (logarithmic)"));
  const rest = drawnLines.length - names.length;
  const hidden = lines.length - drawnLines.length;
  const grey = rest > 0 ? ` Grey: ${count(rest)} other groups.` : "";
  const out = left_out > 0 ? ` ${count(left_out)} groups are left out.` : "";
  box.append(element("div", { class: "controls" }, pictureButton(box, what + "-curve")), chart);
  if (grey || out) box.append(element("p", { class: "count" }, (`Named are the ${names.length} groups that count most or do worst.` + grey + out)));
  if (hidden > 0) box.append(element("p", { class: "count" }, `Without a line: ${count(hidden)} of the groups, of which none of the rows is looked at.`));

  // Names beside the ends of their lines, apart from each other.
  const height = plot.getBoundingClientRect().height || 320;
  const last = rounds.length - 1;
  const places = apart(names.map((l) => y(l.values[last]) / 100 * height), height, 17);
  const label = (line) => {
    const sample = drawn("svg", { width: 26, height: 8, style: "width:26px;height:8px;flex:none" },
      drawn("path", { ...lineStyle(line.at), d: "M0 4H26", "stroke-width": 2.5, fill: "none" }));
    return [sample, " ", element("bdi", { dir: "auto" }, data.names[line.group])];
  };
  names.forEach((line, i) => {
    right.append(element("span", { style: `top:${places[i]}px`, title: data.names[line.group] }, ...label(line)));
  });
  // In a narrow window they stand below.
  const below = element("ul", { class: "key names", "aria-hidden": "true" });
  for (const line of ranked(last)) below.append(element("li", {}, ...label(line)));
  chart.after(below);
}
