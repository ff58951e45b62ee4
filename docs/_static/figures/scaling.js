// One query and six keys whose components are added one after another: weights with and without the division by √d_k.

import { entropy, extend, figure, jacobian, largest, norm, read, slider, softmax, text, transpose, write } from "./base.js";

figure("scaling", ({ tables, svg }) => {
  const scores = read(tables.scores);
  const lengths = [...tables.scores.tBodies[0].rows].map((row) => Number(row.cells[0].textContent));
  const names = scores[0].map((_, j) => `キー${j + 1}`);
  const bars = svg.querySelectorAll(".bar");
  const length = slider("d_k", lengths, 64);

  function draw() {
    const d = length.value(), n = lengths.indexOf(d);
    const ways = [1, Math.sqrt(d)].map((divisor) => softmax(scores[n].map((s) => s / divisor)));
    const facts = ways.map((w) => [Math.max(...w), entropy(w) / Math.log(w.length), norm(jacobian(w))]);
    write(tables.weights, transpose(ways));
    ways.flat().forEach((weight, i) => extend(bars[i], -120 * weight)); // as high as docs/_figures/scaling.svg is drawn
    write(tables.facts, transpose(facts));
    [...tables.scores.tBodies[0].rows].forEach((row, i) => row.classList.toggle("chosen", i === n));

    const [raw, scaled] = ways.map((w) => `${largest(w, names)}（${text(Math.max(...w))}）`);
    const [still, moving] = facts.map((f) => text(f[2], 2));
    return `d_k=${d}。最大の重みは、割らないと${raw}、割ると${scaled}。ヤコビ行列の大きさは、${still}と${moving}です。`;
  }
  return { controls: [length], draw };
});
