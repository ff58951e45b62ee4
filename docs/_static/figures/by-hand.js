// Three tokens in a plane: drag them, and scores, weights and output follow.

import { attention, choice, draggable, editable, figure, largest, read, slider, text, write } from "./base.js";

const ORIGIN = 160, UNIT = 60, LIMIT = 2.5, STEP = 0.1; // as docs/_figures/by-hand.svg is drawn
const NAMES = ["トークン1", "トークン2", "トークン3"];
const place = ([x, y]) => [ORIGIN + UNIT * x, ORIGIN - UNIT * y].map((n) => text(n, 1)).join(" ");

figure("by-hand", ({ form, tables, svg }) => {
  editable(tables.tokens, { min: -LIMIT, max: LIMIT, step: STEP });
  tables.output.after(tables.tokens); // the points are at hand above: what follows from them comes first
  const query = choice("出力を描くトークン", { 0: "1", 1: "2", 2: "3" }, "2");
  const temperature = slider("温度", [0.1, 0.2, 0.5, 1, 2, 5, 10], 1);
  const [arrows, pulls, points] = [".arrow", ".pull", ".token"].map((part) => [...svg.querySelectorAll(part)]);
  const hull = svg.querySelector(".hull"), result = svg.querySelector(".result");

  points.forEach((point, n) => {
    const put = (x, y) => {
      write(tables.tokens, read(tables.tokens).map((token, i) => (i === n ? [x, y] : token)));
      write(tables.tokens, read(tables.tokens)); // within the limits
      form.dispatchEvent(new Event("input"));
    };
    draggable(point, {
      label: `${NAMES[n]}の点`,
      min: -LIMIT,
      max: LIMIT,
      move: (x, y) => put((x - ORIGIN) / UNIT, (ORIGIN - y) / UNIT),
      nudge: (dx, dy) => put(...read(tables.tokens)[n].map((value, i) => value + STEP * [dx, dy][i])),
    });
  });

  function draw() {
    const tokens = read(tables.tokens), n = query.value();
    const scale = 1 / (Math.sqrt(2) * temperature.value());
    const { scores, weights, output } = attention(tokens, tokens, tokens, { scale });
    write(tables.scores, scores);
    write(tables.weights, weights);
    write(tables.output, output);

    hull.setAttribute("points", tokens.map(place).join(" "));
    result.setAttribute("transform", `translate(${place(output[n])})`);
    tokens.forEach((token, j) => {
      arrows[j].setAttribute("d", `M${place([0, 0])} L${place(token)}`);
      pulls[j].setAttribute("d", `M${place(output[n])} L${place(token)}`);
      pulls[j].setAttribute("stroke-width", text(10 * weights[n][j], 1));
      points[j].setAttribute("transform", `translate(${place(token)})`);
      points[j].setAttribute("aria-valuenow", token[0]);
      points[j].setAttribute("aria-valuetext", `成分1は${token[0]}、成分2は${token[1]}`);
    });
    const share = `${largest(weights[n], NAMES)}（重み${text(Math.max(...weights[n]))}）`;
    return `${NAMES[n]}がいちばん多く受け取る相手は${share}、出力は[${output[n].map((x) => text(x)).join(", ")}]です。`;
  }
  return { controls: [query, temperature], draw };
});
