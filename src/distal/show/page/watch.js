/* What a person sees and does: panels, playback, curve, keys. What happened in the trial comes
 * from simulate.js, or from recording.js where that has no code for a learner, or for a task: the page computes mazes alone.
 * Episodes are numbered from 0 here and from 1 on the page. */
"use strict";

window.distal = (() => {
  const data = JSON.parse(document.getElementById("trial").textContent);
  const { FEED, HEADINGS, OUTPUTS, Phases, Replay, counts, rowCounts } = simulate;
  const { Recording } = recording;
  const H = data.settings.hidden, COLUMNS = FEED + H + OUTPUTS;
  const EPISODES = data.learners[0].eps.length;
  const TASK = data.task ?? null; // a table; null in a maze
  const phases = new Phases(data.phases), MOVES = phases.goals.length > 1;
  const GRADED = data.settings.neurons === "sigmoid";
  const ACTIONS = TASK ? TASK.actions : simulate.ACTIONS;
  const SENSES = TASK ? [...Array(TASK.bits).keys(), "bias"].map(String) : ["left", "front", "right", "bias"];
  const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
  const SLICE = 10; // milliseconds of computing before the page may breathe
  const END_PAUSE = 700; // milliseconds at the end of an episode, at most
  const USAGE_PAUSE = 200; // milliseconds between two looks at how often rows have been used
  const ADDRESS_PAUSE = 500; // between two changes of the address; browsers refuse more than 100 in 30 seconds
  const NOTICE_TIME = 6000; // milliseconds that a notice stays

  const state = {
    episode: 0, step: 0, playing: false, learning: false, speed: SPEEDS.indexOf(20), view: "weights",
    log: false, inspected: null, jumped: false,
  };

  const find = (id) => document.getElementById(id);
  const grouped = (n) => n.toLocaleString("en").replace("-", "−");
  const signed = (x, digits = 4) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(digits);
  const plain = (x, digits = 4) => (x < 0 ? "−" : "") + Math.abs(x).toFixed(digits);
  const plural = (n, one, many = `${one}s`) => `${grouped(n)} ${n === 1 ? one : many}`;

  function text(element, value) {
    if (element.textContent !== value) element.textContent = value;
  }

  function make(tag, className = "", content = "") {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (content !== "") element.textContent = content;
    return element;
  }

  /** α_h as α with an h below it; other names as they are. */
  function subscripted(name) {
    return name.startsWith("α_") ? ["α", make("sub", "", name.slice(2))] : [name];
  }

  // ---------------------------------------------------------------- colours and canvases

  let palette = {};
  let scaleColours = null; // 511 colours from negative over middle to positive

  function readPalette() {
    const style = getComputedStyle(document.documentElement);
    palette = {};
    for (const name of ["ink", "soft", "line", "page", "card", "middle", "wall", "floor", "start", "goal", "on-goal", "pit", "negative", "positive", "chance", ...panels.flatMap((panel) => [panel.colour, `on-${panel.colour}`])]) {
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
  function fit(canvas, width, height) {
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

  const font = (size, weight = 400) => `${weight} ${size}px system-ui, "Segoe UI", Roboto, sans-serif`;

  // ---------------------------------------------------------------- panels

  const SCALES = [["recurrent", "α_h", "alpha_h"], ["feedback", "α_o", "alpha_o"]];
  const KINDS = { // how each kind of learner fills its part of a panel, where the page computes it
    dsp: { numbers: [["", "η", "eta"], ["", "θ", "theta"]], build: buildRule, render: renderRule },
    hc: { numbers: [["noise", "σ", "sigma"]], build: buildClimber, render: renderClimber },
    chance: { numbers: [], build: buildChance, render: renderChance },
  };
  const RECORDED = { build: buildRecorded, render: renderRecorded }; // and any kind that is recorded
  const MOST_NUMBERS = { heading: 5, list: 9 }; // of a recorded learner; it may have hundreds

  const roleOf = (learner) => (Object.hasOwn(KINDS, learner.kind) ? learner.kind : "other"); // the name of its colour

  /** What a learner's numbers are called, and the numbers: [in words, symbol, value] each. */
  function numbersOf(learner) {
    if (!learner.recording) return [...KINDS[learner.kind].numbers, ...SCALES].map(([name, symbol, key]) => [name, symbol, learner[key]]);
    return Object.entries(learner.numbers).map(([key, value]) => {
      const known = [...(KINDS[learner.kind]?.numbers ?? []), ...SCALES].find((one) => one[2] === key);
      return known ? [known[0], known[1], value] : ["", key, value];
    });
  }

  const panels = data.learners.map((learner, index) => {
    const root = find("panel").content.firstElementChild.cloneNode(true);
    const recorded = Boolean(learner.recording), role = roleOf(learner);
    const panel = {
      index, learner, root, recorded,
      kind: recorded ? RECORDED : KINDS[learner.kind],
      // The colour of its kind; where both have the same, the second has a lighter one.
      colour: index && role === roleOf(data.learners[0]) ? `${role}-resampled` : role,
      replay: recorded ? new Recording(data, learner) : new Replay(data, learner, learner.eps),
      best: new Int32Array(EPISODES), // the best EP so far in the phase, and the episode that had it first
      bestAt: new Int32Array(EPISODES),
      result: null, // what is shown: {episode, update, fresh}
      layout: null,
    };
    learner.eps.forEach((ep, n) => {
      const better = n % phases.every === 0 || ep < panel.best[n - 1];
      panel.best[n] = better ? ep : panel.best[n - 1];
      panel.bestAt[n] = better ? n : panel.bestAt[n - 1];
    });
    panel.check = recorded ? null : panel.replay.check();
    for (const name of ["phase", "ep", "best", "best-name", "signal", "signal-name", "step", "pits", "pits-name", "senses-name", "action", "maze", "outcome", "matrix", "matrix-title", "low", "high", "readout", "learner", "waiting"]) {
      panel[`$${name}`] = root.querySelector(`.${name}`);
    }
    root.style.setProperty("--mine", `var(--${panel.colour})`);
    root.style.setProperty("--on-mine", `var(--on-${panel.colour})`);
    root.setAttribute("aria-label", learner.name);
    root.querySelector(".name").textContent = learner.name;
    const numbers = numbersOf(learner), told = recorded ? numbers.slice(0, MOST_NUMBERS.heading) : numbers;
    root.querySelector(".numbers").replaceChildren(...told.map(([, symbol, value]) => {
      const item = make("span");
      item.append(...subscripted(symbol), ` ${+value.toPrecision(4)}`);
      return item;
    }));
    if (told.length < numbers.length) root.querySelector(".numbers").append("…");
    buildNeurons(panel);
    if (MOVES) {
      root.querySelector(".stats").classList.add("moving");
      panel.$phase.parentElement.hidden = false;
      text(panel["$best-name"], "Best in phase");
    }
    panel.kind.build(panel);
    find("panels").append(root);
    return panel;
  });
  const computed = panels.filter((panel) => !panel.recorded);

  function buildNeurons(panel) {
    const fill = (layer, names, titles) => {
      const cells = panel.root.querySelector(`.${layer} .cells`);
      panel[`${layer}Cells`] = names.map((name, i) => {
        const cell = make("span", "", name);
        cell.title = titles[i];
        cells.append(cell);
        return cell;
      });
      return cells;
    };
    const senses = TASK ? SENSES.slice(0, -1).map((bit) => `bit ${bit} of the observation`) : ["wall to the left", "wall in front", "wall to the right"];
    fill("inputs", SENSES, [...senses, "the bias is always active"]).classList.toggle("many", SENSES.length > 16);
    if (TASK) {
      panel.root.querySelector(".neurons").classList.add("of-table");
      text(panel["$senses-name"], `${plural(TASK.bits, "bit")} sensed${TASK.encoder ? `: ${TASK.encoder}` : ""}`);
      text(panel["$pits-name"], "State");
    }
    const indices = Array.from({ length: H }, (_, j) => j);
    const cells = fill("hidden", indices.map(String), indices.map((j) => `hidden neuron ${j}`));
    cells.classList.toggle("many", H > 40);
    cells.classList.toggle("graded", GRADED && !panel.recorded);
    panel.root.querySelector(".hidden h3").textContent = plural(H, `${GRADED ? "sigmoid " : ""}hidden neuron`);
    fill("outputs", ACTIONS, ACTIONS.map((name) => `output ${name}`));
  }

  function buildRule(panel) {
    const section = panel.$learner;
    section.append(make("h3", "", "Update after this episode"));
    panel.$why = make("p");
    panel.$key = make("p", "key", `Bits: (pre, post) was 00, 01, 10, 11 in a share of the steps above θ. n of ${grouped(H * (COLUMNS - 1) + OUTPUTS * (H + 1))} synapses selected the row. Used: solid up to here, pale in the whole trial.`);
    section.append(panel.$why, ruleTables(panel, ["n", "used"]), panel.$key);
  }

  /** The rows of a rule as two tables, for m = −1 and m = +1, with some columns to be filled. */
  function ruleTables(panel, columns) {
    const halves = make("div", "halves");
    panel.rows = new Array(32);
    panel.halves = [0, 1].map((positive) => {
      const table = make("table");
      table.createCaption().className = "unseen";
      table.caption.textContent = `Rows of the rule for m = ${positive ? "+1" : "−1"}`;
      const head = table.createTHead().insertRow();
      const classes = { "00": "bit", "01": "bit", 10: "bit", 11: "bit", n: "n", used: "used" };
      for (const name of ["00", "01", "10", "11", "m", "Δw", ...columns]) {
        const cell = make("th", classes[name], name);
        cell.scope = "col";
        head.append(cell);
      }
      const body = table.createTBody();
      for (let bits = 0; bits < 16; bits++) {
        const number = 2 * bits + positive, change = panel.learner.delta_w[number];
        const row = body.insertRow();
        for (const bit of bits.toString(2).padStart(4, "0")) row.insertCell().textContent = bit;
        row.insertCell().textContent = positive ? "+1" : "−1";
        const cell = row.insertCell();
        cell.className = `change ${change > 0 ? "positive" : change < 0 ? "negative" : ""}`;
        cell.textContent = change > 0 ? "+1" : change < 0 ? "−1" : "0";
        for (const name of columns) row.insertCell().className = name;
        const bar = make("i");
        bar.setAttribute("role", "img");
        row.querySelector(".used").append(bar);
        row.addEventListener("click", () => tell(row.title)); // a finger cannot point
        panel.rows[number] = { row, n: row.querySelector(".n"), bar };
      }
      halves.append(table);
      return table;
    });
    return halves;
  }

  function buildClimber(panel) {
    const section = panel.$learner;
    section.append(make("h3", "", "Hill climbing"));
    panel.$verdict = make("span", "verdict");
    panel.$why = make("p");
    section.append(parameters(numbersOf(panel.learner)), panel.$verdict, panel.$why);
    panel["$signal-name"].textContent = "Climb";
  }

  function buildChance(panel) {
    const section = panel.$learner;
    section.append(make("h3", "", "Chance"));
    panel.$verdict = make("span", "verdict");
    panel.$why = make("p");
    section.append(parameters(numbersOf(panel.learner)), panel.$verdict, panel.$why);
    panel["$signal-name"].textContent = "Weights";
    text(panel.$signal, "fresh");
    panel.root.querySelector(".segmented").remove(); // nothing changes the weights
  }

  /** Whatever it is: its numbers, and that it is recorded. Activity takes the place of the matrix. */
  function buildRecorded(panel) {
    const { learner, root } = panel, section = panel.$learner, numbers = numbersOf(learner);
    section.append(make("h3", "", learner.label[0].toUpperCase() + learner.label.slice(1)), parameters(numbers.slice(0, MOST_NUMBERS.list)));
    if (numbers.length > MOST_NUMBERS.list) section.append(make("p", "key", `and ${plural(numbers.length - MOST_NUMBERS.list, "more number")}`));
    panel.$verdict = make("span", "verdict");
    panel.$why = make("p");
    section.append(panel.$verdict, panel.$why, make("p", "key", `Recorded: this page ${TASK ? "computes mazes alone" : `has no code for learners of kind ${learner.kind}`}, so it plays what the engine recorded. A recording holds no weights.`));
    if (learner.usage) section.append(make("h3", "", "Rows used in the whole trial"), ruleTables(panel, ["used"]), make("p", "key", "Bits: (pre, post) was 00, 01, 10, 11 in a share of the steps above θ. Used: how often synapses selected the row, as the engine counted; point at a row for the number."));
    panel["$signal-name"].textContent = "EP before";
    root.classList.add("recorded");
    root.querySelector(".segmented").remove();
    root.querySelector(".scale").remove();
    panel.$readout.remove();
    panel.$matrix.removeAttribute("tabindex");
    text(panel.$waiting, "waiting …");
  }

  function parameters(numbers) {
    const list = make("dl", "parameters");
    for (const [name, symbol, value] of numbers) {
      const box = make("div"), term = make("dt", "", name ? `${name} ` : "");
      term.append(...subscripted(symbol));
      term.title = term.textContent;
      box.append(term, make("dd", "", String(+value.toPrecision(4))));
      list.append(box);
    }
    return list;
  }

  // ---------------------------------------------------------------- computing, in slices

  let target = 0; // the episode that the panels should show
  let timer = 0;
  let usageDue = 0; // when to look again at how often rows have been used
  let settle; // resolves `ready`
  let settleChecked;
  const ready = new Promise((resolve) => (settle = resolve));
  const checked = new Promise((resolve) => (settleChecked = resolve));

  /** Go on with one panel until it shows the target or time is up; say whether it does. */
  function advance(panel, until) {
    if (panel.result && panel.result.episode.number === target) return true;
    if (!panel.job || panel.job.number !== target) panel.job = { number: target, run: null };
    do {
      if (!panel.replay.within(target)) panel.check.next();
      else {
        panel.job.run ??= panel.replay.episode(target);
        const { done, value } = panel.job.run.next();
        if (done) {
          panel.result = value;
          panel.job = null;
          summarise(panel);
          return true;
        }
      }
    } while (performance.now() < until);
    return false;
  }

  /** Compute for a slice: first what should be seen, then the comparison with the engine. */
  function work() {
    timer = 0;
    const until = performance.now() + SLICE;
    const was = shown();
    const all = panels.map((panel) => advance(panel, until)).every(Boolean);
    if (all && !was) render();
    while (all && performance.now() < until) {
      const next = computed.filter((panel) => panel.replay.checked < EPISODES).sort((a, b) => a.replay.checked - b.replay.checked)[0];
      if (!next) break;
      next.check.next();
    }
    renderMatch();
    const compared = computed.every((panel) => panel.replay.checked === EPISODES);
    if (all && (compared || performance.now() > usageDue)) {
      usageDue = performance.now() + USAGE_PAUSE;
      panels.filter((panel) => panel.rows).forEach(renderUsage);
    }
    if (!shown() || !compared) later();
    else settleChecked(true);
  }

  function later() {
    if (!timer) timer = setTimeout(work, 0);
  }

  /** Whether all panels show the target. */
  function shown() {
    return panels.every((panel) => panel.result && panel.result.episode.number === target);
  }

  const lastStep = () => Math.max(...panels.map((panel) => (panel.result ? panel.result.episode.steps : 0)));

  /** What the panels need to know of an episode beyond its steps. */
  function summarise(panel) {
    const { episode, update } = panel.result;
    panel.pitsAt = new Int32Array(episode.steps + 1);
    for (let t = 1; t <= episode.steps && !TASK; t++) {
      const entered = episode.cells[t] !== episode.cells[t - 1] && panel.replay.mazeIn(episode.number).pit[episode.cells[t]];
      panel.pitsAt[t] = panel.pitsAt[t - 1] + (entered ? 1 : 0);
    }
    panel.dirty = true;
    if (panel.recorded) return;
    const difference = (to, from) => to.map((w, at) => w - from[at]);
    if (panel.learner.kind === "dsp") {
      panel.change = { hidden: difference(update.after.hidden, episode.weights.hidden), output: difference(update.after.output, episode.weights.output) };
      panel.selected = rowCounts(update.rows, H);
    } else if (panel.learner.kind === "hc") {
      const from = update.best ? update.best.weights : episode.weights;
      panel.change = { hidden: difference(episode.weights.hidden, from.hidden), output: difference(episode.weights.output, from.output) };
    }
  }

  // ---------------------------------------------------------------- where we are

  /** Show an episode (from 0) at a step; without a step, at its end. */
  function go(episode, step = Infinity, jumped = true) {
    state.episode = Math.min(Math.max(Math.round(episode), 0), EPISODES - 1);
    state.step = step;
    state.jumped = jumped;
    target = state.episode;
    const until = performance.now() + SLICE;
    panels.map((panel) => advance(panel, until));
    if (!shown()) later();
    render();
  }

  const jump = (episode) => go(episode, state.playing && !state.learning ? 0 : Infinity);

  function stepBy(by) {
    pause();
    if (!shown()) return;
    if (by > 0 && state.step >= lastStep()) {
      if (state.episode < EPISODES - 1) go(state.episode + 1, 0, false);
    } else if (by < 0 && state.step <= 0) {
      if (state.episode > 0) go(state.episode - 1, Infinity, false);
    } else go(state.episode, state.step + by, false);
  }

  /** Jump to the best episode; where the goal moves, of the phase shown. */
  function jumpToBest() {
    const last = Math.min((phases.of(state.episode) + 1) * phases.every, EPISODES) - 1;
    const best = panels.map((panel) => ({ ep: panel.best[last], at: panel.bestAt[last] }));
    best.sort((a, b) => a.ep - b.ep || a.at - b.at);
    // In a comparison, a second press goes to the other learner's best.
    const here = best.findIndex(({ at }) => at === state.episode);
    jump(best[(here + 1) % best.length].at);
  }

  // ---------------------------------------------------------------- playback

  let frame = 0, lastTime = 0, owed = 0, held = 0;

  function play() {
    const over = state.step >= lastStep();
    if (state.episode === EPISODES - 1 && over && !state.jumped) go(0, state.learning ? Infinity : 0, false);
    else if (over && state.jumped && !state.learning) go(state.episode, 0, false);
    else if (over && state.jumped && state.episode === EPISODES - 1) go(0, Infinity, false);
    state.playing = true;
    lastTime = performance.now();
    owed = held = 0;
    frame = frame || requestAnimationFrame(tick);
    renderControls();
  }

  function pause() {
    if (!state.playing) return;
    state.playing = false;
    cancelAnimationFrame(frame);
    frame = 0;
    renderControls();
  }

  function tick(now) {
    frame = 0;
    if (!state.playing) return;
    const elapsed = Math.min(Math.max(now - lastTime, 0), 250), speed = SPEEDS[state.speed];
    lastTime = now;
    if (shown()) {
      owed += (elapsed / 1000) * speed;
      const whole = Math.floor(owed);
      if (state.learning) {
        if (whole > 0) {
          owed -= whole;
          if (state.episode === EPISODES - 1) pause();
          else go(state.episode + whole, Infinity, false);
        }
      } else if (state.step >= lastStep()) {
        owed = 0;
        held += elapsed;
        if (held >= Math.min(END_PAUSE, 20000 / speed)) {
          held = 0;
          if (state.episode === EPISODES - 1) pause();
          else go(state.episode + 1, 0, false);
        }
      } else if (whole > 0) {
        owed -= whole;
        go(state.episode, state.step + whole, false);
      }
    }
    if (state.playing) frame = requestAnimationFrame(tick);
  }

  // ---------------------------------------------------------------- drawing a panel

  function render() {
    const there = shown();
    if (there) state.step = Math.min(Math.max(state.step, 0), lastStep());
    for (const panel of panels) {
      panel.$waiting.hidden = there;
      if (there) renderPanel(panel);
    }
    if (there && settle) {
      settle(true);
      settle = null;
    }
    renderControls();
    renderCurve();
    if (there) followAddress();
  }

  function renderPanel(panel) {
    const { episode, update } = panel.result;
    const step = Math.min(state.step, episode.steps);
    const at = episode.number, above = episode.ep - panel.best[at];
    if (MOVES) html(panel.$phase, phases.goal(at), ` phase ${grouped(phases.of(at) + 1)} / ${grouped(phases.goals.length)}`);
    html(panel.$ep, grouped(episode.ep), above ? ` +${grouped(above)}` : panel.bestAt[at] === at ? " best" : " = best");
    panel.$ep.title = above ? `${grouped(above)} above the best so far` : "";
    html(panel.$best, grouped(panel.best[at]), ` ep. ${grouped(panel.bestAt[at] + 1)}`);
    html(panel.$step, grouped(step), ` / ${grouped(episode.steps)}`);
    if (TASK) html(panel.$pits, String(episode.states[step]), ` of ${grouped(TASK.states)}`);
    else html(panel.$pits, grouped(panel.pitsAt[step]), ` / ${grouped(episode.pits)}`);
    text(panel.$action, step ? ACTIONS[episode.actions[step - 1]] : "start");
    renderNeurons(panel, episode, step);
    if (HAS_GRID) drawGrid(panel, episode, step);
    else drawStates(panel, episode, step);
    if (panel.dirty) {
      panel.dirty = false;
      panel.image = null;
      text(panel.$outcome, TASK ? tableOutcome(episode) : mazeOutcome(panel.replay, episode));
      panel.kind.render(panel, episode, update);
    }
    if (panel.recorded) return drawActivity(panel, episode, step);
    drawMatrix(panel, episode, step);
    return renderReadout(panel);
  }

  function mazeOutcome({ settings, mazeIn }, episode) {
    const pits = episode.pits ? ` + 5 × ${plural(episode.pits, "pit entry", "pit entries")}` : "";
    const last = mazeIn(episode.number).distance[episode.cells[episode.steps]];
    return episode.reached
      ? `Ends at the goal: ${plural(episode.steps, "step")}${pits} = EP ${grouped(episode.ep)}`
      : `Ends short of the goal: ${plural(settings.steps, "step")} + distance ${grouped(last)}${pits} = EP ${grouped(episode.ep)}`;
  }

  function tableOutcome(episode) {
    const end = `Ends in state ${episode.states[episode.steps]} after ${plural(episode.steps, "step")}: EP ${grouped(episode.ep)}`;
    if (episode.reached === null) return `${end}. The task has no target.`;
    return `${end}. Goal ${episode.reached ? "" : "not "}reached: the target is ${grouped(TASK.target)} or less.`;
  }

  function html(element, strong, small) {
    if (element.dataset.shown === strong + small) return;
    element.dataset.shown = strong + small;
    element.replaceChildren(strong, make("small", "", small));
  }

  function renderNeurons(panel, episode, step) {
    const light = (cells, active) => cells.forEach((cell, i) => cell.classList.toggle("on", !!(active && active[i])));
    light(panel.inputsCells, step ? episode.inputs[step - 1] : null);
    light(panel.hiddenCells, step ? episode.hidden[step - 1] : null);
    if (episode.activity) panel.hiddenCells.forEach((cell, j) => {
      const level = step ? episode.activity[step - 1][j] : 0;
      cell.style.setProperty("--level", `${100 * level}%`);
      cell.title = `hidden neuron ${j}: ${level.toFixed(3)}`;
    });
    light(panel.outputsCells, step ? episode.outputs[step - 1] : null);
    panel.outputsCells.forEach((cell, k) => cell.classList.toggle("taken", step > 0 && episode.actions[step - 1] === k));
  }

  function renderRule(panel, episode, update) {
    text(panel.$signal, update.m > 0 ? "+1" : "−1");
    panel.$signal.className = `signal ${update.m > 0 ? "up" : "down"}`;
    const sign = update.m > 0 ? "+1" : "−1";
    let why;
    if (update.previous === null) why = `m = ${sign}: the first episode with fresh weights counts as good.`;
    else {
      const relation = episode.ep < update.previous ? "lower than" : episode.ep > update.previous ? "higher than" : "equal to";
      why = `m = ${sign}: EP ${grouped(episode.ep)} is ${relation} ${grouped(update.previous)} before.`;
    }
    if (phases.movesAt(episode.number) && update.previous !== null) why += " The goal has moved; nothing tells the rule.";
    if (discarded(panel, episode)) why += " Discarded: fresh weights follow.";
    text(panel.$why, why);
    panel.halves.forEach((table, positive) => table.classList.toggle("off", (update.m > 0) !== !!positive));
    panel.rows.forEach(({ row, n }, number) => {
      const count = panel.selected[number];
      row.classList.toggle("lit", count > 0);
      text(n, count ? grouped(count) : "");
    });
    renderUsage(panel);
  }

  /** How often each row has been used: in bars up to this episode and in the whole trial, in words when pointed at.
   *
   * While the page still compares, it is as far as that has come. A recording holds the whole trial alone. */
  function renderUsage(panel) {
    const { replay, recorded, learner } = panel, counted = recorded ? EPISODES : replay.checked;
    const upTo = Math.min(panel.result.episode.number + 1, counted);
    const whole = recorded ? learner.usage : replay.used(counted), now = recorded ? null : replay.used(upTo);
    const most = Math.max(...whole), sum = (uses) => uses.reduce((a, b) => a + b, 0);
    const length = (uses) => (uses ? `max(1px, ${((100 * uses) / most).toFixed(2)}%)` : "0");
    const words = (uses, all) => `${plural(uses, "time")} (${all ? ((100 * uses) / all).toFixed(1) : 0} %)`;
    const sums = [sum(whole), now && sum(now)];
    const span = counted === EPISODES ? "in the whole trial" : `in the ${grouped(counted)} of ${plural(EPISODES, "episode")} counted so far`;
    panel.rows.forEach(({ row, bar }, number) => {
      const before = now ? `${words(now[number], sums[1])} up to episode ${grouped(upTo)}, ` : "";
      const told = `row ${number}: used ${before}${words(whole[number], sums[0])} ${span}`;
      if (row.title === told) return;
      row.title = told;
      bar.setAttribute("aria-label", told);
      bar.style.setProperty("--whole", length(whole[number]));
      bar.style.setProperty("--now", now ? length(now[number]) : "0");
    });
  }

  /** Whether the weights that an update made are never used: fresh ones are drawn instead. */
  function discarded(panel, episode) {
    return panel.replay.resample !== null && (episode.number + 1) % panel.replay.resample === 0;
  }

  function renderClimber(panel, episode, update) {
    const word = update.anew ? "anew" : update.accepted ? "accepted" : "rejected";
    text(panel.$signal, word);
    panel.$signal.className = `signal ${update.accepted ? "up" : "down"}`;
    text(panel.$verdict, update.anew ? "measured anew" : update.accepted ? "accepted as the new best" : "rejected");
    panel.$verdict.className = `verdict ${update.accepted ? "up" : "down"}`;
    if (update.best === null) text(panel.$why, "Fresh weights: the climb begins with them.");
    else if (update.anew) {
      text(panel.$why, `The goal has moved: the weights of episode ${grouped(update.best.number + 1)} (EP ${grouped(update.best.ep)}) run as they are. ` +
        `The climb goes on from their new EP, ${grouped(episode.ep)}.`);
    } else {
      text(panel.$why, `Tried: the weights of episode ${grouped(update.best.number + 1)} (EP ${grouped(update.best.ep)}) plus noise. ` +
        `EP ${grouped(episode.ep)} is ${update.accepted ? "lower, so these weights are the new best." : "not lower, so the next episode starts from the same weights again."}`);
    }
  }

  function renderChance(panel, episode) {
    const at = episode.number, better = panel.bestAt[at] === at;
    text(panel.$verdict, better ? "the best so far" : "not the best so far");
    panel.$verdict.className = `verdict ${better ? "up" : "down"}`;
    const next = "Nothing is learned: the next episode has fresh random weights again.";
    text(panel.$why, better
      ? next
      : `Episode ${grouped(panel.bestAt[at] + 1)} had EP ${grouped(panel.best[at])}. ${next}`);
  }

  function renderRecorded(panel, episode) {
    const at = episode.number, better = panel.bestAt[at] === at;
    text(panel.$signal, at ? grouped(panel.learner.eps[at - 1]) : "none");
    text(panel.$verdict, better ? "the best so far" : "not the best so far");
    panel.$verdict.className = `verdict ${better ? "up" : "down"}`;
    const best = `Episode ${grouped(panel.bestAt[at] + 1)} had EP ${grouped(panel.best[at])}`;
    if (panel.rows) renderUsage(panel);
    const first = at % phases.every === 0, where = MOVES ? " in this phase" : "";
    if (better) text(panel.$why, first ? `It is the first${where}.` : `No episode before it${where} had an EP as low.`);
    else text(panel.$why, episode.ep === panel.best[at] ? `${best} already.` : `${best}.`);
  }

  // ---------------------------------------------------------------- the grid: a maze, or the picture of a table

  /** A grid has walls, a start, and marks: goals, pits, and places that have a name alone. */
  function mazeGrid({ rows, columns, wall, start, goal, finals }) {
    const marks = finals.map(({ symbol, cell }) => ({ cell, symbol, role: cell === goal ? "goal" : "pit" }));
    return { rows, columns, wall, start, marks };
  }

  function tableGrid(rows) {
    const symbols = [...rows.join("")], roles = { G: "goal", H: "pit" };
    const named = (symbol) => (roles[symbol] ? "" : symbol.toUpperCase());
    return {
      rows: rows.length, columns: rows[0].length,
      wall: symbols.map((symbol) => symbol === "#"), start: symbols.indexOf("S"),
      marks: symbols.flatMap((symbol, cell) => ("#.S".includes(symbol) ? [] : [{ cell, symbol: named(symbol), role: roles[symbol] ?? "place" }])),
    };
  }

  const HAS_GRID = !TASK || TASK.picture !== null;
  const grids = new Map(); // by goal

  /** What the agent walks on in an episode: the goal may have moved. */
  function gridIn(number) {
    const goal = phases.goal(number);
    if (!grids.has(goal)) grids.set(goal, TASK ? tableGrid(TASK.picture.rows[goal]) : mazeGrid(panels[0].replay.mazeIn(number)));
    return grids.get(goal);
  }

  /** In how many columns a panel stands, as watch.css decides by its width: 1, 2 or 3. */
  const breadth = (panel) => +getComputedStyle(panel.root.querySelector(".columns")).getPropertyValue("--breadth");

  /** The height left for a panel when header, curve and controls have theirs. */
  const roomFor = () => window.innerHeight - document.querySelector("header").offsetHeight - find("dock").offsetHeight;

  const LARGEST = TASK ? 64 : 40; // pixels of a cell

  function cellSize(panel, { rows, columns }) {
    const width = panel.root.querySelector(".walk").clientWidth;
    // Below or beside the maze stands the rest of its panel; where it is not crowded, all of it is seen at once.
    const least = breadth(panel) === 2 ? 232 : 280, rest = [0, 150, 423, 145][breadth(panel)];
    const room = Math.max(least, Math.min(760, roomFor() - rest));
    const size = Math.min(width / columns, room / rows, LARGEST), ratio = window.devicePixelRatio || 1;
    return Math.max(Math.floor(size * ratio), 1) / ratio; // whole pixels: no seams between cells
  }

  /** The walls and the floor, which are the same for all goals: drawn once for a size and a theme. */
  function gridPicture(panel, { rows, columns, wall }, size) {
    const key = `${size} ${palette.page} ${window.devicePixelRatio}`;
    if (panel.picture && panel.picture.key === key) return panel.picture.canvas;
    const canvas = document.createElement("canvas");
    const context = fit(canvas, columns * size, rows * size);
    context.fillStyle = palette.wall;
    context.fillRect(0, 0, columns * size, rows * size);
    context.fillStyle = palette.floor;
    context.strokeStyle = palette.line;
    for (let cell = 0; cell < wall.length; cell++) {
      const x = (cell % columns) * size, y = Math.floor(cell / columns) * size;
      if (!wall[cell]) context.fillRect(x, y, size, size);
      if (!wall[cell] && TASK) context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1); // a floor without walls has no cells to see
    }
    panel.picture = { key, canvas };
    return canvas;
  }

  function drawGrid(panel, episode, step) {
    const grid = gridIn(episode.number), size = cellSize(panel, grid);
    const width = grid.columns * size, height = grid.rows * size;
    const picture = gridPicture(panel, grid, size);
    const context = fit(panel.$maze, width, height);
    context.clearRect(0, 0, width, height);
    context.drawImage(picture, 0, 0, width, height);
    const x = (cell) => (cell % grid.columns) * size, y = (cell) => Math.floor(cell / grid.columns) * size;
    const mine = palette[panel.colour], half = size / 2;

    // Cells visited, the path so far.
    const visits = new Map();
    for (let t = 0; t <= step; t++) visits.set(episode.cells[t], (visits.get(episode.cells[t]) || 0) + 1);
    context.fillStyle = mine;
    for (const [cell, times] of visits) {
      context.globalAlpha = Math.min(0.14 + 0.05 * times, 0.5);
      context.fillRect(x(cell), y(cell), size, size);
    }
    context.globalAlpha = 1;
    context.strokeStyle = mine;
    context.lineWidth = Math.min(Math.max(1, size * 0.16), 7);
    context.lineJoin = context.lineCap = "round";
    context.beginPath();
    for (let t = 0; t <= step; t++) {
      const cell = episode.cells[t], leapt = t === 0 || isLeap(grid, episode.cells[t - 1], cell);
      context[leapt ? "moveTo" : "lineTo"](x(cell) + half, y(cell) + half);
    }
    context.stroke();

    // The start, the goal and the pits, over the path so that they stay readable.
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineCap = "butt";
    const whole = Math.max(size, Math.min(1.5 * size, 12), 5); // in a large maze, larger than a cell
    context.strokeStyle = palette.start;
    context.lineWidth = Math.min(Math.max(1.5, size * 0.16), 7);
    context.beginPath();
    context.arc(x(grid.start) + half, y(grid.start) + half, whole * 0.3, 0, 7);
    context.stroke();
    for (const { symbol, cell, role } of grid.marks) {
      const isGoal = role === "goal", within = isGoal && TASK; // the ring of a maze's goal is larger than its cell
      const mark = within ? size * 0.56 : whole, left = x(cell) + (size - mark) / 2, top = y(cell) + (size - mark) / 2;
      if (role === "place") {
        context.fillStyle = palette.soft;
        context.font = font(Math.min(size * 0.7, 18), 700);
        context.fillText(symbol, x(cell) + half, y(cell) + half + size * 0.05);
        continue;
      }
      context.fillStyle = context.strokeStyle = isGoal ? palette.goal : palette.pit;
      if (isGoal) {
        context.fillStyle = palette.card;
        context.fillRect(left - mark * 0.22, top - mark * 0.22, mark * 1.44, mark * 1.44);
        context.fillStyle = palette.goal;
        context.fillRect(left, top, mark, mark);
        context.lineWidth = Math.max(1.5, mark * 0.14);
        context.strokeRect(left - mark * 0.22, top - mark * 0.22, mark * 1.44, mark * 1.44);
        context.fillStyle = palette["on-goal"];
      } else {
        const entered = visits.has(cell);
        context.globalAlpha = entered ? 0.75 : 0.28;
        context.fillRect(left, top, mark, mark);
        context.globalAlpha = 1;
        context.lineWidth = Math.min(Math.max(1, mark * 0.08), 3.2);
        context.strokeRect(left + 0.5, top + 0.5, mark - 1, mark - 1);
        context.globalAlpha = 0.6;
        context.beginPath();
        context.moveTo(left, top);
        context.lineTo(left + mark, top + mark);
        context.moveTo(left + mark, top);
        context.lineTo(left, top + mark);
        context.stroke();
        context.globalAlpha = 1;
        context.fillStyle = palette.ink;
      }
      if (mark >= 10) {
        context.font = font(Math.min(mark * 0.82, 18), 700);
        if (!isGoal) {
          context.strokeStyle = palette.card;
          context.lineWidth = 3;
          context.lineJoin = "round";
          context.strokeText(symbol, x(cell) + half, y(cell) + half + size * 0.05);
        }
        context.fillText(symbol, x(cell) + half, y(cell) + half + size * 0.05);
      }
    }

    const cell = episode.cells[step], heading = episode.headings[step], thing = TASK ? episode.things[step] : -1;
    const agent = Math.max(size * (TASK ? 0.36 : 0.8), 7);
    if (heading < 0) drawDisc(context, x(cell) + half, y(cell) + half, agent, mine);
    else drawAgent(context, x(cell) + half, y(cell) + half, agent, heading, mine);
    if (thing >= 0) drawDisc(context, x(thing) + size * 0.76, y(thing) + size * 0.76, Math.max(size * 0.15, 3), palette.ink);

    const row = Math.floor(cell / grid.columns), column = cell % grid.columns, ahead = heading < 0 ? "" : `, heading ${HEADINGS[heading]}`;
    panel.$maze.setAttribute("aria-label", `${TASK ? `${TASK.name}:` : `The maze: goal ${phases.goal(episode.number)},`} the agent at row ${row}, column ${column}${ahead}, step ${step} of ${episode.steps}`);
  }

  /** Whether a step leads further than a wall is thick, as after a fall: then the path has a gap. */
  function isLeap({ columns }, from, to) {
    const down = Math.abs(Math.floor(to / columns) - Math.floor(from / columns)), across = Math.abs((to % columns) - (from % columns));
    return Math.min(down, across) > 0 || Math.max(down, across) > 2;
  }

  function drawAgent(context, x, y, size, heading, colour) {
    context.save();
    context.translate(x, y);
    context.rotate((heading * Math.PI) / 2);
    context.beginPath();
    context.moveTo(0, -size);
    context.lineTo(size * 0.72, size * 0.75);
    context.lineTo(0, size * 0.42);
    context.lineTo(-size * 0.72, size * 0.75);
    context.closePath();
    outlined(context, size * 0.175, colour);
    context.restore();
  }

  function drawDisc(context, x, y, radius, colour) {
    context.beginPath();
    context.arc(x, y, radius, 0, 7);
    outlined(context, radius * 0.25, colour);
  }

  /** Fill a path, with a rim of the ground's colour round it. */
  function outlined(context, rim, colour) {
    context.fillStyle = colour;
    context.strokeStyle = palette.card;
    context.lineWidth = Math.max(2, rim);
    context.lineJoin = "round";
    context.stroke();
    context.fill();
  }

  // ---------------------------------------------------------------- the states of a table that has no picture

  const BOX = { height: 26, gap: 4, most: 200 }; // pixels; boxes at a time

  /** The states that have a box: all of a small table, of a large one those that were visited in the trial. */
  function statesOf(panel) {
    panel.listed ??= TASK.states <= BOX.most
      ? Array.from({ length: TASK.states }, (_, state) => state)
      : [...new Set(panel.replay.states)].sort((a, b) => a - b);
    return panel.listed;
  }

  function drawStates(panel, episode, step) {
    const all = statesOf(panel), here = episode.states[step], { height, gap, most } = BOX;
    const first = Math.floor(all.indexOf(here) / most) * most, some = all.slice(first, first + most);
    const width = panel.root.querySelector(".walk").clientWidth, box = Math.max(30, 12 + 8 * String(all[all.length - 1]).length);
    const columns = Math.max(1, Math.floor((width + gap) / (box + gap))), rows = Math.ceil(some.length / columns);
    const context = fit(panel.$maze, width, rows * (height + gap) + 20);
    context.clearRect(0, 0, width, rows * (height + gap) + 20);
    context.textBaseline = "middle";
    context.textAlign = "center";
    const visits = new Map(), start = TASK.starts[phases.goal(episode.number)];
    for (let t = 0; t <= step; t++) visits.set(episode.states[t], (visits.get(episode.states[t]) || 0) + 1);
    some.forEach((state, k) => {
      const x = (k % columns) * (box + gap) + 1, y = Math.floor(k / columns) * (height + gap) + 1, times = visits.get(state) || 0;
      context.beginPath();
      context.roundRect(x, y, box - 2, height - 2, 4);
      context.fillStyle = palette.page;
      context.fill();
      context.fillStyle = palette[panel.colour];
      context.globalAlpha = state === here ? 1 : times ? Math.min(0.14 + 0.05 * times, 0.4) : 0;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = state === start ? palette.start : palette.line;
      context.lineWidth = state === start ? 2 : 1;
      context.stroke();
      context.font = font(12, state === here ? 700 : 400);
      context.fillStyle = state === here ? palette[`on-${panel.colour}`] : times ? palette.ink : palette.soft;
      context.fillText(String(state), x + box / 2 - 1, y + height / 2 - 0.5);
    });
    context.textAlign = "left";
    context.font = font(11);
    context.fillStyle = palette.soft;
    const which = all.length === TASK.states ? plural(all.length, "state") : `${plural(all.length, "state")} visited in this trial, of ${grouped(TASK.states)}`;
    const part = some.length < all.length ? `, here ${grouped(first + 1)} to ${grouped(first + some.length)}` : "";
    context.fillText(which + part, 1, rows * (height + gap) + 12);
    panel.$maze.setAttribute("aria-label", `${which}${part}: the agent in state ${here}, step ${step} of ${episode.steps}; visited ${[...visits.keys()].join(" ")}`);
  }

  // ---------------------------------------------------------------- the weights

  const MARGIN = { left: 15, top: 30 }; // for the marks of active neurons and the labels

  /** Where everything in the matrix lies: blocks of entries, each with its place on the canvas. */
  function matrixLayout(panel) {
    const width = panel.root.querySelector(".network").clientWidth;
    const gap = 7, labels = 22;
    const rest = [0, Infinity, 440, 240][breadth(panel)]; // of the panel, above and below the entries
    const tall = rest === Infinity ? rest : Math.max(9, (roomFor() - rest) / (H + OUTPUTS));
    const size = Math.min((width - MARGIN.left - 2 * gap - 2) / COLUMNS, tall, 20);
    const cell = size > 4 ? Math.floor(size * 2) / 2 : size;
    const x = [0, FEED, FEED + H].map((column, group) => MARGIN.left + column * cell + group * gap);
    const top = MARGIN.top, lower = top + H * cell + labels;
    const block = (matrix, from, columns, rows, left, y) => ({ matrix, from, columns, rows, x: left, y, width: columns * cell, height: rows * cell });
    return {
      cell,
      width,
      height: lower + OUTPUTS * cell + 2,
      lower,
      blocks: [
        block("hidden", 0, FEED, H, x[0], top),
        block("hidden", FEED, H, H, x[1], top),
        block("hidden", FEED + H, OUTPUTS, H, x[2], top),
        block("output", 0, H, OUTPUTS, x[1], lower),
        block("output", H, 1, OUTPUTS, x[2], lower),
      ],
    };
  }

  const widthOf = (matrix) => (matrix === "hidden" ? COLUMNS : H + 1);
  const isSelf = (matrix, row, column) => matrix === "hidden" && column === FEED + row;
  const viewOf = (panel) => (panel.learner.kind === "chance" ? "weights" : state.view); // chance changes no weight

  /** The entries as colours, one pixel each: drawn once for an episode, a view and a theme. */
  function matrixImage(panel) {
    const view = viewOf(panel), key = `${view} ${palette.page}`;
    if (panel.image && panel.image.key === key) return panel.image;
    const values = view === "weights" ? panel.result.episode.weights : panel.change;
    let most = 0;
    for (const matrix of [values.hidden, values.output]) for (const value of matrix) most = Math.max(most, Math.abs(value));
    const paint = (matrix) => {
      const columns = widthOf(matrix), rows = matrix === "hidden" ? H : OUTPUTS;
      const canvas = document.createElement("canvas");
      canvas.width = columns;
      canvas.height = rows;
      const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
      const pixels = new Uint32Array(image.data.buffer);
      values[matrix].forEach((value, at) => {
        const self = isSelf(matrix, Math.floor(at / columns), at % columns);
        pixels[at] = self ? 0 : scaleColours[255 + (most ? Math.round((255 * value) / most) : 0)];
      });
      context.putImageData(image, 0, 0);
      return canvas;
    };
    panel.image = { key, most, hidden: paint("hidden"), output: paint("output") };
    return panel.image;
  }

  function drawMatrix(panel, episode, step) {
    const layout = (panel.layout = matrixLayout(panel)), { cell, blocks } = layout;
    const image = matrixImage(panel);
    const context = fit(panel.$matrix, layout.width, layout.height);
    context.clearRect(0, 0, layout.width, layout.height);
    context.imageSmoothingEnabled = false;
    for (const block of blocks) {
      context.drawImage(image[block.matrix], block.from, 0, block.columns, block.rows, block.x, block.y, block.width, block.height);
      if (cell >= 6) {
        context.strokeStyle = palette.card;
        context.lineWidth = 1;
        context.beginPath();
        for (let i = 1; i < block.columns; i++) {
          context.moveTo(block.x + i * cell, block.y);
          context.lineTo(block.x + i * cell, block.y + block.height);
        }
        for (let j = 1; j < block.rows; j++) {
          context.moveTo(block.x, block.y + j * cell);
          context.lineTo(block.x + block.width, block.y + j * cell);
        }
        context.stroke();
      }
      context.strokeStyle = palette.line;
      context.lineWidth = 1;
      context.strokeRect(block.x - 0.5, block.y - 0.5, block.width + 1, block.height + 1);
    }

    // Which neurons are active in this step: before a column the one that feeds, before a row the one fed.
    // A sigmoid neuron is marked as strongly as it is active.
    const bar = 4, inset = cell >= 5 ? 1 : 0;
    context.fillStyle = palette[panel.colour];
    const column = (block, i, y) => context.fillRect(block.x + i * cell + inset, y, cell - 2 * inset, bar);
    const row = (block, j) => context.fillRect(block.x - 4 - bar, block.y + j * cell + inset, bar, cell - 2 * inset);
    const levels = episode.activity ?? episode.hidden;
    const graded = (neurons, draw) => neurons.forEach((level, i) => {
      context.globalAlpha = level;
      if (level) draw(i);
      context.globalAlpha = 1;
    });
    if (step) {
      const inputs = episode.inputs[step - 1], outputs = episode.outputs[step - 1];
      inputs.forEach((on, i) => on && column(blocks[0], i, MARGIN.top - 2 - bar));
      if (step > 1) {
        graded(levels[step - 2], (i) => column(blocks[1], i, MARGIN.top - 2 - bar));
        episode.outputs[step - 2].forEach((on, i) => on && column(blocks[2], i, MARGIN.top - 2 - bar));
      }
      graded(levels[step - 1], (j) => row(blocks[0], j));
      graded(levels[step - 1], (i) => column(blocks[3], i, layout.lower - 2 - bar));
      column(blocks[4], 0, layout.lower - 2 - bar);
      outputs.forEach((on, k) => on && row(blocks[3], k));
    }

    // Labels.
    context.fillStyle = palette.soft;
    context.font = font(11);
    context.textBaseline = "alphabetic";
    const label = (content, x, align, y) => {
      context.textAlign = align;
      context.fillText(content, x, y);
    };
    const y = MARGIN.top - 11, narrow = cell < 11;
    label(narrow ? "in+bias" : "inputs + bias", blocks[0].x, "left", y);
    const fitting = (block, ...names) => names.find((name) => context.measureText(name).width <= block.width + 16) || "";
    label(fitting(blocks[1], "from hidden, the step before", "from hidden", "hidden"), blocks[1].x + blocks[1].width / 2, "center", y);
    label("outputs", Math.min(Math.max(blocks[2].x + blocks[2].width, blocks[2].x + 38), layout.width - 1), "right", y);
    label(fitting(blocks[3], "to the outputs, from hidden", "from hidden", "hidden"), blocks[3].x + blocks[3].width / 2, "center", layout.lower - 10);
    label("bias", Math.min(blocks[4].x + 24, layout.width - 1), "right", layout.lower - 10);
    if (cell >= 8) {
      context.font = font(Math.min(11, cell + 0.5));
      ACTIONS.forEach((name, k) => label(name, blocks[3].x - 11, "right", blocks[3].y + (k + 0.5) * cell + Math.min(4, cell / 2.6)));
    }

    if (state.inspected) {
      const { matrix, row: j, column: i } = state.inspected;
      const block = blocks.find((b) => b.matrix === matrix && i >= b.from && i < b.from + b.columns);
      context.strokeStyle = palette.ink;
      context.lineWidth = 2;
      const side = Math.max(cell, 5), shift = (cell - side) / 2;
      context.strokeRect(block.x + (i - block.from) * cell + shift, block.y + j * cell + shift, side, side);
    }

    const climber = panel.learner.kind === "hc", n = grouped(episode.number + 1);
    text(panel["$matrix-title"], viewOf(panel) === "weights"
      ? `Weights in episode ${n}`
      : climber ? `Noise added in episode ${n}` : `Change after episode ${n}`);
    panel.$matrix.setAttribute("aria-label", `${panel["$matrix-title"].textContent}: ${H} hidden neurons and 4 outputs, one row each; arrow keys select an entry`);
    text(panel.$low, image.most ? plain(-image.most, 3) : "0");
    text(panel.$high, image.most ? signed(image.most, 3) : "0");
  }

  const preName = (matrix, column) => {
    if (matrix === "output") return column < H ? `hidden ${column}` : "bias";
    if (column < FEED) return column < 3 ? `input ${SENSES[column]}` : "bias";
    return column < FEED + H ? `hidden ${column - FEED}` : `output ${ACTIONS[column - FEED - H]}`;
  };

  function renderReadout(panel) {
    const chosen = state.inspected;
    // Below the matrix; where there are three columns, in the last one, which has room for it. The key
    // to the rule shares its place with a synapse, except where all is in one column.
    const columns = breadth(panel), home = columns === 3 ? panel.$learner : panel.root.querySelector(".network");
    if (panel.$readout.parentElement !== home) home.append(panel.$readout);
    if (panel.$key) {
      const place = columns === 2 ? home : panel.$learner;
      if (panel.$key.parentElement !== place) place.append(panel.$key);
      if (home === place && panel.$key.nextElementSibling !== panel.$readout) panel.$readout.before(panel.$key);
      panel.$key.hidden = columns > 1 && chosen !== null;
    }
    if (panel.rows) panel.rows.forEach(({ row }) => row.classList.remove("chosen"));
    if (!chosen) {
      text(panel.$readout, "Point at an entry of the matrix, or tap it, to see its synapse.");
      panel.readoutKey = null;
      return;
    }
    const { matrix, row, column } = chosen, at = row * widthOf(matrix) + column;
    const { episode, update } = panel.result;
    if (panel.rows && !isSelf(matrix, row, column)) panel.rows[update.rows[matrix][at]].row.classList.add("chosen");
    const key = `${matrix} ${at} ${episode.number}`;
    if (panel.readoutKey === key) return;
    panel.readoutKey = key;
    const post = matrix === "hidden" ? `hidden ${row}` : `output ${ACTIONS[row]}`;
    panel.$readout.replaceChildren(make("b", "", `${preName(matrix, column)} → ${post}`));
    const add = (content) => panel.$readout.append(content);
    const strong = (content) => panel.$readout.append(make("b", "", content));
    if (isSelf(matrix, row, column)) return add(": no neuron has a synapse to itself.");
    const weight = episode.weights[matrix][at];
    add("   weight ");
    strong(plain(weight));
    if (panel.learner.kind !== "dsp") {
      if (!update.best) return add(", drawn afresh");
      add(" = best ");
      add(plain(update.best.weights[matrix][at]));
      if (update.anew) return add(", as it was");
      add(", noise ");
      return strong(signed(panel.change[matrix][at]));
    }
    const rule = update.rows[matrix][at], change = panel.learner.delta_w[rule];
    const n = counts(update.traces[matrix], row, column, episode.steps);
    const bits = (rule >> 1).toString(2).padStart(4, "0");
    add(" → ");
    strong(plain(update.after[matrix][at]));
    add(`, change ${signed(panel.change[matrix][at])}`);
    panel.$readout.append(make("br"));
    add(`(pre, post) in ${plural(episode.steps, "step")}: 00 ${n[0]} · 01 ${n[1]} · 10 ${n[2]} · 11 ${n[3]}; above θ: ${[...bits].join(" ")}`);
    panel.$readout.append(make("br"));
    add("with m = ");
    add(`${update.m > 0 ? "+1" : "−1"}: row ${rule}, Δw = `);
    strong(change > 0 ? "+1" : change < 0 ? "−1" : "0");
    const normalised = panel.replay.settings.normalise !== "none";
    add(`; η · Δw = ${change ? signed(change * Math.fround(panel.learner.eta)) : "0"}${normalised ? ", then normalised" : ""}`);
    return undefined;
  }

  let kept = false; // a click, or the address, keeps the entry when the pointer leaves

  /** The entry at a place on the canvas, or null. */
  function entryAt(panel, event) {
    const box = panel.$matrix.getBoundingClientRect(), { cell, blocks } = panel.layout;
    const x = event.clientX - box.left, y = event.clientY - box.top;
    for (const block of blocks) {
      const column = Math.floor((x - block.x) / cell), row = Math.floor((y - block.y) / cell);
      if (column >= 0 && column < block.columns && row >= 0 && row < block.rows) return { matrix: block.matrix, row, column: block.from + column };
    }
    return null;
  }

  function inspect(entry) {
    state.inspected = entry;
    if (!shown()) return;
    followAddress();
    for (const panel of computed) {
      drawMatrix(panel, panel.result.episode, Math.min(state.step, panel.result.episode.steps));
      renderReadout(panel);
    }
  }

  /** Move the inspected entry with the arrow keys; the outputs' rows follow below the hidden ones. */
  function inspectBy(key) {
    const now = state.inspected;
    if (!now) return inspect({ matrix: "hidden", row: 0, column: 0 });
    let row = now.row + (now.matrix === "output" ? H : 0), column = now.column + (now.matrix === "output" ? FEED : 0);
    if (key === "ArrowUp") row--;
    if (key === "ArrowDown") row++;
    if (key === "ArrowLeft") column--;
    if (key === "ArrowRight") column++;
    row = Math.min(Math.max(row, 0), H + OUTPUTS - 1);
    if (row < H) return inspect({ matrix: "hidden", row, column: Math.min(Math.max(column, 0), COLUMNS - 1) });
    return inspect({ matrix: "output", row: row - H, column: Math.min(Math.max(column - FEED, 0), H) });
  }

  // ---------------------------------------------------------------- activity, of a recording

  const ACTIVITY = { left: 54, right: 2, top: 4, gap: 6, axis: 18 };

  /** Where the rows of neurons lie on the canvas: one block for each layer. */
  function activityLayout(panel, episode) {
    const width = panel.root.querySelector(".network").clientWidth, columns = breadth(panel);
    const layers = [[TASK ? "bits" : "walls", episode.inputs, SENSES.slice(0, -1)], ["hidden", episode.hidden, new Array(H).fill("")], ["outputs", episode.outputs, ACTIONS]];
    const rows = layers.reduce((sum, [, , names]) => sum + names.length, 0), neurons = panel.root.querySelector(".neurons").offsetHeight;
    const rest = TASK ? [0, 0, 250, 130][columns] + neurons : [0, 0, 340, 220][columns];
    const row = Math.min(Math.max(columns === 1 ? 9 : (roomFor() - rest) / rows, rows > 56 ? 2 : 6), 14);
    let y = ACTIVITY.top;
    const blocks = layers.map(([name, active, names]) => {
      const block = { name, active, names, y, height: names.length * row };
      y += block.height + ACTIVITY.gap;
      return block;
    });
    const across = width - ACTIVITY.left - ACTIVITY.right;
    return {
      width, row, blocks, bottom: y - ACTIVITY.gap, height: y - ACTIVITY.gap + ACTIVITY.axis,
      x: (step) => ACTIVITY.left + (step / data.settings.steps) * across,
      step: (x) => Math.min(Math.max(Math.round(((x - ACTIVITY.left) / across) * data.settings.steps), 0), episode.steps),
    };
  }

  /** A layer over the steps of an episode, one pixel for each neuron and step. */
  function activityImage(panel, { active, names }) {
    const canvas = document.createElement("canvas"), colour = palette[panel.colour];
    canvas.width = active.length;
    canvas.height = names.length;
    const context = canvas.getContext("2d");
    context.fillStyle = colour;
    active.forEach((neurons, t) => names.forEach((_, i) => neurons[i] && context.fillRect(t, i, 1, 1)));
    return canvas;
  }

  function drawActivity(panel, episode, step) {
    const layout = (panel.layout = activityLayout(panel, episode)), { x, row, blocks } = layout;
    const context = fit(panel.$matrix, layout.width, layout.height), key = palette.page;
    if (!panel.image || panel.image.key !== key) panel.image = { key, layers: blocks.map((block) => activityImage(panel, block)) };
    context.clearRect(0, 0, layout.width, layout.height);
    context.imageSmoothingEnabled = x(1) - x(0) < 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    blocks.forEach(({ name, names, y, height }, layer) => {
      const part = (from, to, strength) => {
        context.globalAlpha = strength;
        if (to > from) context.drawImage(panel.image.layers[layer], from, 0, to - from, names.length, x(from), y, x(to) - x(from), height);
        context.globalAlpha = 1;
      };
      context.fillStyle = palette.middle;
      context.fillRect(x(0), y, x(episode.steps) - x(0), height);
      part(0, step, 1);
      part(step, episode.steps, 0.3); // what is still to come
      context.strokeStyle = palette.card;
      context.lineWidth = 1;
      if (row >= 6) {
        context.beginPath();
        for (let i = 1; i < names.length; i++) {
          context.moveTo(x(0), y + i * row);
          context.lineTo(x(episode.steps), y + i * row);
        }
        context.stroke();
      }
      context.strokeStyle = palette.line;
      context.strokeRect(x(0) - 0.5, y - 0.5, x(data.settings.steps) - x(0) + 1, height + 1);
      context.fillStyle = palette.soft;
      context.font = font(row < 9 ? 11 : Math.min(11, row + 0.5));
      if (row < 9 || !names[0]) context.fillText(name, x(0) - 6, y + height / 2);
      else names.forEach((each, i) => context.fillText(each, x(0) - 6, y + (i + 0.5) * row + 0.5));
    });
    context.font = font(11);
    context.textBaseline = "top";
    context.fillText("step", x(0) - 6, layout.bottom + 5);
    for (const mark of ticks(0, data.settings.steps, 5)) {
      context.textAlign = mark === 0 ? "left" : x(mark) > layout.width - 20 ? "right" : "center";
      context.fillText(grouped(mark), Math.min(x(mark), layout.width - 1), layout.bottom + 5);
    }
    context.strokeStyle = palette.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x(step), 0);
    context.lineTo(x(step), layout.bottom + 3);
    context.stroke();
    text(panel["$matrix-title"], `Activity in episode ${grouped(episode.number + 1)}, step by step`);
    panel.$matrix.setAttribute("aria-label", `Which neurons were active in each of ${plural(episode.steps, "step")} of episode ${grouped(episode.number + 1)}; the marker is at step ${step}`);
  }

  // ---------------------------------------------------------------- the curve

  const curve = { canvas: find("curve"), left: 48, right: 8, top: MOVES ? 19 : 8, bottom: 20, picture: null };
  const WITH_GOAL = new Map(phases.goals.map((goal, phase) => [goal, phase * phases.every])); // an episode with each goal

  /** The EP to reach in an episode: the target of the task, or the shortest way to the goal. */
  function wantedIn(number) {
    if (TASK) return TASK.target;
    const maze = panels[0].replay.mazeIn(number);
    return maze.distance[maze.start];
  }

  function curveScales() {
    const width = curve.canvas.parentElement.clientWidth, height = curve.canvas.clientHeight || 128;
    const inner = width - curve.left - curve.right, tall = height - curve.top - curve.bottom;
    let low = Infinity, high = TASK ? -Infinity : data.settings.steps;
    const include = (ep) => {
      if (ep < low) low = ep;
      if (ep > high) high = ep;
    };
    for (const number of WITH_GOAL.values()) if (wantedIn(number) !== null) include(wantedIn(number));
    for (const [, value] of data.chance.curve) include(value);
    for (const panel of panels) panel.learner.eps.forEach(include);
    const span = Math.max(high - low, 1);
    low = TASK ? low - 0.06 * span : Math.max(0, low - 0.06 * span);
    high += 0.04 * span;
    const logSpan = Math.log(Math.max(EPISODES, 2));
    const share = (n) => (state.log ? Math.log(n + 1) / logSpan : EPISODES > 1 ? n / (EPISODES - 1) : 0);
    const back = (s) => (state.log ? Math.exp(s * logSpan) - 1 : s * (EPISODES - 1));
    return {
      width, height, low, high,
      x: (n) => curve.left + share(n) * inner,
      y: (ep) => curve.top + ((high - ep) / (high - low)) * tall,
      episode: (x) => Math.min(Math.max(Math.round(back(Math.min(Math.max((x - curve.left) / inner, 0), 1))), 0), EPISODES - 1),
    };
  }

  /** Round numbers that divide a range into about so many parts. */
  function ticks(low, high, parts) {
    const raw = (high - low) / parts, power = 10 ** Math.floor(Math.log10(raw));
    const step = Math.max(1, [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw));
    const marks = [];
    for (let mark = Math.ceil(low / step) * step; mark <= high; mark += step) marks.push(mark);
    return marks;
  }

  function episodeTicks(width) {
    if (state.log) {
      const marks = [];
      for (let power = 1; power <= EPISODES; power *= 10) for (const k of width > 700 ? [1, 2, 5] : [1]) if (k * power <= EPISODES) marks.push(k * power);
      return marks;
    }
    return [1, ...ticks(1, EPISODES, Math.max(3, Math.min(10, width / 110))).filter((mark) => mark > 0.03 * EPISODES)];
  }

  /** Everything but the marker of the episode: drawn once for a size, a theme and an axis. */
  function curvePicture(scales) {
    const key = `${scales.width} ${scales.height} ${palette.page} ${state.log} ${window.devicePixelRatio}`;
    if (curve.picture && curve.picture.key === key) return curve.picture.canvas;
    const canvas = document.createElement("canvas"), context = fit(canvas, scales.width, scales.height);
    const right = scales.width - curve.right, base = scales.height - curve.bottom;
    context.font = font(11);
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const mark of ticks(scales.low, scales.high, scales.height > 100 ? 4 : 2)) {
      const y = Math.round(scales.y(mark)) + 0.5;
      context.strokeStyle = palette.line;
      context.beginPath();
      context.moveTo(curve.left, y);
      context.lineTo(right, y);
      context.stroke();
      context.fillStyle = palette.soft;
      context.fillText(String(mark).replace("-", "−"), curve.left - 6, y);
    }
    context.textBaseline = "top";
    const marks = episodeTicks(scales.width);
    marks.forEach((mark) => {
      const x = scales.x(mark - 1);
      context.strokeStyle = palette.line;
      context.beginPath();
      context.moveTo(x, base);
      context.lineTo(x, base + 4);
      context.stroke();
      context.textAlign = mark === 1 ? "left" : x > right - 20 ? "right" : "center";
      context.fillText(grouped(mark), Math.min(x, right), base + 6);
    });
    if (MOVES) drawMoves(context, scales, base);
    if (wantedIn(0) !== null) {
      context.setLineDash([5, 4]);
      context.strokeStyle = palette.goal;
      context.beginPath();
      for (let first = 0; first < EPISODES; first += phases.every) {
        const y = Math.round(scales.y(wantedIn(first))) + 0.5, next = first + phases.every;
        context.moveTo(scales.x(first), y);
        context.lineTo(next < EPISODES ? scales.x(next) : right, y);
      }
      context.stroke();
      context.setLineDash([]);
    }
    for (const panel of panels) {
      const eps = panel.learner.eps;
      context.fillStyle = context.strokeStyle = palette[panel.colour];
      context.globalAlpha = EPISODES > 3000 ? 0.12 : EPISODES > 300 ? 0.3 : 0.5;
      const radius = EPISODES > 300 ? 1.2 : 1.8;
      for (let n = 0; n < EPISODES; n++) context.fillRect(scales.x(n) - radius, scales.y(eps[n]) - radius, 2 * radius, 2 * radius);
      if (EPISODES <= 3000) {
        context.globalAlpha = EPISODES > 300 ? 0.1 : 0.28;
        context.beginPath();
        for (let n = 0; n < EPISODES; n++) context.lineTo(scales.x(n), scales.y(eps[n]));
        context.stroke();
      }
    }
    context.globalAlpha = 1;
    // Chance: what the best of as many random networks comes to on average.
    context.strokeStyle = palette.chance;
    context.lineWidth = 2;
    context.setLineDash([2, 3]);
    context.beginPath();
    let before = 0; // in each phase the line begins anew
    for (const [n, value] of data.chance.curve) {
      if (phases.movesAt(n)) {
        context.lineTo(scales.x(n), scales.y(before));
        context.moveTo(scales.x(n), scales.y(value));
      } else context.lineTo(scales.x(n), scales.y(value));
      before = value;
    }
    context.stroke();
    context.setLineDash([]);
    for (const panel of panels) {
      context.strokeStyle = palette[panel.colour];
      context.lineWidth = 2.2;
      context.beginPath();
      context.moveTo(scales.x(0), scales.y(panel.best[0]));
      for (let n = 1; n < EPISODES; n++) {
        if (panel.best[n] === panel.best[n - 1] && n < EPISODES - 1 && !phases.movesAt(n)) continue;
        context.lineTo(scales.x(n), scales.y(panel.best[n - 1]));
        context[phases.movesAt(n) ? "moveTo" : "lineTo"](scales.x(n), scales.y(panel.best[n]));
      }
      context.stroke();
    }
    context.save();
    context.translate(7, (curve.top + base) / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = palette.soft;
    context.fillText("EP", 0, 0);
    context.restore();
    curve.picture = { key, canvas };
    return canvas;
  }

  /** A thin line where the goal moves, and above each phase its goal, as far as there is room for them. */
  function drawMoves(context, scales, base) {
    const [near, high] = [4, 13]; // pixels: between two lines; of a goal's name
    let last = -Infinity;
    context.font = font(11, 700);
    context.textBaseline = "middle";
    context.textAlign = "center";
    phases.goals.forEach((goal, phase) => {
      const first = phase * phases.every, x = scales.x(first), next = scales.x(Math.min(first + phases.every, EPISODES - 1));
      if (x - last < near) return;
      last = x;
      context.strokeStyle = palette.soft;
      context.beginPath();
      context.moveTo(Math.round(x) + 0.5, 2);
      context.lineTo(Math.round(x) + 0.5, base);
      context.globalAlpha = 0.6;
      if (phase) context.stroke();
      context.globalAlpha = 1;
      const wide = context.measureText(goal).width + 7;
      if (wide + 3 > next - x) return;
      context.fillStyle = palette.goal;
      context.fillRect(x + 3, 2, wide, high);
      context.fillStyle = palette["on-goal"];
      context.fillText(goal, x + 3 + wide / 2, 2 + high / 2 + 0.5);
    });
    context.font = font(11);
  }

  function renderCurve() {
    const scales = curveScales(), picture = curvePicture(scales);
    const ratio = window.devicePixelRatio || 1;
    const w = Math.round(scales.width * ratio), h = Math.round(scales.height * ratio);
    if (curve.canvas.width !== w || curve.canvas.height !== h) {
      curve.canvas.width = w;
      curve.canvas.height = h;
    }
    const context = curve.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, scales.width, scales.height);
    context.drawImage(picture, 0, 0, scales.width, scales.height);
    const x = scales.x(state.episode);
    context.strokeStyle = palette.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, curve.top - 4);
    context.lineTo(x, scales.height - curve.bottom + 3);
    context.stroke();
    for (const panel of panels) { // a ring for the best so far, a disc for the EP
      context.beginPath();
      context.arc(x, scales.y(panel.best[state.episode]), 6.5, 0, 7);
      context.fillStyle = palette.card;
      context.fill();
      context.strokeStyle = palette[panel.colour];
      context.lineWidth = 2;
      context.stroke();
    }
    for (const panel of panels) {
      context.beginPath();
      context.arc(x, scales.y(panel.learner.eps[state.episode]), 4.5, 0, 7);
      context.fillStyle = palette[panel.colour];
      context.fill();
      context.strokeStyle = palette.card;
      context.lineWidth = 1.5;
      context.stroke();
    }
    drawFigures(context, scales, x);
    curve.canvas.setAttribute("aria-valuemax", String(EPISODES));
    curve.canvas.setAttribute("aria-valuenow", String(state.episode + 1));
    const towards = MOVES ? `, phase ${phases.of(state.episode) + 1}, goal ${phases.goal(state.episode)}` : "";
    const spoken = panels.map((panel) => `${panels.length > 1 ? `${panel.learner.name} ` : ""}${figures(panel)}`);
    curve.canvas.setAttribute("aria-valuetext", `episode ${state.episode + 1}${towards}, ${spoken.join(", ")}`);
  }

  const figures = (panel) => `EP ${grouped(panel.learner.eps[state.episode])}, best ${grouped(panel.best[state.episode])}`;

  /** The EP of the episode shown and the best so far, in numbers beside its marker, one line for each learner. */
  function drawFigures(context, scales, x) {
    context.font = font(11, 600);
    context.textBaseline = "middle";
    context.textAlign = "left";
    const lines = panels.map(figures), swatch = panels.length > 1 ? 11 : 0, high = 14;
    const wide = Math.max(...lines.map((line) => context.measureText(line).width)) + swatch + 8;
    const beside = x + 10 + wide > scales.width - curve.right ? x - 10 - wide : x + 10;
    // Between the marks, where few dots lie, and within the axes.
    const marks = panels.flatMap((panel) => [panel.learner.eps[state.episode], panel.best[state.episode]]).map(scales.y);
    const middle = (Math.min(...marks) + Math.max(...marks)) / 2, tall = high * lines.length;
    const top = Math.min(Math.max(middle - tall / 2, curve.top), scales.height - curve.bottom - tall);
    context.globalAlpha = 0.85;
    context.fillStyle = palette.card;
    context.fillRect(beside, top - 1, wide, tall + 2);
    context.globalAlpha = 1;
    lines.forEach((line, k) => {
      const y = top + (k + 0.5) * high;
      context.fillStyle = palette[panels[k].colour];
      if (swatch) context.fillRect(beside + 4, y - 4, 8, 8);
      context.fillStyle = palette.ink;
      context.fillText(line, beside + 4 + swatch, y + 0.5);
    });
  }

  function episodeAt(event) {
    return curveScales().episode(event.clientX - curve.canvas.getBoundingClientRect().left);
  }

  // ---------------------------------------------------------------- controls

  function renderControls() {
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

  let alerted = 0;

  function renderMatch() {
    const done = computed.reduce((sum, panel) => sum + panel.replay.checked, 0);
    const differing = computed.reduce((sum, panel) => sum + panel.replay.differences.length, 0);
    const all = EPISODES * computed.length;
    const match = find("match");
    if (!computed.length) return text(match, `recorded: ${plural(EPISODES, "episode")} as the engine ran ${EPISODES === 1 ? "it" : "them"}`);
    const beside = panels.filter((panel) => panel.recorded).map((panel) => ` · ${panel.learner.name} is recorded`).join("");
    const whose = beside && ` of ${computed[0].learner.name}`;
    if (differing) html(match, `✗ ${plural(differing, "episode")} of ${grouped(done)}${whose} differ${differing === 1 ? "s" : ""} from the engine`, beside);
    else if (done < all) html(match, `${grouped(done)} of ${grouped(all)} episodes${whose} match the engine …`, beside);
    else html(match, `✓ ${grouped(done)} of ${grouped(all)} episodes${whose} match the engine`, beside);
    match.className = differing ? "bad" : done === all ? "good" : "";
    if (differing > alerted) {
      alerted = differing;
      const panel = computed.find((one) => one.replay.differences.length);
      const { number, ep, engine } = panel.replay.differences[0];
      complain(`Episode ${grouped(number + 1)} of ${panel.learner.name}: this page computes EP ${ep}, the engine computed ${engine}` +
        `${differing > 1 ? `; ${plural(differing - 1, "further episode")} differ${differing === 2 ? "s" : ""}` : ""}. Do not rely on what is shown here.`);
    }
    return undefined;
  }

  function complain(message) {
    const box = find("alert");
    box.hidden = false;
    text(box, message);
  }

  const set = (change) => {
    Object.assign(state, change);
    render();
  };
  const toggleTheme = () => {
    const root = document.documentElement;
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    readPalette();
    render();
  };
  const toggleView = () => {
    if (document.querySelector("[data-view]")) set({ view: state.view === "weights" ? "change" : "weights" });
  };
  const toggleLearning = () => {
    owed = held = 0;
    set({ learning: !state.learning });
  };
  const changeSpeed = (by) => set({ speed: Math.min(Math.max(state.speed + by, 0), SPEEDS.length - 1) });
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

  function connect() {
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
        if (event.pointerType === "mouse" && !kept && panel.layout) inspect(entryAt(panel, event));
      });
      panel.$matrix.addEventListener("pointerleave", (event) => {
        if (event.pointerType === "mouse" && !kept) inspect(null);
      });
      panel.$matrix.addEventListener("click", (event) => {
        const entry = panel.layout && entryAt(panel, event), now = state.inspected;
        const same = kept && entry && now && entry.matrix === now.matrix && entry.row === now.row && entry.column === now.column;
        kept = !!entry && !same;
        inspect(kept ? entry : null);
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

  function describe() {
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

  window.addEventListener("error", (event) => complain(`This page has failed: ${event.message}`));

  // ---------------------------------------------------------------- the address

  // The neurons that feed a matrix, in the order of its columns, and those that are fed: [name, first, how many].
  const PRE = {
    hidden: [["i", 0, FEED - 1], ["bias", FEED - 1, 1], ["h", FEED, H], ["o", FEED + H, OUTPUTS]],
    output: [["h", 0, H], ["bias", H, 1]],
  };
  const POST = { hidden: ["h", H], output: ["o", OUTPUTS] };

  /** The name of a synapse in the address, from pre to post: i2-h3, bias-h0, h4-o1. */
  function synapseName({ matrix, row, column }) {
    const [name, first] = PRE[matrix].find(([, from, many]) => column < from + many);
    return `${name}${name === "bias" ? "" : column - first}-${POST[matrix][0]}${row}`;
  }

  /** The entry of the matrix with this name, or null. */
  function synapseNamed(text) {
    const parts = /^(?:([iho])(\d{1,6})|bias)-([ho])(\d{1,6})$/.exec(text);
    if (!parts) return null;
    const matrix = parts[3] === "h" ? "hidden" : "output", row = +parts[4], index = +(parts[2] ?? 0);
    const pre = PRE[matrix].find(([name]) => name === (parts[1] ?? "bias"));
    if (!pre || index >= pre[2] || row >= POST[matrix][1]) return null;
    return { matrix, row, column: pre[1] + index };
  }

  /** What is shown, as the address says it; without a step it is the end of the episode. */
  function place() {
    const step = state.step < lastStep() ? `&step=${state.step}` : "";
    return `#episode=${state.episode + 1}${step}${state.inspected ? `&synapse=${synapseName(state.inspected)}` : ""}`;
  }

  let addressed = null; // the last place that the address was told, or need not be told
  let addressTimer = 0;

  /** Let the address follow what is shown, a little later; a page that was just opened keeps the one it has. */
  function followAddress() {
    if (addressed === null && !location.hash) addressed = place();
    if (!addressTimer && place() !== addressed) addressTimer = setTimeout(writeAddress, ADDRESS_PAUSE);
  }

  function writeAddress() {
    if (shown()) setAddress();
    else addressTimer = 0; // followed again when it is
  }

  function setAddress() {
    clearTimeout(addressTimer);
    addressTimer = 0;
    addressed = place();
    try {
      history.replaceState(null, "", addressed);
    } catch { // a frame that may not change its address
    }
  }

  /** Copy the link to what is shown; where a page may not, it is in the address. */
  function copyLink() {
    setAddress();
    const link = location.href.split("#")[0] + place();
    const copied = navigator.clipboard ? navigator.clipboard.writeText(link) : Promise.reject(new Error("no clipboard"));
    copied.then(() => tell("Link copied."), () => tell("This browser does not let the page copy. The link is in the address bar."));
  }

  let noticeTimer = 0;

  function tell(message) {
    clearTimeout(noticeTimer);
    text(find("notice"), message);
    noticeTimer = setTimeout(() => text(find("notice"), ""), NOTICE_TIME);
  }

  /** A whole number from the address, or the other value with a notice. */
  function numberFrom(wanted, name, other, problems) {
    const value = wanted.get(name);
    if (value === null || /^\d{1,9}$/.test(value)) return value === null ? other : +value;
    problems.push(`${name} ${quoted(value)} is no whole number`);
    return other;
  }

  const quoted = (value) => `“${value.length > 20 ? `${value.slice(0, 20)}…` : value}”`;

  /** Go where an address says: #episode=57&step=3&synapse=i2-h3, or #57.3 for short; say whether it says so.
   *
   * Keys that this page does not know are ignored; of a value that it cannot use it tells. */
  function goToAddress(address) {
    const short = /^#(\d+)(?:\.(\d+))?$/.exec(address), problems = [];
    const wanted = new URLSearchParams(short ? "" : address.slice(1));
    if (short) wanted.set("episode", short[1]);
    if (short && short[2] !== undefined) wanted.set("step", short[2]);
    if (!["episode", "step", "synapse"].some((name) => wanted.has(name))) return false;
    const episode = numberFrom(wanted, "episode", state.episode + 1, problems);
    if (episode < 1 || episode > EPISODES) problems.push(`there is no episode ${grouped(episode)}, only 1 to ${grouped(EPISODES)}`);
    const synapse = wanted.get("synapse"), entry = synapse && computed.length ? synapseNamed(synapse) : null;
    if (synapse !== null && !computed.length) problems.push("a recording has no synapses to show");
    else if (synapse !== null && !entry) problems.push(`there is no synapse ${quoted(synapse)}`);
    pause();
    state.inspected = entry;
    kept = entry !== null;
    go(episode - 1, numberFrom(wanted, "step", wanted.has("episode") ? Infinity : state.step, problems));
    if (problems.length) tell(`In the address: ${problems.join("; ")}.`);
    return true;
  }

  function begin() {
    connect();
    readPalette();
    describe();
    // Of the event, not of the window: what was shown may have been written over it since.
    window.addEventListener("hashchange", (event) => goToAddress(new URL(event.newURL).hash));
    if (!goToAddress(location.hash)) go(0, 0, false);
    later();
  }
  if (computed.length === panels.length) begin();
  else {
    const loads = panels.filter((panel) => panel.recorded).map((panel) => panel.replay.load());
    // In a task of its own, so that an error in it is one of the window, and told.
    Promise.all(loads).then(() => setTimeout(begin, 0), (error) => complain(`The recording cannot be unpacked here: ${error.message}`));
  }

  return {
    ready, // resolves when the first episode is shown
    checked, // resolves when every episode has been compared with the engine
    /** Show an episode, from 1, at a step, from 0; at its end without one. */
    goto: (episode, step) => go(episode - 1, step),
    play,
    pause,
    /** What is shown, in plain values. */
    state: () => ({
      ...state,
      episode: state.episode + 1,
      phase: phases.of(state.episode) + 1,
      goal: phases.goal(state.episode),
      speed: SPEEDS[state.speed],
      shown: shown(),
      theme: document.documentElement.dataset.theme,
      recorded: panels.map((panel) => panel.recorded),
      checked: computed.map((panel) => panel.replay.checked),
      differences: computed.map((panel) => panel.replay.differences),
      panels: panels.map((panel) => panel.result && {
        ep: panel.result.episode.ep,
        steps: panel.result.episode.steps,
        pits: panel.result.episode.pits ?? null,
        states: panel.result.episode.states ?? null,
        cells: panel.result.episode.cells ?? null,
        actions: panel.result.episode.actions.map((action) => ACTIONS[action]),
        reached: panel.result.episode.reached,
        best: panel.best[panel.result.episode.number],
        m: panel.result.update.m ?? null,
        accepted: panel.result.update.accepted ?? null,
      }),
    }),
  };
})();
