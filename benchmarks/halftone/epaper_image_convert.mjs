// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftones raw RGB from stdin with @aitjcize/epaper-image-convert, for colour_quality.py: node FILE WIDTH HEIGHT METHOD
// PALETTE LINEAR, where METHOD is rgb or lab, PALETTE the six colours of Spectra 6 as JSON, and LINEAR 1 to diffuse
// light. Writes raw RGB, and the least CPU time of five runs in milliseconds to stderr. Needs the package where node finds it; for the comparison only.
import { readFileSync } from "node:fs";
import { processImage, getDefaultParams } from "@aitjcize/epaper-image-convert";

const [width, height] = process.argv.slice(2, 4).map(Number);
const colours = JSON.parse(process.argv[5]);

// What the package uses of a canvas, without scaling.
function createCanvas(w, h) {
  const canvas = { width: w, height: h, data: new Uint8ClampedArray(w * h * 4) };
  canvas.getContext = () => ({
    canvas,
    drawImage: (from) => canvas.data.set(from.data),
    putImageData: (from) => canvas.data.set(from.data),
    getImageData: () => ({ width: w, height: h, data: canvas.data.slice() }),
    fillRect() {},
  });
  return canvas;
}

const rgb = readFileSync(0);
const data = new Uint8ClampedArray(width * height * 4).fill(255);
for (let i = 0; i < width * height; ++i) for (let c = 0; c < 3; ++c) data[4 * i + c] = rgb[3 * i + c];
const params = {
  ...getDefaultParams(), exposure: 1, contrast: 1, saturation: 1, toneMode: "contrast", strength: 0,
  compressDynamicRange: false, colorMethod: process.argv[4], ditherAlgorithm: "floyd-steinberg",
};
const options = {
  displayWidth: width, displayHeight: height, palette: { perceived: colours, theoretical: colours }, params,
  usePerceivedOutput: true, linearDither: process.argv[6] === "1", createCanvas,
};
let result;
const times = [];
for (let run = 0; run < 5; ++run) {
  const begin = process.cpuUsage();
  result = processImage({ width, height, data: data.slice() }, options).canvas;
  const used = process.cpuUsage(begin);
  times.push((used.user + used.system) / 1e3);
}
const out = Buffer.alloc(width * height * 3);
for (let i = 0; i < width * height; ++i) for (let c = 0; c < 3; ++c) out[3 * i + c] = result.data[4 * i + c];
process.stderr.write(`${Math.min(...times)}\n`);
process.stdout.write(out);
