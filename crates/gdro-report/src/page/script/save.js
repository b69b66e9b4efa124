// Tables and charts as files, which the browser makes of what the page holds.

/** A button that saves what `make` gives as a file beside the page. */
function saveButton(text, name, type, make) {
  const stem = document.querySelector("h1").textContent.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  const button = element("button", { type: "button", class: "save", "aria-label": `Save ${text}: ${name}` }, `Save ${text}`);
  button.addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob([make()], { type: type + ";charset=utf-8" }));
    element("a", { href: address, download: `${stem.slice(0, 60) || "gdro"}-${name}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  });
  return button;
}

/** A table as comma-separated values (RFC 4180): texts that need quotes have them, what is missing is empty. */
function csv(header, lines) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value).replaceAll("\n", " ");
    return /[",\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [header, ...lines].map((cells) => cells.map(cell).join(",") + "\r\n").join("");
}

/** A button that saves the chart in a box; `state.grow` draws what is not yet there of a long one. */
function pictureButton(box, name, state = {}) {
  return saveButton("SVG", name + ".svg", "image/svg+xml", () => {
    if (state.grow) state.grow(Infinity);
    return svgOf(box);
  });
}

/** The rules of the page that marks need, with colours in the place of variables. */
function svgStyle() {
  const values = getComputedStyle(document.documentElement);
  const wanted = /\.(first|second|last|gain|loss|open|few|bar|mark|ring|column|gridline|zero|plot)\b/;
  const rules = [...document.styleSheets[0].cssRules].filter((rule) => rule.selectorText && wanted.test(rule.selectorText));
  const text = rules.map((rule) => rule.cssText).join("\n") +
    "\ntext { font: 13px sans-serif; fill: var(--ink); }\n.soft { fill: var(--soft); }\n.paper { fill: var(--paper); }";
  return text.replace(/var\((--[\w-]+)\)/g, (_, name) => values.getPropertyValue(name).trim());
}

/** The chart in a box as a picture of its own. */
function svgOf(box) {
  const WIDTH = 900, LEFT = 230, RIGHT = 24, EDGE = 14;
  const inner = WIDTH - LEFT - RIGHT;
  const style = svgStyle();
  const svg = drawn("svg", { xmlns: SVG, width: WIDTH }, drawn("style", {}, style));
  svg.append(drawn("rect", { class: "paper", width: "100%", height: "100%" }));
  const text = (x, y, words, attributes = {}) => svg.append(drawn("text", { x, y, ...attributes }, words));
  // Styles that single elements have, colours of lines among them.
  const copy = (node, place) => {
    const out = node.cloneNode(true);
    const values = getComputedStyle(document.documentElement);
    for (const path of out.querySelectorAll("[stroke^=var]")) {
      path.setAttribute("stroke", values.getPropertyValue(path.getAttribute("stroke").slice(4, -1)).trim());
    }
    out.removeAttribute("style");
    return fill(out, place, []);
  };
  let y = 24;
  // What a chart of a part of the page is about stands above the numbers beside it.
  const about = box.querySelector("caption");
  text(EDGE, y, [document.querySelector("h1"), about].filter((n) => n).map((n) => n.textContent).join(" – "));
  y += 12;
  let x = EDGE;
  for (const entry of box.querySelectorAll(".key li")) {
    const words = entry.textContent, room = 60 + 7 * words.length;
    if (x + room > WIDTH) { x = EDGE; y += 20; }
    const sample = entry.querySelector("svg");
    if (sample) svg.append(copy(sample, { x, y, width: 44, height: 16 }));
    text(x + (sample ? 52 : 0), y + 12, words);
    x += room;
  }
  y += 24;
  const soft = { class: "soft", "text-anchor": "middle" };
  for (const chart of box.querySelectorAll(".dots")) {
    for (const tick of chart.querySelectorAll(".ticks span")) {
      text(LEFT + inner * parseFloat(tick.style.left) / 100, y + 12, tick.textContent, soft);
    }
    y += 20;
    for (const line of chart.querySelectorAll(".line:not(.axis)")) {
      const marks = line.querySelector(":scope > svg");
      const height = marks ? Number(marks.getAttribute("height")) : 24;
      const name = (line.querySelector("bdi") || line.querySelector(".name") || line).textContent;
      text(EDGE, y + height / 2 + 4, name.length > 30 ? name.slice(0, 29) + "…" : name);
      if (marks) svg.append(copy(marks, { x: LEFT, y, width: inner, height }));
      y += height;
    }
    y += EDGE;
  }
  for (const curve of box.querySelectorAll(".curve")) {
    const HEIGHT = 320, AT = 80, room = WIDTH - AT - RIGHT;
    const plot = drawn("g", { class: "plot" });
    for (const part of curve.querySelectorAll(".plot > svg")) {
      plot.append(copy(part, { x: AT, y, width: room, height: HEIGHT }));
    }
    svg.append(plot);
    for (const tick of curve.querySelectorAll(".down span")) {
      text(AT - 8, y + HEIGHT * parseFloat(tick.style.top) / 100 + 4, tick.textContent, { class: "soft", "text-anchor": "end" });
    }
    for (const label of curve.querySelectorAll(".plot .label")) {
      text(AT + room * parseFloat(label.style.left) / 100 + 8, y + HEIGHT * parseFloat(label.style.top) / 100 - 8, label.textContent);
    }
    y += HEIGHT + 18;
    for (const tick of curve.querySelectorAll(".across span")) {
      text(AT + room * parseFloat(tick.style.left) / 100, y, tick.textContent, soft);
    }
    y += 20;
    for (const title of curve.querySelectorAll(".across-title")) text(AT + room / 2, y, title.textContent, soft);
    y += EDGE;
  }
  fill(svg, { height: y + EDGE, viewBox: `0 0 ${WIDTH} ${y + EDGE}` }, []);
  return new XMLSerializer().serializeToString(svg);
}
