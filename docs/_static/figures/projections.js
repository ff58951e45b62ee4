// The matrices of one head: which of them moves the weights, and which only the output?

import { attention, editable, figure, largest, matmul, read, text, write } from "./base.js";

const NAMES = ["トークン1", "トークン2", "トークン3"];

figure("projections", ({ tables }) => {
  const { tokens, W_q, W_k, W_v, scores, weights, output } = tables;
  const seen = () => [scores, weights, output].map((table) => table.tBodies[0].textContent);
  const start = seen();
  editable(W_q, { min: -3, max: 3, step: 0.5, range: true });
  editable(W_k, { min: -3, max: 3, step: 0.5, range: true });
  editable(W_v, { min: -100, max: 100, step: 0.5 });

  function draw() {
    const [Q, K, V] = [W_q, W_k, W_v].map((W) => matmul(read(tokens), read(W)));
    const result = attention(Q, K, V);
    write(scores, result.scores);
    write(weights, result.weights);
    write(output, result.output);

    const moved = seen().map((now, i) => (now === start[i] ? "同じ" : "変わりました"));
    const row = result.weights[0];
    return (
      `はじめと比べて、スコア：${moved[0]}、重み：${moved[1]}、出力：${moved[2]}。` +
      `トークン1がいちばん多く受け取る相手は${largest(row, NAMES)}（重み${text(Math.max(...row))}）です。`
    );
  }
  return { controls: [W_q, W_k, W_v].map((element) => ({ element })), draw };
});
