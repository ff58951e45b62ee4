// Memory: what a longer text needs for its cache, with grouped heads, and for one matrix of scores.

import { extend, figure, read, slider, write } from "./base.js";

const LENGTHS = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072], START = 8192;

figure("cache", ({ tables, svg }) => {
  const start = read(tables.memory).flat();
  const bars = svg.querySelectorAll(".bar");
  const length = slider("トークンの数", LENGTHS, START);

  function draw() {
    const times = length.value() / START;
    const sizes = start.map((size, i) => size * (i < start.length - 1 ? times : times ** 2)); // last: scores
    write(tables.memory, sizes.map((size) => [size]));
    sizes.forEach((size, i) => extend(bars[i], 200 * (size / sizes[0]))); // as docs/_figures/cache.svg is drawn
    return `${length.value()}トークン：8ヘッドのキャッシュは${sizes[1]} MiB、スコアの行列は1枚${sizes.at(-1)} MiBです。`;
  }
  return { controls: [length], draw };
});
