/* Words, numbers and elements of the page, and how it tells that something has failed. */

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
export function subscripted(name) {
  return name.startsWith("α_") ? ["α", make("sub", "", name.slice(2))] : [name];
}

/** Show a value with a small remark beside it. */
export function html(element, strong, small) {
  if (element.dataset.shown === strong + small) return;
  element.dataset.shown = strong + small;
  element.replaceChildren(strong, make("small", "", small));
}

const NOTICE_TIME = 6000; // milliseconds that a notice stays
let noticeTimer = 0;

/** Say something for a while. */
export function tell(message) {
  clearTimeout(noticeTimer);
  text(find("notice"), message);
  noticeTimer = setTimeout(() => text(find("notice"), ""), NOTICE_TIME);
}

/** Say that something is wrong; it stays. */
export function complain(message) {
  const box = find("alert");
  box.hidden = false;
  text(box, message);
}

window.addEventListener("error", (event) => complain(`This page has failed: ${event.message}`));
