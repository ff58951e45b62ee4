// Online softmax: the keys are cut anywhere, each part keeps a maximum and a total, and together they give one answer.

import { extend, figure, matmul, read, slider, text, transpose, write } from "./base.js";

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

const FIRST = 40, SLOT = 34, ZERO = 95, SCORE = 18, TOTAL = 120; // as docs/_figures/cost.svg is drawn

figure("cost", ({ tables, svg }) => {
  const keys = read(tables.keys);
  const scores = keys.map((row) => row[0]), values = keys.map((row) => row.slice(1));
  const [bars, tops, totals] = [".score", ".top", ".total"].map((part) => svg.querySelectorAll(part));
  const border = svg.querySelector(".border");
  const cut = slider("左に入れるキー", [...keys.keys(), keys.length], keys.length / 2, "個");

  function draw() {
    const n = cut.value();
    const part = (inside) => attend(scores.map((s, j) => (inside(j) ? s : -Infinity)), values);
    const left = part((j) => j < n), right = part((j) => j >= n);
    const { factors, whole } = merge(left, right);
    const column = ({ top, total, mixed }, factor) => [top, total, factor, ...mixed.map((m) => (total ? m / total : 0))];
    write(tables.parts, transpose([column(left, factors[0]), column(right, factors[1]), column(whole, 1)]));
    [...tables.keys.tBodies[0].rows].forEach((row, j) => row.classList.toggle("chosen", j < n));

    const middle = FIRST + SLOT * n, end = FIRST + SLOT * keys.length;
    const across = ({ top }, a, b) => (a < b ? `M${a} ${text(ZERO - SCORE * top, 1)} H${b}` : ""); // no key: no maximum
    bars.forEach((bar, j) => bar.classList.toggle("right", j >= n));
    border.setAttribute("d", `M${middle} 24 V162`);
    tops[0].setAttribute("d", across(left, FIRST, middle));
    tops[1].setAttribute("d", across(right, middle, end));
    const sums = [left.total, right.total, whole.total, left.total * factors[0]]; // the last lies on that before it
    sums.forEach((sum, i) => extend(totals[i], TOTAL * sum));

    const [x, y] = factors.map((factor) => text(factor, 2));
    return `左は${n}個、右は${keys.length - n}個。左に${x}、右に${y}を掛けて足すと、合計は${text(whole.total, 2)}です。`;
  }
  return { controls: [cut], draw };
});
