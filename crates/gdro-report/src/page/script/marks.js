// Elements, marks and the tooltip. Texts of the user are only ever set as text.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element with attributes and children; a text becomes a text node. */
function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element likewise. */
function drawn(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** The name of a group, which may be written from right to left. */
function named(group) {
  return element("bdi", { dir: "auto", title: data.names[group] }, data.names[group]);
}

/** Classes of the models, which give colour, dashes and the shape of the mark: the last model is that
 *  of the run. */
const KINDS = data.models.length === 1 ? ["last"] : ["first", "second", "last"];

/** Shapes around (0, 0). */
const SHAPES = {
  first: "M5 0A5 5 0 1 1 -5 0A5 5 0 1 1 5 0Z",
  second: "M0 -6L6 0L0 6L-6 0Z",
  last: "M-5 -5H5V5H-5Z",
  gain: "M0 6L-6 -5H6Z",
  loss: "M0 -6L6 5H-6Z",
  open: "M5 0A5 5 0 1 1 -5 0A5 5 0 1 1 5 0Z",
  few: "M-4 -4L4 4M-4 4L4 -4",
};

/** A mark at a place in its row: x in per cent, y in pixels. */
function mark(kind, x, y) {
  return drawn("svg", { x: x + "%", y, width: 1, height: 1, overflow: "visible" },
    drawn("path", { class: "mark", d: SHAPES[kind] }));
}

/** What marks mean. */
function key(entries) {
  const list = element("ul", { class: "key" });
  for (const [kind, text] of entries) {
    const bar = kind === "few" ? null : drawn("line", { class: "bar", x1: 4, x2: 40, y1: 8, y2: 8 });
    const picture = drawn("svg", { class: kind, "aria-hidden": "true" }, bar, mark(kind, 50, 8));
    list.append(element("li", {}, picture, text));
  }
  return list;
}

const tip = document.getElementById("tip");
let tipOf = null;

/** Shows lines of [name, text, …] beside an element. */
function showTip(target, title, lines) {
  const table = element("table");
  for (const cells of lines) {
    table.append(element("tr", {}, ...cells.map((c) => element("td", {}, c))));
  }
  tip.replaceChildren(element("strong", {}, element("bdi", { dir: "auto" }, title)), table);
  tip.hidden = false;
  tipOf = target;
  placeTip();
}

/** Puts the tooltip below its element, or above where there is no room. */
function placeTip() {
  const box = tipOf.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const below = box.bottom + 6 + own.height <= window.innerHeight;
  const left = Math.min(box.left + 16, window.innerWidth - own.width - 8);
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = Math.max(4, below ? box.bottom + 6 : box.top - own.height - 6) + "px";
}

function hideTip() {
  tip.hidden = true;
  tipOf = null;
}

document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
window.addEventListener("scroll", () => {
  if (!tipOf) return;
  if (tipOf.matches(":hover, :focus")) placeTip(); else hideTip();
}, { capture: true, passive: true });

/** Most groups that a chart shows before it is asked for all. */
const MOST = 30;

/** Lines that are made at once; further ones follow when they are scrolled to, or gone to. */
const CHUNK = 2 * MOST;

/** Appends `total` points to a chart, a part at a time, each of which `make` draws, and makes them one
 *  stop of the Tab key: arrows go from one to the next. Hovering and focus show the same tooltip, and
 *  `aria-label` says the same. What is returned draws points up to a number. */
function points(box, total, make, back, forth, describe) {
  const nodes = [];
  function add(at) {
    const node = make(at);
    const { title, lines } = describe(at);
    node.tabIndex = at === 0 ? 0 : -1;
    node.setAttribute("role", "img");
    const spoken = lines.map((cells) => cells.join(" ")).join("; ");
    node.setAttribute("aria-label", title + ": " + spoken);
    node.setAttribute("aria-keyshortcuts", `${back} ${forth} Home End`);
    const open = () => showTip(node, title, lines);
    node.addEventListener("mouseenter", open);
    node.addEventListener("focus", open);
    node.addEventListener("mouseleave", hideTip);
    node.addEventListener("blur", hideTip);
    node.addEventListener("keydown", (event) => {
      const to = { [back]: at - 1, [forth]: at + 1, Home: 0, End: total - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      if (to >= nodes.length) grow(to + 1);
      const next = nodes[to];
      if (!next) return;
      nodes.forEach((n) => { n.tabIndex = -1; });
      next.tabIndex = 0;
      next.focus();
    });
    nodes.push(node);
    box.append(node);
  }
  function grow(upTo) {
    while (nodes.length < Math.min(upTo, total)) add(nodes.length);
  }
  grow(CHUNK);
  box.addEventListener("scroll", () => {
    const left = box.scrollHeight - box.scrollTop - box.clientHeight;
    if (left < 600) grow(nodes.length + CHUNK);
  }, { passive: true });
  return grow;
}

/** Draws something for paper, and again for the screen. */
function onPaper(draw) {
  window.addEventListener("beforeprint", () => draw(true));
  window.addEventListener("afterprint", () => draw(false));
}
