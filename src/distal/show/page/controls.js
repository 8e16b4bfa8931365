/* Buttons, sliders, keys and what a pointer does. */
import { copyLink } from "./address.js";
import { curve, episodeAt } from "./curve.js";
import { find, grouped, plural, readPalette, text } from "./elements.js";
import { entryAt, inspect, inspectBy } from "./matrix.js";
import { computed, lastStep, panels, shown } from "./panels.js";
import { changeSpeed, go, jump, jumpToBest, pause, play, stepBy, toggleLearning } from "./playback.js";
import { EPISODES, render, set, SPEEDS, state } from "./trial.js";

const DARK = matchMedia("(prefers-color-scheme: dark)");

/** Show where we are, and what is switched on. */
export function renderControls() {
  text(find("episode-now"), `${grouped(state.episode + 1)} of ${grouped(EPISODES)}`);
  find("episode").value = String(state.episode + 1);
  if (shown()) {
    const last = lastStep();
    find("step").max = String(last);
    find("step").value = String(state.step);
    text(find("step-now"), `${grouped(state.step)} of ${grouped(last)}`);
  }
  document.body.classList.toggle("playing", state.playing);
  text(find("play").querySelector("span"), state.playing ? "Pause" : "Play");
  text(find("speed"), `${plural(SPEEDS[state.speed], state.learning ? "episode" : "step")}/s`);
  const pressed = (button, on) => button.setAttribute("aria-pressed", String(on));
  pressed(find("learning"), state.learning);
  pressed(find("log"), state.log);
  for (const button of document.querySelectorAll("[data-view]")) pressed(button, button.dataset.view === state.view);
}

function useTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  readPalette();
}

function toggleTheme() {
  useTheme(document.documentElement.dataset.theme !== "dark");
  render();
}

function toggleView() {
  if (document.querySelector("[data-view]")) set({ view: state.view === "weights" ? "change" : "weights" });
}

function toggleHelp() {
  if (find("help").open) find("help").close();
  else find("help").showModal();
}

const KEYS = {
  " ": () => (state.playing ? pause() : play()),
  ArrowRight: () => stepBy(1),
  ArrowLeft: () => stepBy(-1),
  ArrowDown: () => jump(state.episode + 1),
  ArrowUp: () => jump(state.episode - 1),
  PageDown: () => jump(state.episode + 10),
  PageUp: () => jump(state.episode - 10),
  Home: () => go(0, 0),
  End: () => jump(EPISODES - 1),
  b: jumpToBest,
  "+": () => changeSpeed(1),
  "=": () => changeSpeed(1),
  "-": () => changeSpeed(-1),
  "−": () => changeSpeed(-1),
  l: toggleLearning,
  w: toggleView,
  x: () => set({ log: !state.log }),
  d: toggleTheme,
  c: copyLink,
  "?": toggleHelp,
};

const PRESSED = {
  play: KEYS[" "], back: KEYS.ArrowLeft, forward: KEYS.ArrowRight, "previous-episode": KEYS.ArrowUp, "next-episode": KEYS.ArrowDown,
  best: KEYS.b, slower: KEYS["-"], faster: KEYS["+"], learning: KEYS.l, log: KEYS.x, theme: KEYS.d, "copy-link": KEYS.c, "help-button": KEYS["?"],
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  if (find("help").open) return event.key === "?" ? toggleHelp() : undefined;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key, on = document.activeElement;
  const arrow = key.startsWith("Arrow"), moves = arrow || ["Home", "End", "PageUp", "PageDown"].includes(key);
  let action = Object.hasOwn(KEYS, key) ? KEYS[key] : null;
  if (on.classList.contains("matrix") && key === "Escape") return inspect(null);
  if (on.classList.contains("matrix") && arrow) action = () => inspectBy(key);
  else if (on === curve && key === "ArrowLeft") action = KEYS.ArrowUp;
  else if (on === curve && key === "ArrowRight") action = KEYS.ArrowDown;
  else if (on.tagName === "INPUT" && moves) return undefined; // a slider with the focus moves itself
  else if (on.tagName === "BUTTON" && (key === " " || key === "Enter")) return undefined; // and a button is pressed
  if (!action) return undefined;
  event.preventDefault();
  return action();
}

/** Let buttons, sliders, keys and the pointer do what they say. */
export function connect() {
  const press = (button, action) => button.addEventListener("click", (event) => {
    action();
    if (event.detail) button.blur(); // pressed with a pointer: the keys stay shortcuts
  });
  for (const [id, action] of Object.entries(PRESSED)) press(find(id), action);
  for (const button of document.querySelectorAll("[data-view]")) press(button, () => set({ view: button.dataset.view }));
  find("episode").max = String(EPISODES);
  find("episode").addEventListener("input", (event) => jump(event.target.valueAsNumber - 1));
  find("step").addEventListener("input", (event) => {
    pause();
    go(state.episode, event.target.valueAsNumber, false);
  });
  for (const id of ["episode", "step"]) find(id).addEventListener("pointerup", (event) => event.target.blur());

  curve.addEventListener("pointerdown", (event) => {
    curve.setPointerCapture(event.pointerId);
    jump(episodeAt(event));
  });
  curve.addEventListener("pointermove", (event) => {
    if (curve.hasPointerCapture(event.pointerId)) jump(episodeAt(event));
  });
  curve.addEventListener("pointerup", () => curve.blur());
  for (const panel of panels) if (panel.recorded) connectActivity(panel);
  for (const panel of computed) connectMatrix(panel);

  document.addEventListener("keydown", onKey);
  useTheme(DARK.matches);
  DARK.addEventListener("change", () => {
    useTheme(DARK.matches);
    render();
  });
  new ResizeObserver(render).observe(find("panels"));
  window.addEventListener("resize", render);
}

/** A click on the activity of a recording goes to the step. */
function connectActivity(panel) {
  panel.$matrix.addEventListener("click", (event) => {
    pause();
    if (shown()) go(state.episode, panel.layout.step(event.clientX - panel.$matrix.getBoundingClientRect().left), false);
  });
}

/** The pointer shows a synapse while it is there; a click keeps it, and another on the same lets it go. */
function connectMatrix(panel) {
  const hovers = (event) => event.pointerType === "mouse" && !state.kept;
  panel.$matrix.addEventListener("pointermove", (event) => {
    if (hovers(event) && panel.layout) inspect(entryAt(panel, event));
  });
  panel.$matrix.addEventListener("pointerleave", (event) => {
    if (hovers(event)) inspect(null);
  });
  panel.$matrix.addEventListener("click", (event) => {
    const entry = panel.layout && entryAt(panel, event), now = state.inspected;
    const same = state.kept && entry && now && ["matrix", "row", "column"].every((key) => entry[key] === now[key]);
    state.kept = !!entry && !same;
    inspect(state.kept ? entry : null);
  });
}
