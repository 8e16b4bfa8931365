/* Random numbers, bit for bit those of the engines: Philox, uniform numbers, normal deviates.
 * Read it beside docs/exactness.md. Every +, −, ×, ÷ and √ of two 32-bit floats is done in double
 * precision and rounded by Math.fround (written f), which gives exactly the 32-bit result. */

export const f = Math.fround;

export const WEIGHTS = 0; // what a draw is for: the last word of the counter
export const NOISE = 1;
export const ACTION = 2;

/** The upper 32 bits of the product of two 32-bit words, from products of their halves. */
function multiplyHigh(a, b) {
  const aLow = a & 0xffff, aHigh = a >>> 16, bLow = b & 0xffff, bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16); // below 2^32: (2^16 − 1)² + 2^16 − 1
  const other = aLow * bHigh + (middle & 0xffff);
  return (aHigh * bHigh + (middle >>> 16) + (other >>> 16)) >>> 0;
}

/** Philox4x32-10: write the four words of a counter under a key to out[at …]. */
export function philox(c0, c1, c2, c3, key, out, at) {
  let k0 = key[0] >>> 0, k1 = key[1] >>> 0;
  for (let round = 0; round < 10; round++) {
    const high0 = multiplyHigh(0xd2511f53, c0), low0 = Math.imul(0xd2511f53, c0) >>> 0;
    const high1 = multiplyHigh(0xcd9e8d57, c2), low1 = Math.imul(0xcd9e8d57, c2) >>> 0;
    c0 = (high1 ^ c1 ^ k0) >>> 0;
    c1 = low1;
    c2 = (high0 ^ c3 ^ k1) >>> 0;
    c3 = low0;
    k0 = (k0 + 0x9e3779b9) >>> 0;
    k1 = (k1 + 0xbb67ae85) >>> 0;
  }
  out[at] = c0;
  out[at + 1] = c1;
  out[at + 2] = c2;
  out[at + 3] = c3;
}

/** The words at draws 0, 1, … of one lane, rounded up to whole blocks of four. */
export function words(seed, purpose, episode, lane, draws) {
  const out = new Uint32Array(4 * Math.ceil(draws / 4));
  for (let at = 0; at < out.length; at += 4) philox(at / 4, lane, episode, purpose, seed, out, at);
  return out;
}

/** A number uniform in [−1, 1): the upper 24 bits of a word as a signed fraction. */
export function uniform(word) {
  return f((word >> 8) * 2 ** -23);
}

const LN2 = f(0.6931471805599453);
const SQRT_HALF_BITS = 0x3f3504f3;
const THIRD = f(1 / 3), FIFTH = f(1 / 5), SEVENTH = f(1 / 7);
const EIGHTH_TURN = f(Math.PI / 4 / 2 ** 31);
const SIN = [-1 / 6, 1 / 120, -1 / 5040, 1 / 362880].map(f);
const COS = [-1 / 2, 1 / 24, -1 / 720, 1 / 40320].map(f);
export const asFloat = new Float32Array(1);
export const asBits = new Int32Array(asFloat.buffer);

/** −ln((k + ½) / 2^31), with k the upper 31 bits of a word. */
function minusLn(word) {
  asFloat[0] = f(f(word >>> 1) + 0.5);
  const offset = asBits[0] - SQRT_HALF_BITS;
  const exponent = offset >> 23;
  asBits[0] = (offset & 0x7fffff) + SQRT_HALF_BITS;
  const mantissa = asFloat[0];
  const s = f(f(mantissa - 1) / f(mantissa + 1));
  const z = f(s * s);
  const series = f(f(f(f(f(f(SEVENTH * z) + FIFTH) * z) + THIRD) * z) + 1);
  return f(f((31 - exponent) * LN2) - f(f(s + s) * series));
}

/** Two words become two normal deviates by Box and Muller's method; written to out[at], out[at + 1]. */
export function normals(radiusWord, angleWord, out, at) {
  const y = minusLn(radiusWord);
  const radius = f(Math.sqrt(f(y + y)));
  const quarter = angleWord >>> 30;
  const x = f(f((angleWord << 2) | 0) * EIGHTH_TURN);
  const z = f(x * x);
  let sine = f(f(f(f(f(f(f(SIN[3] * z) + SIN[2]) * z) + SIN[1]) * z) + SIN[0]) * z);
  sine = f(f(sine + 1) * x);
  let cosine = f(f(f(f(f(f(f(COS[3] * z) + COS[2]) * z) + COS[1]) * z) + COS[0]) * z);
  cosine = f(cosine + 1);
  let first = quarter & 1 ? sine : cosine;
  let second = quarter & 1 ? cosine : sine;
  if (quarter === 1 || quarter === 2) first = -first;
  if (quarter >= 2) second = -second;
  out[at] = f(radius * first);
  out[at + 1] = f(radius * second);
}

/** A whole number uniform in 0 … n − 1. */
export function choice(word, n) {
  return Math.floor((word * n) / 2 ** 32);
}
