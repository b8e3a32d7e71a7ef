// SPDX-License-Identifier: LGPL-2.1-or-later
// Elements, and the words for scores and times, of the reports of framequality-scan and framequality-merge.

/** An element with attributes, listeners (on...) and children; text is only ever text. */
function node(name, attributes = {}, ...children) {
  const svg = /^(svg|g|path|line|rect|circle|text|clipPath)$/.test(name);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Control characters as visible symbols, so that they cannot change the layout. */
const visible = (name) => name.replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)));
const named = (name) => node("bdi", {}, visible(name));

const few = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

function score(value) {
  if (value === 0) return "0";
  const digits = Math.max(0, 4 - Math.floor(Math.log10(Math.abs(value))) - 1);
  return value.toLocaleString("en", { maximumFractionDigits: Math.min(20, digits) });
}

/** Seconds as 1:02.5, with as many decimals as steps of this size need. */
function clock(seconds, step = 0.001) {
  const decimals = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step) - 1e-9));
  const unit = 10 ** decimals, ticks = Math.round(Math.abs(seconds) * unit);
  const whole = Math.floor(ticks / unit), two = (n) => String(n).padStart(2, "0");
  const h = Math.floor(whole / 3600), m = Math.floor(whole / 60) % 60, s = whole % 60;
  const fraction = decimals ? "." + String(ticks % unit).padStart(decimals, "0") : "";
  return (seconds < 0 ? "-" : "") + (h ? `${h}:${two(m)}` : m) + ":" + two(s) + fraction;
}

/** Round numbers within [low, high], about `count` of them. */
function ticks(low, high, count, steps) {
  const raw = (high - low) / count;
  let step = steps && steps.find((s) => s >= raw);
  if (!step) {
    const power = 10 ** Math.floor(Math.log10(raw));
    step = [1, 2, 5, 10].find((f) => f * power >= raw * 0.999) * power;
  }
  const all = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) all.push(i * step);
  return { all, step };
}
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200];
