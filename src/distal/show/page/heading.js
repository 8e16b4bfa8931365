/* What the page says of the trial as a whole: title, subtitle, legend and help. */
import { find, grouped, make, plural, text } from "./elements.js";
import { computed, panels } from "./panels.js";
import { data, EPISODES, GRADED, H, MOVES, phases, TASK } from "./trial.js";

/** Write everything that stays as it is. */
export function describe() {
  const { settings, resample } = data;
  const names = data.learners.map((learner) => learner.name);
  find("panels").classList.toggle("two", names.length > 1);
  document.body.classList.toggle("one", names.length === 1);
  text(find("title"), data.title);
  const readings = Object.keys(data.defaults).filter((name) => settings[name] !== data.defaults[name]).map((name) => `${name} ${settings[name]}`);
  const parts = [plural(EPISODES, "episode"), `seed ${data.evaluation_seed}`, plural(H, `${GRADED ? "sigmoid " : ""}hidden neuron`), plural(settings.steps, "step")];
  if (MOVES) parts.push(`the goal moves every ${phases.every === 1 ? "episode" : plural(phases.every, "episode")}`);
  if (TASK) parts.push(plural(TASK.states, "state"), `${plural(TASK.bits, "bit")} sensed${TASK.encoder ? ` (${TASK.encoder})` : ""}`);
  // What a recorded learner makes of resampling is its own affair.
  if (resample !== null && computed.some((panel) => panel.learner.kind !== "chance")) parts.push(`fresh weights every ${grouped(resample)} episodes`);
  else if (resample !== null && computed.length < panels.length) parts.push(`resample ${grouped(resample)}`);
  text(find("subtitle"), [...parts, ...readings].join(" · "));
  if (names.length === 1) { // one panel needs no name of its own
    find("title").after(panels[0].root.querySelector(".numbers"));
    panels[0].root.querySelector("h2").remove();
  }
  if (TASK) describeTask();
  find("ties").hidden = settings.m_ties !== "punish";
  find("help-moves").hidden = !MOVES;
  find("help-graded").hidden = !GRADED || !computed.length;
  find("help-activity").hidden = computed.length === panels.length;
  find("help-synapse").hidden = find("help-names").hidden = !computed.length;
  find("help-other").hidden = !panels.some((panel) => panel.colour.startsWith("other"));
  if (!computed.length) text(find("source"), "This is a recording: the reference engine ran the trial, and the page plays what happened.");
  else if (computed.length < panels.length) {
    const recorded = panels.find((panel) => panel.recorded).learner.name;
    text(find("source"), `${recorded} is a recording: the reference engine ran its trial, and the page plays what happened. The page computes the trial of ${computed[0].learner.name} anew, exactly, and compares every EP with the one that the engine computed.`);
  }
  const entry = (colour, style, content) => {
    const item = make("span"), swatch = make("i");
    swatch.style.borderTop = `${style} var(--${colour})`;
    item.append(swatch, content);
    find("legend").append(item);
  };
  for (const panel of panels) entry(panel.colour, "3px solid", `${panel.learner.name}: best so far`);
  entry("chance", "2px dotted", `chance: best so far, mean of ${data.chance.trials} trials`);
  if (!TASK) entry("goal", "2px dashed", "shortest way");
  else if (TASK.target !== null) entry("goal", "2px dashed", `target: ${grouped(TASK.target)}`);
  const dots = make("div");
  text(dots, `dots: EP of each episode; here: ● EP, ○ best so far${MOVES ? "; upright: the goal moves, the best begins anew" : ""}`);
  find("legend").append(dots);
}

/** What the help says of a task that is no maze. */
function describeTask() {
  text(find("help-task"), `A network acts in ${TASK.name}, in one episode after another. Its weights stay as they are in an episode. Only when an episode is over is it told how well that went.`);
  const reached = TASK.target === null ? "" : ` The goal counts as reached at an EP of ${grouped(TASK.target)} or less.`;
  text(find("help-ep"), `It is what the steps of an episode cost, all together: minus the return of an environment.${reached}`);
  find("help-states").hidden = Boolean(TASK.picture);
  find("help-grid").hidden = !TASK.picture;
  text(find("help-grid-name"), "Grid");
  text(find("help-agent"), "a disc, or a triangle where it looks one way; a small disc is what it fetches or carries");
}
