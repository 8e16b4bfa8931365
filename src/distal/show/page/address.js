/* The address: it follows what is shown, and leads to it. */
import { grouped, tell } from "./elements.js";
import { synapseName, synapseNamed } from "./matrix.js";
import { computed, lastStep, shown } from "./panels.js";
import { go, pause } from "./playback.js";
import { EPISODES, state } from "./trial.js";

const ADDRESS_PAUSE = 500; // between two changes of the address; browsers refuse more than 100 in 30 seconds

/** What is shown, as the address says it; without a step it is the end of the episode. */
function place() {
  const step = state.step < lastStep() ? `&step=${state.step}` : "";
  return `#episode=${state.episode + 1}${step}${state.inspected ? `&synapse=${synapseName(state.inspected)}` : ""}`;
}

let addressed = null; // the last place that the address was told, or need not be told
let addressTimer = 0;

/** Let the address follow what is shown, a little later; a page that was just opened keeps the one it has. */
export function followAddress() {
  if (!shown()) return;
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
export function copyLink() {
  setAddress();
  const link = location.href.split("#")[0] + place();
  const copied = navigator.clipboard ? navigator.clipboard.writeText(link) : Promise.reject(new Error("no clipboard"));
  copied.then(() => tell("Link copied."), () => tell("This browser does not let the page copy. The link is in the address bar."));
}

const quoted = (value) => `“${value.length > 20 ? `${value.slice(0, 20)}…` : value}”`;

/** A whole number from the address, or the other value with a notice. */
function numberFrom(wanted, name, other, problems) {
  const value = wanted.get(name);
  if (value === null || /^\d{1,9}$/.test(value)) return value === null ? other : +value;
  problems.push(`${name} ${quoted(value)} is no whole number`);
  return other;
}

/** Go where an address says: #episode=57&step=3&synapse=i2-h3, or #57.3 for short; say whether it says so.
 *
 * Keys that this page does not know are ignored; of a value that it cannot use it tells. */
export function goToAddress(address) {
  const short = /^#(\d+)(?:\.(\d+))?$/.exec(address), problems = [];
  const wanted = new URLSearchParams(short ? "" : address.slice(1));
  if (short) wanted.set("episode", short[1]);
  if (short?.[2] !== undefined) wanted.set("step", short[2]);
  if (!["episode", "step", "synapse"].some((name) => wanted.has(name))) return false;
  const episode = numberFrom(wanted, "episode", state.episode + 1, problems);
  if (episode < 1 || episode > EPISODES) problems.push(`there is no episode ${grouped(episode)}, only 1 to ${grouped(EPISODES)}`);
  const synapse = wanted.get("synapse"), entry = synapse && computed.length ? synapseNamed(synapse) : null;
  if (synapse !== null && !computed.length) problems.push("a recording has no synapses to show");
  else if (synapse !== null && !entry) problems.push(`there is no synapse ${quoted(synapse)}`);
  pause();
  Object.assign(state, { inspected: entry, kept: entry !== null });
  go(episode - 1, numberFrom(wanted, "step", wanted.has("episode") ? Infinity : state.step, problems));
  if (problems.length) tell(`In the address: ${problems.join("; ")}.`);
  return true;
}
