// Numbers as the program's own tables show them.

const data = JSON.parse(document.getElementById("data").textContent);
const NONE = "–";

/** A number by a scale: {decimals: n}, or {scientific: n} for a digit, n decimals and a power of 10. */
function show(value, scale = data.scale) {
  if (value === null || value === undefined) return NONE;
  const size = Math.abs(value);
  const text = scale.decimals !== undefined
    ? size.toFixed(scale.decimals)
    : size === 0 ? "0" : size.toExponential(scale.scientific).replace("e+", "e");
  return value < 0 && /[1-9]/.test(text) ? "−" + text : text;
}

/** A difference with its sign. */
function signed(value) {
  if (value === null || value === undefined) return NONE;
  const text = show(value);
  return value > 0 && /[1-9]/.test(text) ? "+" + text : text;
}

/** A share in per cent; below 1 it is not shown as 100 %, nor above 0 as 0 %. */
function percent(value) {
  if (value === null || value === undefined) return NONE;
  let shown = value < 1 ? Math.min(value, 0.999) : value;
  shown = value > 0 ? Math.max(shown, 0.001) : shown;
  return (100 * shown).toFixed(1) + " %";
}

/** A weight: one that is too small to show is not 0. */
function weight(value) {
  if (value === null || value === undefined) return NONE;
  return value > 0 && value < 0.0001 ? "<0.0001" : value.toFixed(4);
}

/** A number between 0 and 1 without a unit. */
function plain(value) {
  return value === null || value === undefined ? NONE : value.toFixed(3);
}

/** The name of a metric where counts are beside it: the true positive rate is called true positives in tables. */
function inFull(metric) {
  return metric.is_share ? metric.label.replace(/s$/, " rate") : metric.label;
}

/** A count with its thousands apart. */
function count(value) {
  return value === null || value === undefined
    ? NONE : String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Two ends of an interval. */
function ends(interval, write) {
  return write(interval[0]) + " to " + write(interval[1]);
}

/** An interval in words, and the share of the rows that the cap on losses cuts where that is worth a word. */
function bounds(interval, write, cut) {
  const text = interval ? ends(interval, write) : "not estimable";
  return cut === null || cut === undefined ? text : `${text}, ${percent(cut)} cut`;
}

/** Round numbers from `low` to `high`, about `wanted` of them, and the decimals they need. */
function ticks(low, high, wanted) {
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((s) => s * power >= raw * 0.999);
  const list = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) list.push(i * step);
  return { list, step, decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

/** A tick as text. */
function tickText(value, { step, decimals }) {
  if (Math.abs(value) >= 1e6 || step < 1e-6) {
    return value === 0 ? "0" : value.toExponential(1).replace("e+", "e").replace("-", "−");
  }
  return value.toFixed(decimals).replace("-", "−");
}
