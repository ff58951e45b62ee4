// Memory: what a longer text needs for its cache, with grouped heads, and for one matrix of scores.

import { figure, read, slider, write } from "./base.js";

const LENGTHS = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072], START = 8192;

figure("cache", ({ tables }) => {
  const start = read(tables.memory).flat();
  const length = slider("トークンの数", LENGTHS, START);

  function draw() {
    const times = length.value() / START;
    const sizes = start.map((size, i) => size * (i < start.length - 1 ? times : times ** 2)); // last: scores
    write(tables.memory, sizes.map((size) => [size]));
    return `${length.value()}トークン：8ヘッドのキャッシュは${sizes[1]} MiB、スコアの行列は1枚${sizes.at(-1)} MiBです。`;
  }
  return { controls: [length], draw };
});
