// Online softmax: the keys are cut anywhere, each part keeps a maximum and a total, and together they give one answer.

import { figure, matmul, read, slider, text, transpose, write } from "./base.js";

/** What the package's `attend` keeps of some keys; a key outside of the part has the score -Infinity. */
export function attend(scores, values) {
  const top = Math.max(...scores);
  const powers = scores.map((s) => Math.exp(s - (top === -Infinity ? 0 : top)));
  return { top, total: powers.reduce((a, b) => a + b, 0), mixed: matmul([powers], values)[0] };
}

/** The factor of each part, and the whole: the package's `merge`. */
export function merge(a, b) {
  const top = Math.max(a.top, b.top);
  const factors = [a, b].map((part) => Math.exp(part.top - (top === -Infinity ? 0 : top)));
  const [x, y] = factors;
  const mixed = a.mixed.map((m, i) => m * x + b.mixed[i] * y);
  return { factors, whole: { top, total: a.total * x + b.total * y, mixed } };
}

figure("cost", ({ tables }) => {
  const keys = read(tables.keys);
  const scores = keys.map((row) => row[0]), values = keys.map((row) => row.slice(1));
  const cut = slider("左に入れるキー", [...keys.keys(), keys.length], keys.length / 2, "個");

  function draw() {
    const n = cut.value();
    const part = (inside) => attend(scores.map((s, j) => (inside(j) ? s : -Infinity)), values);
    const left = part((j) => j < n), right = part((j) => j >= n);
    const { factors, whole } = merge(left, right);
    const column = ({ top, total, mixed }, factor) => [top, total, factor, ...mixed.map((m) => (total ? m / total : 0))];
    write(tables.parts, transpose([column(left, factors[0]), column(right, factors[1]), column(whole, 1)]));
    [...tables.keys.tBodies[0].rows].forEach((row, j) => row.classList.toggle("chosen", j < n));
    const [x, y] = factors.map((factor) => text(factor, 2));
    return `左は${n}個、右は${keys.length - n}個。左に${x}、右に${y}を掛けて足すと、合計は${text(whole.total, 2)}です。`;
  }
  return { controls: [cut], draw };
});
