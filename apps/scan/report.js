// SPDX-License-Identifier: LGPL-2.1-or-later
// Plots, tables and galleries of framequality-scan's report.

// --- A file's numbers ---

function sums(differences) {
  let total = 0;
  return differences.map((d) => (total += d));
}

/** Frames that were chosen of each file; null if nothing was to be chosen. */
const chosen = data.chosen && data.files.map(() => []);
for (const [file, frame] of data.chosen || []) chosen[file].push(frame);
const reasons = new Map(Object.entries(data.reasons || {}));

function prepare(file, number) {
  file.chosen = chosen ? chosen[number] : [];
  if (!file.scores) return file;
  file.frames = sums(file.frames);
  file.x = file.timed ? sums(file.times).map((us) => us / 1e6) : file.frames;
  const sorted = [...file.scores].sort((a, b) => a - b), n = sorted.length;
  file.min = sorted[0];
  file.max = sorted[n - 1];
  file.median = (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2;
  // In short clips the same frames are among the highest and the lowest: each is shown once, where it is more extreme.
  const shown = new Set([...file.best, ...file.worst].map((shot) => shot.frame));
  if (shown.size < file.best.length + file.worst.length) file.best = file.best.slice(0, Math.ceil(shown.size / 2));
  const high = new Set(file.best.map((shot) => shot.frame));
  file.worst = file.worst.filter((shot) => !high.has(shot.frame));
  file.place = (i, step) => (file.timed ? clock(file.x[i], step) : `frame ${file.frames[i]}`);
  return file;
}

/** Index of the measured frame nearest to x. */
function nearest(file, x) {
  let low = 0, high = file.x.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (file.x[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low > 0 && x - file.x[low - 1] < file.x[low] - x ? low - 1 : low;
}

/** Index of the measured frame with this number, or next to it. */
const nearestFrame = (file, frame) => nearest({ x: file.frames }, frame);

/** Indices first...last thinned out for so many columns: of each column the lowest and the highest score. */
function thinned(scores, first, last, columns) {
  const count = last - first + 1, all = [];
  if (count <= 2 * columns) {
    for (let i = first; i <= last; ++i) all.push(i);
    return all;
  }
  for (let column = 0; column < columns; ++column) {
    const begin = first + Math.floor((column * count) / columns), end = first + Math.floor(((column + 1) * count) / columns);
    let low = begin, high = begin;
    for (let i = begin; i < end; ++i) {
      if (scores[i] < scores[low]) low = i;
      if (scores[i] > scores[high]) high = i;
    }
    all.push(...(low === high ? [low] : low < high ? [low, high] : [high, low]));
  }
  return all;
}

// --- The plot ---

function legend(file) {
  if (!chosen) return [];
  return [node("svg", { class: "key", viewBox: "0 0 10 9", "aria-hidden": "true" }, node("path", { class: "pick", d: "M5 0l5 9h-10Z" })),
    node("b", { style: "font-weight: 600" }, `${few(file.chosen.length, "chosen frame")}. `)];
}

class Plot {
  constructor(file, id, onFrame) {
    Object.assign(this, { file, id, onFrame, at: null, drag: null });
    this.whole = this.span = [file.x[0], file.x[file.x.length - 1]];
    if (this.whole[0] === this.whole[1]) this.whole = this.span = [this.whole[0], this.whole[0] + 1];
    const label = `Score of ${visible(file.name)}: ${score(file.min)} to ${score(file.max)}, median ${score(file.median)} ${data.unit}. ` +
      "Arrow keys step through the frames, plus and minus zoom, Escape shows the whole clip.";
    this.svg = node("svg", { role: "img", tabindex: "0", "aria-label": label });
    this.tip = node("div", { class: "tip", hidden: true, role: "status" });
    const button = (text, title, act) => node("button", { type: "button", title, "aria-label": title, onclick: act }, text);
    this.out = button("−", "Zoom out", () => this.zoom(2));
    this.all = button("Show all", "Show the whole clip", () => this.show(this.whole));
    this.tools = node("div", { class: "tools" }, node("span", {}, ...legend(file), "Drag across the plot to zoom, double-click to see the whole clip."),
      button("+", "Zoom in", () => this.zoom(0.5)), this.out, this.all);
    this.element = node("div", {}, node("div", { class: "plot" }, this.svg, this.tip), this.tools);
    this.svg.addEventListener("pointerdown", (e) => {
      if (e.pointerType !== "touch" && e.button === 0) this.drag = [this.fraction(e), this.fraction(e)];
    });
    this.svg.addEventListener("pointermove", (e) => this.move(e));
    this.svg.addEventListener("pointerup", () => this.release());
    this.svg.addEventListener("pointerleave", () => { this.drag = null; this.point(null); });
    this.svg.addEventListener("dblclick", () => this.show(this.whole));
    this.svg.addEventListener("keydown", (e) => this.key(e));
    queueMicrotask(() => this.draw());  // in the page by then, and no frame is shown without its curve
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  x(value) { return this.left + ((value - this.span[0]) / (this.span[1] - this.span[0])) * (this.right - this.left); }
  y(value) { return this.bottom - ((value - this.low) / (this.high - this.low)) * (this.bottom - this.top); }
  fraction(event) {
    const f = (event.clientX - this.svg.getBoundingClientRect().left - this.left) / (this.right - this.left);
    return Math.min(1, Math.max(0, f));
  }
  value(fraction) { return this.span[0] + fraction * (this.span[1] - this.span[0]); }

  show([begin, end]) {
    const least = Math.max((this.whole[1] - this.whole[0]) / Math.max(1, this.file.x.length - 1) * 4, 1e-6);
    const length = Math.min(Math.max(end - begin, least), this.whole[1] - this.whole[0]);
    begin = Math.min(Math.max((begin + end - length) / 2, this.whole[0]), this.whole[1] - length);
    this.span = [begin, begin + length];
    this.draw();
  }
  zoom(factor) {
    const centre = this.at === null ? this.value(0.5) : this.file.x[this.at], half = ((this.span[1] - this.span[0]) * factor) / 2;
    this.show([centre - half, centre + half]);
  }
  move(event) {
    const f = this.fraction(event);
    if (this.drag) this.drag[1] = f;
    this.point(nearest(this.file, this.value(f)));
  }
  release() {
    const drag = this.drag && [Math.min(...this.drag), Math.max(...this.drag)];
    this.drag = null;
    if (drag && drag[1] - drag[0] > 0.01) this.show(drag.map((f) => this.value(f)));
    else this.hover();
  }
  key(event) {
    const last = this.file.x.length - 1, now = this.at === null ? nearest(this.file, this.value(0.5)) : this.at;
    const step = event.shiftKey ? 10 : 1;
    const to = { ArrowLeft: now - step, ArrowRight: now + step, Home: 0, End: last }[event.key];
    if (to !== undefined) this.focus(Math.min(last, Math.max(0, to)));
    else if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "Escape") this.show(this.whole);
    else return;
    event.preventDefault();
  }
  /** Points to a frame, and moves the span if it lies outside. */
  focus(index) {
    const x = this.file.x[index];
    if (x < this.span[0] || x > this.span[1]) {
      const half = (this.span[1] - this.span[0]) / 2;
      this.show([x - half, x + half]);
    }
    this.point(index);
  }
  point(index) {
    this.at = index;
    this.hover();
    this.onFrame(index);
  }

  draw() {
    const width = this.svg.clientWidth, height = this.svg.clientHeight;
    if (!width) return;
    const { file } = this, { x, scores } = file;
    const first = Math.max(0, nearest(file, this.span[0]) - 1), last = Math.min(x.length - 1, nearest(file, this.span[1]) + 1);
    let low = Infinity, high = -Infinity;
    for (let i = first; i <= last; ++i) {
      low = Math.min(low, scores[i]);
      high = Math.max(high, scores[i]);
    }
    const room = (high - low || Math.abs(high) || 1) * 0.12, isWhole = this.span[0] <= this.whole[0] && this.span[1] >= this.whole[1];
    // From zero, so that heights compare; a part of the clip fills the plot instead.
    this.low = low >= 0 && (isWhole || low < high - low) ? 0 : low - room;
    this.high = high + room;
    const yTicks = ticks(this.low, this.high, height / 60);
    Object.assign(this, { left: 14 + 7.2 * Math.max(...yTicks.all.map((v) => score(v).length)), right: width - 14, top: 24, bottom: height - 40 });
    const xTicks = ticks(...this.span, Math.max(2, width / 110), file.timed && this.span[1] - this.span[0] > 8 ? TIME_STEPS : null);

    const shown = thinned(scores, first, last, Math.max(1, Math.floor(this.right - this.left)));
    const line = shown.map((i, n) => `${n ? "L" : "M"}${this.x(x[i]).toFixed(1)},${this.y(scores[i]).toFixed(1)}`).join("");
    const inside = node("rect", { x: this.left, y: 0, width: this.right - this.left, height });
    const layer = node("g", { "clip-path": `url(#${this.id})` }, node("clipPath", { id: this.id }, inside));
    const base = this.y(Math.max(this.low, Math.min(0, this.high)));
    layer.append(
      node("path", { class: "area", d: `${line}L${this.x(x[last]).toFixed(1)},${base}L${this.x(x[first]).toFixed(1)},${base}Z` }),
      node("line", { class: "median", x1: this.left, x2: this.right, y1: this.y(file.median), y2: this.y(file.median) }),
      node("path", { class: "curve", d: line, "data-points": shown.length }));
    if (shown.length < 80) for (const i of shown) layer.append(node("circle", { class: "dot", cx: this.x(x[i]), cy: this.y(scores[i]), r: 2.5 }));

    const grid = node("g");
    for (const v of yTicks.all)
      grid.append(node("line", { class: "grid", x1: this.left, x2: this.right, y1: this.y(v), y2: this.y(v) }),
        node("text", { x: this.left - 8, y: this.y(v) + 4, "text-anchor": "end", class: "y-label" }, score(v)));
    for (const v of xTicks.all) {
      const at = this.x(v);
      if (at < this.left - 1 || at > this.right + 1) continue;
      grid.append(node("line", { class: "grid", x1: at, x2: at, y1: this.bottom, y2: this.bottom + 5 }),
        node("text", { x: Math.min(at, this.right - 8), y: this.bottom + 33, "text-anchor": "middle", class: "x-label" },
          file.timed ? clock(v, xTicks.step) : String(Math.round(v))));
    }
    grid.append(node("text", { x: 0, y: 12 }, `${data.metric} [${data.unit}]` + (file.timed ? "" : ", by frame number")));
    for (const frame of file.chosen) {
      const at = this.x(x[nearestFrame(file, frame)]);
      if (at >= this.left - 1 && at <= this.right + 1) grid.append(node("path", { class: "pick", d: `M${at.toFixed(1)} ${this.bottom + 5}l5 9h-10Z` }));
    }
    this.over = node("g");
    this.svg.replaceChildren(grid, layer, this.over, ...this.marks());
    this.out.disabled = this.all.disabled = this.span[0] <= this.whole[0] && this.span[1] >= this.whole[1];
    this.hover();
  }

  marks() {
    const all = [];
    for (const [kind, shots] of [["blur", this.file.worst], ["sharp", this.file.best]])
      shots.forEach((shot, n) => {
        const index = nearest(this.file, this.file.timed ? shot.time : shot.frame), x = this.x(this.file.x[index]);
        if (x < this.left - 1 || x > this.right + 1) return;
        const y = this.y(this.file.scores[index]) + (kind === "sharp" ? -11 : 11);
        all.push(node("g", { class: `mark ${kind}`, onclick: () => this.point(index), transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
          node("path", { d: kind === "sharp" ? "M0 10L4 6A8 8 0 1 0 -4 6Z" : "M0 -10L4 -6A8 8 0 1 1 -4 -6Z" }), node("text", { y: 3.5 }, String(n + 1))));
      });
    return all.reverse();
  }

  hover() {
    if (!this.over) return;
    this.over.replaceChildren();
    this.tip.hidden = this.at === null;
    if (this.drag) {
      const [a, b] = [Math.min(...this.drag), Math.max(...this.drag)].map((f) => this.left + f * (this.right - this.left));
      this.over.append(node("rect", { class: "chosen", x: a, width: b - a, y: this.top, height: this.bottom - this.top }));
    }
    if (this.at === null) return;
    const { file, at } = this, x = this.x(file.x[at]);
    if (x < this.left - 1 || x > this.right + 1) return (this.tip.hidden = true);
    this.over.append(node("line", { class: "cross", x1: x, x2: x, y1: this.top, y2: this.bottom }),
      node("circle", { class: "here", cx: x, cy: this.y(file.scores[at]), r: 4 }));
    this.tip.replaceChildren(node("b", {}, score(file.scores[at])), ` ${data.unit}`, node("br"),
      file.timed ? `${file.place(at)}, frame ${file.frames[at]}` : file.place(at));
    const room = this.svg.clientWidth - this.tip.offsetWidth, high = this.y(file.scores[at]) < this.top + 60;
    this.tip.style.top = `${high ? this.bottom - this.tip.offsetHeight - 8 : 6}px`;
    this.tip.style.left = `${Math.max(0, Math.min(room, x < room - 16 ? x + 12 : x - this.tip.offsetWidth - 12))}px`;
  }
}

// --- Heat map ---

const VIRIDIS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function heat(level) {
  const at = Math.min(0.9999, Math.max(0, level)) * 4, i = Math.floor(at);
  return `rgb(${VIRIDIS[i].map((c, k) => Math.round(c + (VIRIDIS[i + 1][k] - c) * (at - i))).join(" ")})`;
}

class HeatMap {
  constructor(file) {
    const { columns, rows } = data, { zones } = file;
    Object.assign(this, { file, zones, count: columns * rows });
    const packed = atob(zones.levels);
    this.levels = Uint8Array.from(packed, (c) => c.charCodeAt(0));
    // The zones split the roi, as far as it lies in the frame.
    const [x, y, w, h] = data.roi || [0, 0, file.width, file.height];
    const left = Math.max(0, x), top = Math.max(0, y);
    const width = Math.max(0, Math.min(file.width, x + w) - left), height = Math.max(0, Math.min(file.height, y + h) - top);
    const svg = node("svg", { viewBox: `0 0 ${file.width} ${file.height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    this.cells = [];
    for (let r = 0; r < rows; ++r)
      for (let c = 0; c < columns; ++c) {
        const cell = node("rect", { x: left + (c * width) / columns, y: top + (r * height) / rows, width: width / columns, height: height / rows });
        this.cells.push(cell);
        svg.append(cell);
      }
    const label = `Mean sharpness of ${columns} by ${rows} zones, from ${score(Math.min(...zones.mean))} to ${score(Math.max(...zones.mean))}`;
    const under = file.best.length ? node("img", { src: file.best[0].src, alt: label }) : node("div", { style: `aspect-ratio: ${file.width}/${file.height}` });
    this.title = node("span");
    this.low = node("span");
    this.high = node("span");
    const map = node("div", { class: "map" }, under, svg), toggle = node("button", { type: "button", "aria-pressed": "true" }, "Hide map");
    toggle.addEventListener("click", () => {
      const off = map.classList.toggle("off");
      toggle.setAttribute("aria-pressed", String(!off));
      toggle.textContent = off ? "Show map" : "Hide map";
    });
    this.element = node("section", {}, node("div", { class: "title" }, node("h3", {}, file.scores.length > 1 ? "Where it is sharp: " : "Where it is sharp", this.title), toggle), map,
      node("div", { class: "scale" }, this.low, node("i"), this.high),
      node("p", { class: "note" }, `${columns} × ${rows} zones over ${file.scores.length > 1 ? "the frame with the highest score. Point at the plot to see another moment of the clip." : "the image."}`));
    this.show(null);
  }
  show(index) {
    const { mean, frames, min, max } = this.zones;
    let from = Math.min(...mean), to = Math.max(...mean), level = (i) => (to > from ? (mean[i] - from) / (to - from) : 0.5);
    if (index !== null) {
      const step = Math.min(Math.floor(index / frames), this.levels.length / this.count - 1);
      level = (i) => this.levels[step * this.count + i] / 255;
      [from, to] = [min, max];
    }
    this.title.textContent = index === null ? (this.file.scores.length > 1 ? "mean over the clip" : "") : (frames > 1 ? "around " : "at ") + this.file.place(index);
    this.low.textContent = score(from);
    this.high.textContent = score(to);
    this.cells.forEach((cell, i) => cell.setAttribute("fill", heat(level(i))));
  }
}

// --- The page ---

function shots(kind, title, list, plot) {
  if (!list.length) return [];
  return [node("h3", { class: kind }, title), node("ol", { class: "shots" }, ...list.map((shot, n) => {
    const { file } = plot, place = file.timed ? clock(shot.time) : `frame ${shot.frame}`;
    const point = () => plot.focus(nearest(file, file.timed ? shot.time : shot.frame));
    return node("li", { class: kind }, node("button", { type: "button", title: "Show it in the plot", onclick: point },
      node("span", { class: "frame" }, node("img", { src: shot.src, alt: `Frame ${shot.frame} at ${place}`, loading: "lazy" }), node("span", { class: "rank" }, String(n + 1))),
      node("span", { class: "says" }, node("b", {}, score(shot.score)), node("span", {}, place))));
  }))];
}

const size = (file) => `${file.width} × ${file.height}`;
const isPicture = (file) => Boolean(file.scores) && file.scores.length === 1;

/** A file of one frame: nothing to plot, and no score higher or lower than the one. */
function picture(file, number, isSingle) {
  const [shot] = file.best;
  const where = file.zones && node("details", { open: isSingle, ontoggle: (e) => e.target.children.length > 1 || e.target.append(new HeatMap(file).element) }, node("summary", {}, "Where it is sharp"));
  return node("li", { id: `file-${number}` }, shot ? node("img", { src: shot.src, alt: visible(file.name), loading: "lazy", decoding: "async" }) : null,
    node("div", { class: "says" }, node("b", {}, score(file.max)), file.chosen.length ? node("span", { class: "badge" }, "chosen") : null, node("span", {}, size(file))),
    node("h3", {}, named(file.name)), file.error ? node("p", { class: "bad" }, visible(file.error)) : null,
    !file.error && reasons.has(file.name) ? node("p", { class: "note" }, visible(reasons.get(file.name))) : null, where || null);
}

/** Of all files of one frame, which replaces the table of all files. */
function gallery(what, all) {
  return node("section", { class: "card" }, all.length > 1 || chosen ? node("h2", {}, few(all.length, what), all.length > 1 ? ", highest score first" : "") : null,
    node("ul", { class: "gallery" + (all.length > 1 ? "" : " single") }, ...all.map(({ file, number }) => picture(file, number, all.length === 1))));
}

/** The photographs of a set by group, each with its best first; those that are alone together at the end. */
function groups(alone) {
  const byGroup = new Map();
  for (const one of alone) byGroup.set(data.groups[one.number], [...(byGroup.get(data.groups[one.number]) || []), one]);
  const all = [...byGroup.values()].sort((a, b) => Math.min(...a.map((one) => one.number)) - Math.min(...b.map((one) => one.number)));
  const list = (some) => node("ul", { class: "gallery" }, ...some.map(({ file, number }) => picture(file, number, false)));
  const several = all.filter((some) => some.length > 1), singles = all.filter((some) => some.length === 1).flat();
  const box = (title, some) => node("div", { class: "group" }, node("h3", {}, title), list(some));
  return node("section", { class: "card" }, node("h2", {}, `${few(alone.length, "photograph")} in ${few(all.length, "group")}`),
    node("p", { class: "soft" }, `${few(alone.filter((one) => one.file.chosen.length > 0).length, "photograph")} chosen. In each group the highest score comes first.`),
    ...several.map((some, n) => box(`Group ${n + 1}: ${few(some.length, "photograph")}`, some)),
    singles.length ? box(`${few(singles.length, "photograph")} without others like it`, singles) : null);
}

function section(file, number) {
  const id = `file-${number}`, title = node("h2", {}, named(file.name));
  const error = file.error ? node("p", { class: "bad" }, visible(file.error)) : null;
  if (!file.scores) return node("section", { class: "card", id }, title, error);
  const top = file.scores.indexOf(file.max), bottom = file.scores.indexOf(file.min);
  const facts = [size(file), file.rate ? `${+file.rate.toFixed(3)} frames/s` : null, file.codec || null, file.format,
    file.timed ? clock(file.length) : null, `${few(file.scores.length, "frame")} measured`].filter(Boolean).join(" · ");
  const tile = (value, text, kind = "") => node("div", { class: "tile" }, node("b", { class: kind }, score(value)), node("span", {}, text));
  const map = file.zones ? new HeatMap(file) : null;
  const plot = new Plot(file, `inside-${number}`, (index) => map && map.show(index));
  return node("section", { class: "card", id },
    node("div", { class: "head" }, node("div", {}, title, node("p", { class: "soft" }, facts), error),
      node("div", { class: "tiles" }, tile(file.max, `highest score, ${file.place(top)}`, "sharp"), tile(file.median, "median"),
        tile(file.min, `lowest score, ${file.place(bottom)}`, "blur"))),
    plot.element,
    node("div", { class: "below" }, node("div", { class: map ? "" : "whole" }, ...shots("sharp", "Highest scores", file.best, plot)), map && map.element,
      node("div", { class: "whole" }, ...shots("blur", "Lowest scores", file.worst, plot))));
}

function spark(file) {
  const shown = thinned(file.scores, 0, file.scores.length - 1, 60), n = Math.max(1, file.scores.length - 1);
  const y = (v) => 22 - (file.max > file.min ? (v - file.min) / (file.max - file.min) : 0.5) * 20;
  const d = shown.map((i, k) => `${k ? "L" : "M"}${((i / n) * 118 + 1).toFixed(1)},${y(file.scores[i]).toFixed(1)}`).join("");
  return node("svg", { class: "spark", viewBox: "0 0 120 24", "aria-hidden": "true" }, node("path", { d }));
}

function overview(files) {
  const columns = ["File", "Frames", ...(chosen ? ["Chosen"] : []), "Duration", "Min", "Median", "Max", ""], head = columns.map((text) => node("th", { scope: "col" }, text));
  const rows = files.map((file, number) => {
    const name = node("td", {}, node("a", { href: `#file-${number}` }, named(file.name)), file.error ? node("div", { class: "bad" }, visible(file.error)) : null);
    if (!file.scores) return node("tr", {}, name, ...head.slice(1).map(() => node("td")));
    const cells = [file.scores.length.toLocaleString("en"), ...(chosen ? [file.chosen.length.toLocaleString("en")] : []), file.timed && !isPicture(file) ? clock(file.length) : "", score(file.min), score(file.median), score(file.max)];
    return node("tr", {}, name, ...cells.map((text) => node("td", {}, text)), node("td", {}, spark(file)));
  });
  return node("section", { class: "card" }, node("h2", {}, "All files"),
    node("div", { class: "wide" }, node("table", {}, node("thead", {}, node("tr", {}, ...head)), node("tbody", {}, ...rows))));
}

const files = data.files.map(prepare), page = document.querySelector("main");
const measured = files.reduce((sum, file) => sum + (file.scores ? file.scores.length : 0), 0);
document.getElementById("about").textContent = `${few(files.length, "file")} · ${few(measured, "frame")}${chosen ? ` · ${data.chosen.length.toLocaleString("en")} chosen` : ""} · ${data.metric} [${data.unit}] · ${data.made}`;
if (files.length === 1) document.title = `Sharpness of ${visible(files[0].name)}`;
else if (!files.every((file) => !file.scores || isPicture(file))) page.append(overview(files));
const numbered = files.map((file, number) => ({ file, number }));
const alone = numbered.filter(({ file }) => isPicture(file)).sort((a, b) => b.file.max - a.file.max);
if (alone.length && data.groups) page.append(groups(alone));
else if (alone.length && !chosen) page.append(gallery("image", alone));
for (const isChosen of chosen && !data.groups ? [true, false] : []) {
  const group = alone.filter(({ file }) => file.chosen.length > 0 === isChosen);
  if (group.length) page.append(gallery(isChosen ? "chosen image" : "other image", group));
}
page.append(...numbered.filter(({ file }) => !isPicture(file)).map(({ file, number }) => section(file, number)), node("section", { class: "card" }, node("h2", { style: "margin-bottom: 12px" }, "How it was measured"),
  node("dl", {}, ...data.settings.map(([name, value]) => node("div", {}, node("dt", {}, name), node("dd", {}, value)))),
  node("p", { class: "note", style: "margin-top: 14px" }, "A score has no absolute meaning: compare frames of one scene, measured with the same settings.")));
