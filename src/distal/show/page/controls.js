/* Buttons, sliders, keys and what a pointer does. */
import { copyLink } from "./address.js";
import { readPalette } from "./canvas.js";
import { curve, episodeAt } from "./curve.js";
import { find, grouped, plural, text } from "./elements.js";
import { entryAt } from "./matrix.js";
import { computed, lastStep, panels, shown } from "./panels.js";
import { changeSpeed, go, jump, jumpToBest, pause, play, stepBy, toggleLearning } from "./playback.js";
import { render, set, SPEEDS, state } from "./state.js";
import { inspect, inspectBy } from "./synapse.js";
import { EPISODES } from "./trial.js";

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
  text(find("speed"), state.learning ? `${plural(SPEEDS[state.speed], "episode")}/s` : `${plural(SPEEDS[state.speed], "step")}/s`);
  find("learning").setAttribute("aria-pressed", String(state.learning));
  find("log").setAttribute("aria-pressed", String(state.log));
  for (const button of document.querySelectorAll("[data-view]")) button.setAttribute("aria-pressed", String(button.dataset.view === state.view));
}

const toggleTheme = () => {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  readPalette();
  render();
};
const toggleView = () => {
  if (document.querySelector("[data-view]")) set({ view: state.view === "weights" ? "change" : "weights" });
};

const toggleHelp = () => {
  const help = find("help");
  if (help.open) help.close();
  else help.showModal();
};

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

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (find("help").open) {
    if (event.key === "?") toggleHelp();
    return;
  }
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const on = document.activeElement;
  const moves = key.startsWith("Arrow") || ["Home", "End", "PageUp", "PageDown"].includes(key);
  if (on.classList.contains("matrix")) {
    if (key === "Escape") return inspect(null);
    if (key.startsWith("Arrow")) {
      event.preventDefault();
      return inspectBy(key);
    }
  }
  if (on === curve.canvas && (key === "ArrowLeft" || key === "ArrowRight")) {
    event.preventDefault();
    return jump(state.episode + (key === "ArrowRight" ? 1 : -1));
  }
  if (on.tagName === "INPUT" && moves) return undefined; // a slider with the focus moves itself
  if (on.tagName === "BUTTON" && (key === " " || key === "Enter")) return undefined; // and a button is pressed
  if (!Object.hasOwn(KEYS, key)) return undefined;
  event.preventDefault();
  return KEYS[key]();
}

/** Let buttons, sliders, keys and the pointer do what they say. */
export function connect() {
  const press = (id, action) => find(id).addEventListener("click", (event) => {
    action();
    if (event.detail) event.currentTarget.blur(); // pressed with a pointer: the keys stay shortcuts
  });
  press("play", KEYS[" "]);
  press("back", () => stepBy(-1));
  press("forward", () => stepBy(1));
  press("previous-episode", KEYS.ArrowUp);
  press("next-episode", KEYS.ArrowDown);
  press("best", jumpToBest);
  press("slower", () => changeSpeed(-1));
  press("faster", () => changeSpeed(1));
  press("learning", toggleLearning);
  press("log", KEYS.x);
  press("theme", toggleTheme);
  press("copy-link", copyLink);
  press("help-button", toggleHelp);
  for (const button of document.querySelectorAll("[data-view]")) {
    button.addEventListener("click", (event) => {
      set({ view: button.dataset.view });
      if (event.detail) button.blur();
    });
  }
  find("episode").max = String(EPISODES);
  find("episode").addEventListener("input", (event) => jump(event.target.valueAsNumber - 1));
  find("step").addEventListener("input", (event) => {
    pause();
    go(state.episode, event.target.valueAsNumber, false);
  });
  for (const id of ["episode", "step"]) find(id).addEventListener("pointerup", (event) => event.target.blur());

  curve.canvas.addEventListener("pointerdown", (event) => {
    curve.canvas.setPointerCapture(event.pointerId);
    jump(episodeAt(event));
  });
  curve.canvas.addEventListener("pointermove", (event) => {
    if (curve.canvas.hasPointerCapture(event.pointerId)) jump(episodeAt(event));
  });
  curve.canvas.addEventListener("pointerup", () => curve.canvas.blur());

  for (const panel of panels.filter((one) => one.recorded)) {
    const stepAt = (event) => panel.layout.step(event.clientX - panel.$matrix.getBoundingClientRect().left);
    panel.$matrix.addEventListener("click", (event) => {
      pause();
      if (shown()) go(state.episode, stepAt(event), false);
    });
  }
  for (const panel of computed) {
    panel.$matrix.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse" && !state.kept && panel.layout) inspect(entryAt(panel, event));
    });
    panel.$matrix.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse" && !state.kept) inspect(null);
    });
    panel.$matrix.addEventListener("click", (event) => {
      const entry = panel.layout && entryAt(panel, event), now = state.inspected;
      const same = state.kept && entry && now && entry.matrix === now.matrix && entry.row === now.row && entry.column === now.column;
      state.kept = !!entry && !same;
      inspect(state.kept ? entry : null);
    });
  }

  document.addEventListener("keydown", onKey);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.theme = scheme.matches ? "dark" : "light";
  scheme.addEventListener("change", () => {
    document.documentElement.dataset.theme = scheme.matches ? "dark" : "light";
    readPalette();
    render();
  });
  new ResizeObserver(() => render()).observe(find("panels"));
  window.addEventListener("resize", () => render());
}
