/* The page's words, elements and canvases, the colours of its theme, and how it reports a failure. */

export const find = (id) => document.getElementById(id);
export const grouped = (n) => n.toLocaleString("en").replace("-", "−");
export const signed = (x, digits = 4) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(digits);
export const plain = (x, digits = 4) => (x < 0 ? "−" : "") + Math.abs(x).toFixed(digits);
export const plural = (n, one, many = `${one}s`) => `${grouped(n)} ${n === 1 ? one : many}`;

/** Set the text of an element, if it is another. */
export function text(element, value) {
  if (element.textContent !== value) element.textContent = value;
}

/** Make an element. */
export function make(tag, className = "", content = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (content !== "") element.textContent = content;
  return element;
}

/** α_h as α with an h below it; other names as they are. */
export const subscripted = (name) => (name.startsWith("α_") ? ["α", make("sub", "", name.slice(2))] : [name]);

/** Show a value, and a small remark beside it. */
export function remark(element, strong, small) {
  if (element.dataset.shown === strong + small) return;
  element.dataset.shown = strong + small;
  element.replaceChildren(strong, make("small", "", small));
}

const NOTICE_TIME = 6000; // milliseconds that a notice stays
let noticeTimer = 0;

/** Show a notice for a while. */
export function tell(message) {
  clearTimeout(noticeTimer);
  text(find("notice"), message);
  noticeTimer = setTimeout(() => text(find("notice"), ""), NOTICE_TIME);
}

/** Show that something is wrong; it stays. */
export function complain(message) {
  find("alert").hidden = false;
  text(find("alert"), message);
}

window.addEventListener("error", (event) => complain(`This page has failed: ${event.message}`));

/* Colours and canvases. */

const LEARNERS_OWN = ["dsp", "hc", "chance", "other"].flatMap((role) => [role, `on-${role}`]);

export let palette = {}; // colours by the name of their role
export let scaleColours = null; // 511 colours from negative over middle to positive

/** Read the colours of the theme that the page has now. */
export function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const roles = ["ink", "soft", "line", "page", "card", "middle", "wall", "floor", "start", "goal", "on-goal", "pit", "negative", "positive", ...LEARNERS_OWN];
  palette = Object.fromEntries(roles.map((role) => [role, style.getPropertyValue(`--${role}`).trim()]));
  const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const low = rgb(palette.negative), middle = rgb(palette.middle), high = rgb(palette.positive);
  scaleColours = Uint32Array.from({ length: 511 }, (_, at) => {
    const end = at < 255 ? low : high, share = Math.abs(at - 255) / 255;
    const [r, g, b] = middle.map((m, i) => Math.round(m + (end[i] - m) * share));
    return (255 << 24) | (b << 16) | (g << 8) | r;
  });
}

/** Give a canvas a size on the page, unless the style sheet has; return its context, cleared, in units of the page. */
export function fit(canvas, width, height, styled = false) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    Object.assign(canvas, { width: w, height: h });
    if (!styled) Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** What `draw` returns, which is called again only when the key is another. */
export function cached(holder, name, key, draw) {
  if (holder[name]?.key !== key) holder[name] = { key, value: draw() };
  return holder[name].value;
}

export const font = (size, weight = 400) => `${weight} ${size}px system-ui, "Segoe UI", Roboto, sans-serif`;

/** Draw lines as one path, each through its points: x, y, x, y, … */
export function lines(context, ...all) {
  context.beginPath();
  for (const points of all) for (let k = 0; k < points.length; k += 2) context[k ? "lineTo" : "moveTo"](points[k], points[k + 1]);
  context.stroke();
}

/** Begin a path that is a circle. */
export function circle(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
}

/** Fill a path, with a rim of the ground's colour round it. */
export function outlined(context, rim, colour) {
  Object.assign(context, { fillStyle: colour, strokeStyle: palette.card, lineWidth: Math.max(2, rim), lineJoin: "round" });
  context.stroke();
  context.fill();
}

/** In how many columns a panel stands, as watch.css decides by its width: 1, 2 or 3. */
export const breadth = (panel) => +getComputedStyle(panel.root.querySelector(".columns")).getPropertyValue("--breadth");

/** The height left for a panel when header, curve and controls have theirs. */
export const roomFor = () => window.innerHeight - document.querySelector("header").offsetHeight - find("dock").offsetHeight;

/** Round numbers that divide a range into about so many parts. */
export function ticks(low, high, parts) {
  const raw = (high - low) / parts, power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw));
  const marks = [];
  for (let mark = Math.ceil(low / step) * step; mark <= high; mark += step) marks.push(mark);
  return marks;
}
