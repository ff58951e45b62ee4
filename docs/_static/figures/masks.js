// Paint a mask: which weights follow, what leaks, and what another library makes of the same mask.

import { choice, figure, make, read, softmax, write } from "./base.js";

const causal = (i, j) => j <= i;
const PRESETS = {
  "causal mask": causal,
  "マスクなし": () => true,
  "上下が逆": (i, j) => j >= i,
  "1つ先まで見える": (i, j) => j <= i + 1,
  "1つ前を忘れた": (i, j) => causal(i, j) && j !== i - 1,
  "4番目から詰め物": (i, j) => causal(i, j) && j < 3,
  "詰め物を行も隠す": (i, j) => causal(i, j) && j < 3 && i < 3,
  "自分と直前だけ": (i, j) => causal(i, j) && j > i - 2,
};

figure("masks", ({ tables }) => {
  const scores = read(tables.scores);
  const boxes = [...tables.mask.tBodies[0].rows].map((row, i) =>
    [...row.cells].slice(1).map((cell, j) => {
      const attributes = { type: "checkbox", "aria-label": `クエリ${i + 1}、キー${j + 1}`, tabindex: i + j ? -1 : 0 };
      const box = make("input", { ...attributes, ...(cell.textContent === "1" && { checked: "" }) });
      cell.replaceChildren(box);
      return box;
    }),
  );
  const all = boxes.flat();

  const names = [...Object.keys(PRESETS), "自分で描く"].map((name) => make("option", {}, name));
  const select = make("select", {}, ...names);
  const preset = { element: make("label", { class: "menu" }, make("span", {}, "見本"), select) };
  select.addEventListener("input", () => {
    const shows = PRESETS[select.value];
    if (shows) boxes.forEach((row, i) => row.forEach((box, j) => { box.checked = shows(i, j); }));
  });
  tables.mask.addEventListener("input", () => { select.value = "自分で描く"; });

  // One tab stop; the arrows go from cell to cell, a space paints. A mouse or a finger paints where it passes.
  tables.mask.addEventListener("keydown", (event) => {
    const n = all.indexOf(event.target), size = boxes[0].length;
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [];
    const next = down === undefined ? undefined : boxes[Math.floor(n / size) + down]?.[(n % size) + right];
    if (!next) return;
    event.preventDefault();
    all.forEach((box) => { box.tabIndex = box === next ? 0 : -1; });
    next.focus();
  });
  let paint = null; // what a pressed pointer leaves in the boxes that it passes
  const touch = (event) => {
    const box = paint === null ? null : document.elementFromPoint(event.clientX, event.clientY);
    if (!all.includes(box) || box.checked === paint) return;
    box.checked = paint;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  };
  tables.mask.addEventListener("pointerdown", (event) => {
    if (event.button || !all.includes(event.target)) return;
    paint = !event.target.checked;
    touch(event);
  });
  tables.mask.addEventListener("click", (event) => { if (event.detail) event.preventDefault(); }); // painted already
  addEventListener("pointermove", touch);
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { paint = null; });

  const api = choice("渡す先", { keep: "この本とSDPA：1は見てよい", hide: "MHA：1は隠す" }, "keep");

  function draw() {
    const hides = api.value() === "hide";
    const seen = boxes.map((row) => row.map((box) => box.checked !== hides));
    const empty = seen.flatMap((row, i) => (row.includes(true) ? [] : [`クエリ${i + 1}`]));
    write(
      tables.weights,
      scores.map((row, i) => {
        const weights = softmax(row.map((x, j) => (seen[i][j] ? x : -Infinity)));
        return hides && !seen[i].includes(true) ? weights.map(() => NaN) : weights;
      }),
    );
    const count = (fault) => seen.flatMap((row, i) => row.filter((see, j) => fault(see, causal(i, j)))).length;
    const leaks = count((see, past) => see && !past), lost = count((see, past) => !see && past);
    const rows = empty.length ? `${empty.join("と")}は何も見られず、重みが${hides ? "NaN" : "すべて0"}です。` : "";
    return `漏れ${leaks}、届かない過去${lost}。${rows}`;
  }
  return { controls: [preset, { element: tables.mask }, api], draw };
});
