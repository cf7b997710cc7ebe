// Seeded randomness for the corpus and the operation lists: same seed, same sequence, on every machine.
// Knows nothing of sessions. Nothing else in this folder may call Math.random().

/** xmur3 turns any string into a 32-bit state; sfc32 does the rest. */
function seedWords(text) {
  let h = 1779033703 ^ text.length;
  for (let i = 0; i < text.length; i++) {
    h = Math.imul(h ^ text.charCodeAt(i), 3432918353);
    h = (h << 13) | (h >>> 19);
  }
  return () => {
    h = Math.imul(h ^ (h >>> 16), 2246822507);
    h = Math.imul(h ^ (h >>> 13), 3266489909);
    return (h ^= h >>> 16) >>> 0;
  };
}

const WORDS =
  'branch leaf root entry path merge commit parser token stream buffer naïve café Ωmega 日本語 😀 \u2028 \\n "quoted" </tag> ' +
  "function return value error file test import export const struct match option result vector offset header";

export class Rng {
  #a;
  #b;
  #c;
  #d;

  constructor(seed) {
    const next = seedWords(String(seed));
    [this.#a, this.#b, this.#c, this.#d] = [next(), next(), next(), next()];
    for (let i = 0; i < 12; i++) this.unit();
  }

  /** A number in [0, 1). */
  unit() {
    const t = (((this.#a + this.#b) | 0) + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + t) | 0;
    return (t >>> 0) / 4294967296;
  }

  /** A whole number from low to high, both included. */
  int(low, high) {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  chance(p) {
    return this.unit() < p;
  }

  pick(list) {
    return list[this.int(0, list.length - 1)];
  }

  /** `table` is [[weight, value], ...]. */
  weighted(table) {
    let left = this.unit() * table.reduce((sum, [w]) => sum + w, 0);
    for (const [weight, value] of table) if ((left -= weight) < 0) return value;
    return table.at(-1)[1];
  }

  shuffle(list) {
    const out = [...list];
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.int(0, i);
      [out[i], out[j]] = [out[j], out[i]];
    }
    return out;
  }

  hex(digits) {
    let out = "";
    while (out.length < digits) out += this.int(0, 15).toString(16);
    return out;
  }

  /** A line of words, awkward characters included. */
  text(words = this.int(2, 12)) {
    const all = WORDS.split(" ");
    return Array.from({ length: words }, () => this.pick(all)).join(" ");
  }
}
