// Charts with a line for each step: values that were tried, or a trade-off.

function ladderChart(box, ladder) {
  const kinds = ["first", "second", "last"];
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
  const lines = ladder.steps.map((step) => {
    const name = element("div", { class: "name" }, step.name);
    step.badges.forEach((badge, at) => {
      if (badge) name.append(element("span", { class: "badge " + kinds[at] }, `${badge}: ${ladder.series[at]}`));
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
  });
  points(chart, lines, "ArrowUp", "ArrowDown", (i) => {
    const step = ladder.steps[i];
    const cells = (name, at) => {
      const texts = [name, write(step.values[at])];
      if (step.intervals[at]) texts.push(ends(step.intervals[at], write));
      if (step.more[at]) texts.push(step.more[at]);
      return texts;
    };
    return { title: ladder.step === "k" ? step.name : `${ladder.step} ${step.name}`, lines: ladder.series.map(cells) };
  });
  chart.append(...lines);
  box.append(key(ladder.series.map((name, at) => [kinds[at], name])), chart);
}
