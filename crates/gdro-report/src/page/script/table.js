// The table of all groups.

/** The columns: a header of two lines, how a cell is written, what it is sorted by, and whether it is left
 *  out on paper, which has no room for all. */
function columns() {
  const list = [];
  let minor = false;
  const last = data.models[data.models.length - 1];
  const add = (header, values, write, block = false, name = header) => {
    const some = values && values.some((v) => v !== null && v !== undefined);
    const raw = { [name]: (at) => values[at] };
    if (some) list.push({ header, values, block, minor, raw, write: (at) => write(values[at]) });
  };
  const between = (header, intervals, write, near, cut = []) => {
    if (!data.level || !intervals || intervals.length === 0) return;
    list.push({
      header, block: false, minor,
      raw: { [header + " low"]: (at) => intervals[at]?.[0], [header + " high"]: (at) => intervals[at]?.[1] },
      values: intervals.map((i) => (i ? i[near] : null)),
      write: (at) => (data.rows[at] > 0 ? bounds(intervals[at], write, cut[at]) : NONE),
    });
  };
  const held = data.train_rows !== null;
  add(held ? "rows\nheld out" : "rows", data.rows, count, true);
  add("clusters", data.clusters, count);
  if (held) add("rows\ntraining", data.train_rows, count);
  data.models.forEach((m, at) => add(`${m.uncut_risk ? "capped " : ""}${data.unit}\n${m.name}`, m.risk, show, at === 0));
  between(`${last.name} ${data.unit}\nat ${data.level}`, last.risk_interval, show, 1, last.cut);
  if (data.change) {
    add(`${last.name}\n− ERM`, data.change.value, signed, true);
    between(`${last.name} − ERM\nat ${data.level}`, data.change.interval, signed, 1, data.change.cut);
  }
  minor = true;
  data.models.forEach((m, at) => add(`uncut ${data.unit}\n${m.name}`, m.uncut_risk, show, at === 0));
  minor = false;
  data.models.forEach((m, at) => add(`accuracy\n${m.name}`, m.accuracy, percent, at === 0));
  minor = true;
  between(`${last.name} accuracy\nat ${data.level}`, last.accuracy_interval, percent, 0);
  last.metrics.forEach((m, at) => {
    add(`${m.label}\n${last.name}`, m.values, m.is_share ? percent : plain, at === 0, `${inFull(m)} ${last.name}`);
  });
  if (last.detail) {
    add("base\nrate", last.detail.base_rate, percent, true);
    data.models.forEach((m) => add(`selected\n${m.name}`, m.detail.selection_rate, percent));
  }
  data.models.forEach((m, at) => add(`training ${data.unit}\n${m.name}`, m.train_risk, show, at === 0));
  minor = false;
  add("group\nweight", data.weights, weight, true);
  return list;
}

/** The table, with a button in each header that sorts it, and a field that narrows it. */
function groupTable(box) {
  const all = columns();
  const last = data.models.length - 1;
  const worst = worstOf(data.models[last], { up: false, values: (m) => m.risk });
  const risk = all.findIndex((column) => column.values === data.models[last].risk);
  const state = { column: risk, down: true, text: "", order: [], paper: false };
  const body = element("tbody");
  const amount = element("span", { class: "count", role: "status" });
  const made = [];

  /** The line of a group, made once: sorting only moves it. */
  function line(at) {
    if (made[at]) return made[at];
    const row = element("tr", at === worst ? { class: "worst" } : {},
      element("th", { scope: "row" }, named(at), data.unseen[at] ? " (unseen)" : ""));
    for (const column of all) {
      const text = column.write(at);
      const kind = [column.block ? "block" : "", column.minor ? "minor" : "", text === NONE ? "none" : ""].join(" ").trim();
      row.append(element("td", { class: kind || null }, text));
    }
    made[at] = row;
    return row;
  }

  /** Adds lines of the order, up to so many in all. */
  function extend(upTo) {
    if (state.paper) return;
    const from = body.rows.length;
    body.append(...state.order.slice(from, upTo).map(line));
    const [drawn, found, total] = [body.rows.length, state.order.length, data.names.length].map(count);
    const parts = found === total ? [] : [`${found} of ${total} groups`];
    if (drawn !== found) parts.push(`the first ${drawn} are drawn, scroll for more`);
    amount.textContent = parts.join("; ");
  }

  function draw() {
    const wanted = state.text.toLowerCase();
    const order = data.names.map((_, at) => at).filter((at) => data.names[at].toLowerCase().includes(wanted));
    const sign = state.down ? -1 : 1;
    if (state.column < 0) {
      if (state.named) order.sort((a, b) => sign * data.names[a].localeCompare(data.names[b]));
    } else {
      const { values } = all[state.column];
      const missing = (at) => values[at] === null || values[at] === undefined;
      // What does not exist comes last in either direction.
      order.sort((a, b) => (missing(a) - missing(b)) || (missing(a) ? 0 : sign * (values[a] - values[b])) || a - b);
    }
    state.order = order;
    body.replaceChildren();
    if (state.paper) body.append(...onSheet(order));
    else extend(CHUNK);
  }

  /** The lines on paper: all, or the first and the last ones. */
  function onSheet(order) {
    const lines = edges(order).map(line);
    if (lines.length < order.length) {
      const others = `… ${count(order.length - lines.length)} groups between these …`;
      lines.splice(MOST, 0, element("tr", {}, element("th", { scope: "row", colspan: all.length + 1 }, others)));
    }
    return lines;
  }

  const heads = [];
  function head(text, at, { block = false, minor = false } = {}) {
    const button = element("button", { type: "button" }, text);
    const cell = element("th", { scope: "col", class: [block ? "block" : "", minor ? "minor" : ""].join(" ").trim() || null,
      "aria-sort": at === state.column && at >= 0 ? "descending" : "none" }, button);
    button.addEventListener("click", () => {
      const same = state.column === at && (at >= 0 || state.named);
      // Numbers the largest first, names from A on.
      state.down = same ? !state.down : at >= 0;
      state.column = at;
      state.named = at < 0;
      heads.forEach((h) => h.setAttribute("aria-sort", "none"));
      cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      draw();
    });
    heads.push(cell);
    return cell;
  }
  const titles = element("tr", {}, head("group", -1));
  all.forEach((column, at) => titles.append(head(column.header, at, column)));

  const caption = element("caption", {}, element("span", {}, `All ${count(data.names.length)} groups, on the ${data.part}` +
    (data.train_rows && data.models[last].train_risk.length > 0 ? " where nothing else is said" : "") +
    "; the headers sort"));
  const table = element("table", { class: "long" }, caption, element("thead", {}, titles), body);
  const controls = element("div", { class: "controls" });
  if (data.names.length > 10) {
    const field = element("input", { type: "search", id: "find", autocomplete: "off", spellcheck: "false" });
    field.addEventListener("input", () => { state.text = field.value; draw(); });
    controls.append(element("label", {}, "Find a group", field));
  }
  // Every number with all its digits, both ends of intervals, and the counts of two classes.
  const raw = Object.assign({}, ...all.map((column) => column.raw));
  for (const m of data.models.filter((m) => m.detail)) {
    ["true negatives", "false positives", "false negatives", "true positives"].forEach((name, i) => {
      raw[`${name} ${m.name}`] = (at) => m.detail.counts[at][i];
    });
  }
  const sheet = () => csv(["group", ...Object.keys(raw)],
    state.order.map((at) => [data.names[at], ...Object.values(raw).map((of) => of(at))]));
  controls.append(saveButton("CSV", "groups.csv", "text/csv", sheet), amount);
  box.append(controls);
  const view = element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Table of all groups" },
    table);
  view.addEventListener("scroll", () => {
    const left = view.scrollHeight - view.scrollTop - view.clientHeight;
    if (left < 600 && body.rows.length < state.order.length) extend(body.rows.length + CHUNK);
  }, { passive: true });
  onPaper((paper) => { state.paper = paper; draw(); });
  box.append(view);
  draw();
}
