/* Colours of the theme, canvases, and the room that the page has for them. */
import { find } from "./elements.js";

const LEARNERS_OWN = ["dsp", "hc", "chance", "other"].flatMap((role) => [role, `${role}-resampled`]).flatMap((role) => [role, `on-${role}`]);

export let palette = {}; // colours by the name of their role
export let scaleColours = null; // 511 colours from negative over middle to positive

/** Read the colours of the theme that the page has now. */
export function readPalette() {
  const style = getComputedStyle(document.documentElement);
  palette = {};
  for (const name of ["ink", "soft", "line", "page", "card", "middle", "wall", "floor", "start", "goal", "on-goal", "pit", "negative", "positive", ...LEARNERS_OWN]) {
    palette[name] = style.getPropertyValue(`--${name}`).trim();
  }
  const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const low = rgb(palette.negative), middle = rgb(palette.middle), high = rgb(palette.positive);
  scaleColours = new Uint32Array(511);
  for (let k = -255; k <= 255; k++) {
    const end = k < 0 ? low : high, share = Math.abs(k) / 255;
    const [r, g, b] = middle.map((m, i) => Math.round(m + (end[i] - m) * share));
    scaleColours[k + 255] = (255 << 24) | (b << 16) | (g << 8) | r;
  }
}

/** Give a canvas a size on the page and return its context, in units of the page. */
export function fit(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

export const font = (size, weight = 400) => `${weight} ${size}px system-ui, "Segoe UI", Roboto, sans-serif`;

/** In how many columns a panel stands, as watch.css decides by its width: 1, 2 or 3. */
export const breadth = (panel) => +getComputedStyle(panel.root.querySelector(".columns")).getPropertyValue("--breadth");

/** The height left for a panel when header, curve and controls have theirs. */
export const roomFor = () => window.innerHeight - document.querySelector("header").offsetHeight - find("dock").offsetHeight;

export function drawDisc(context, x, y, radius, colour) {
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  outlined(context, radius * 0.25, colour);
}

/** Fill a path, with a rim of the ground's colour round it. */
export function outlined(context, rim, colour) {
  context.fillStyle = colour;
  context.strokeStyle = palette.card;
  context.lineWidth = Math.max(2, rim);
  context.lineJoin = "round";
  context.stroke();
  context.fill();
}

/** Round numbers that divide a range into about so many parts. */
export function ticks(low, high, parts) {
  const raw = (high - low) / parts, power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw));
  const marks = [];
  for (let mark = Math.ceil(low / step) * step; mark <= high; mark += step) marks.push(mark);
  return marks;
}
