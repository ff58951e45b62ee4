// Three tokens in a plane: drag them, and see scores, weights and output follow.

import { attention, choice, draggable, editable, figure, largest, read, slider, text, write } from "./base.js";

const ORIGIN = 160, UNIT = 60, LIMIT = 2.5, STEP = 0.1; // as docs/_figures/by-hand.svg draws them
const place = ([x, y]) => [ORIGIN + UNIT * x, ORIGIN - UNIT * y];

figure("by-hand", ({ form, tables, svg }) => {
  editable(tables.tokens, { min: -LIMIT, max: LIMIT, step: STEP });
  const query = choice("出力を描くクエリ", { 1: "1", 2: "2", 3: "3" }, "3");
  const temperature = slider("温度", [0.1, 0.2, 0.5, 1, 2, 5, 10], 1);
  const [arrows, pulls, points] = [".arrow", ".pull", ".token"].map((part) => [...svg.querySelectorAll(part)]);
  const inputs = (n) => tables.tokens.tBodies[0].rows[n].querySelectorAll("input");

  const put = (n, vector) => {
    inputs(n).forEach((input, i) => {
      input.value = text(Math.max(-LIMIT, Math.min(LIMIT, vector[i])), 1);
    });
    form.dispatchEvent(new Event("input"));
  };
  points.forEach((point, n) => {
    point.classList.add("handle");
    draggable(point, {
      label: `トークン${n + 1}の点`,
      move: (x, y) => put(n, [(x - ORIGIN) / UNIT, (ORIGIN - y) / UNIT]),
      nudge: (x, y) => put(n, read(tables.tokens)[n].map((value, i) => value + STEP * [x, y][i])),
    });
  });

  function draw() {
    const tokens = read(tables.tokens);
    const scale = 1 / Math.sqrt(2) / temperature.value();
    const { scores, weights, output } = attention(tokens, tokens, tokens, { scale });
    write(tables.scores, scores);
    write(tables.weights, weights);
    write(tables.output, output);

    const chosen = query.value() - 1;
    const from = place(output[chosen]).map((x) => text(x, 1));
    svg.querySelector(".hull").setAttribute("points", tokens.map((token) => place(token)).join(" "));
    svg.querySelector(".result").setAttribute("transform", `translate(${from.join(" ")})`);
    tokens.forEach((token, n) => {
      const to = place(token).map((x) => text(x, 0)).join(" ");
      arrows[n].setAttribute("d", `M${ORIGIN} ${ORIGIN} L${to}`);
      pulls[n].setAttribute("d", `M${from.join(" ")} L${to}`);
      pulls[n].setAttribute("stroke-width", text(10 * weights[chosen][n], 1));
      points[n].setAttribute("transform", `translate(${to})`);
      points[n].setAttribute("aria-valuenow", token[0]);
      points[n].setAttribute("aria-valuetext", `成分1は${token[0]}、成分2は${token[1]}`);
    });
    const most = largest(weights[chosen]).map((n) => `トークン${n + 1}`).join("と");
    const share = text(Math.max(...weights[chosen]));
    return `クエリ${chosen + 1}がいちばん多く受け取るのは${most}（重み${share}）、出力は(${output[chosen].map((x) => text(x)).join(", ")})です。`;
  }
  return { controls: [query, temperature], draw };
});
