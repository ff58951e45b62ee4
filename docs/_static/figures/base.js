// What the figures that answer to the hand share: arithmetic, tables, controls, handles.
// A figure starts as tables that the build wrote: a script reads its numbers there, and writes the new ones there.

// Arithmetic. A matrix is an array of rows; a hidden score is -Infinity. Tested against the package to 1e-12.

export const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
export const transpose = (m) => m[0].map((_, j) => m.map((row) => row[j]));
export const norm = (m) => Math.sqrt(m.flat().reduce((sum, x) => sum + x * x, 0));

export function matmul(a, b) {
  const columns = transpose(b);
  return a.map((row) => columns.map((column) => dot(row, column)));
}

export function softmax(scores) {
  const top = Math.max(...scores);
  const powers = scores.map((x) => Math.exp(x - (top === -Infinity ? 0 : top)));
  const total = Math.max(powers.reduce((a, b) => a + b, 0), 1); // 0 in a row where all is hidden
  return powers.map((x) => x / total);
}

export const entropy = (weights) => 0 - weights.reduce((sum, w) => sum + (w === 0 ? 0 : w * Math.log(w)), 0);
export const jacobian = (weights) => weights.map((a, i) => weights.map((b, j) => a * ((i === j ? 1 : 0) - b)));

/** mask[i][j]: whether query i may look at key j. `scores` are those before the scale and the mask. */
export function attention(Q, K, V, { scale = K[0].length ** -0.5, mask = null } = {}) {
  const scores = matmul(Q, transpose(K));
  const weights = scores.map((row, i) =>
    softmax(row.map((x, j) => (!mask || mask[i][j] ? x * scale : -Infinity))),
  );
  return { scores, weights, output: matmul(weights, V) };
}

// Elements and words

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A number as the build writes it: fixed decimals, no minus zero, "-inf" and "nan". */
export function text(x, digits = 3) {
  if (!Number.isFinite(x)) return String(x).replace("Infinity", "inf").toLowerCase();
  const written = x.toFixed(digits);
  return Number(written) === 0 ? (0).toFixed(digits) : written;
}

/** The names at the largest weights; two that look alike are both named. */
export function largest(weights, names) {
  const top = text(Math.max(...weights));
  return names.filter((_, i) => text(weights[i]) === top).join("と");
}

// Tables

const cells = (table) => [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1));
const inputOf = (cell) => cell.querySelector("input[type=number]");
const within = (input) => Math.min(input.max, Math.max(input.min, Number(input.value)));

/** The matrix that a table shows, or that the reader typed into it. */
export const read = (table) =>
  cells(table).map((row) =>
    row.map((cell) => (inputOf(cell) ? within(inputOf(cell)) : Number(cell.textContent.replace("inf", "Infinity")))),
  );

/** Write a matrix into a table, in inputs too; a shaded cell is filled as far as its number goes from 0 to 1. */
export function write(table, matrix) {
  cells(table).forEach((row, i) =>
    row.forEach((cell, j) => {
      const written = text(matrix[i][j], Number(table.dataset.digits ?? 3));
      if (inputOf(cell)) inputOf(cell).value = written;
      else cell.textContent = written;
      if (cell.style.length) cell.style.setProperty("--shade", text(matrix[i][j]));
    }),
  );
}

/** Turn the numbers of a table into inputs, named by the headings of their row and column; range: a slider to each. */
export function editable(table, { range = false, ...limits }) {
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  cells(table).forEach((row) =>
    row.forEach((cell, j) => {
      const name = `${cell.parentElement.cells[0].textContent}、${heads[j + 1]}`;
      const attributes = { ...limits, value: cell.textContent, "aria-label": name };
      cell.replaceChildren(
        ...["number", ...(range ? ["range"] : [])].map((type) => make("input", { type, ...attributes })),
      );
    }),
  );
}

// Controls: native inputs of one form, so that the form's own reset brings everything back

/** A range over a list of values, said with `unit`. */
export function slider(label, values, start, unit = "") {
  const input = make("input", { type: "range", min: 0, max: values.length - 1, value: values.indexOf(start) });
  const output = make("output");
  const value = () => values[input.value];
  const set = (x) => { input.value = values.indexOf(x); };
  const show = () => {
    output.textContent = value() + unit;
    input.setAttribute("aria-valuetext", value() + unit);
  };
  return { element: make("label", { class: "slider" }, make("span", {}, label), input, output), value, set, show };
}

/** One of several, given as {value: label}. */
export function choice(legend, choices, start) {
  const inputs = Object.entries(choices).map(([value, label]) => {
    const input = make("input", { type: "radio", name: legend, value, ...(value === start && { checked: "" }) });
    return make("label", {}, input, label);
  });
  const element = make("fieldset", { class: "choice" }, make("legend", {}, legend), ...inputs);
  const value = () => element.querySelector(":checked").value;
  const set = (x) => { element.querySelector(`[value="${x}"]`).checked = true; };
  return { element, value, set };
}

/** Make a bar of an SVG, "M… v…" or "M… h…", as long as a number says. */
export const extend = (bar, length) => bar.setAttribute("d", bar.getAttribute("d").replace(/[-\d.]+$/, text(length, 1)));

// A point in an SVG that is dragged, or moved by the arrow keys (with Shift: five steps)

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** move(x, y) gets coordinates of the SVG, nudge(dx, dy) steps. Inputs beside it say and take the same numbers. */
export function draggable(point, { label, min, max, move, nudge }) {
  const named = { tabindex: 0, role: "slider", "aria-label": label, "aria-valuemin": min, "aria-valuemax": max };
  for (const [name, value] of Object.entries(named)) point.setAttribute(name, value);
  point.ownerSVGElement.setAttribute("role", "group"); // it was a picture; now there are handles inside
  point.classList.add("handle");
  point.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    point.setPointerCapture(event.pointerId);
    point.focus({ preventScroll: true });
    event.preventDefault();
  });
  point.addEventListener("pointermove", (event) => {
    if (!point.hasPointerCapture(event.pointerId)) return;
    const toSvg = point.ownerSVGElement.getScreenCTM().inverse();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(toSvg);
    move(x, y);
  });
  point.addEventListener("keydown", (event) => {
    const direction = ARROWS[event.key];
    if (!direction || event.altKey || event.ctrlKey || event.metaKey) return;
    nudge(...direction.map((d) => d * (event.shiftKey ? 5 : 1)));
    event.preventDefault();
  });
}

// The figure

/**
 * Bring the figure of this name to life. setup({ form, tables, svg }) returns { controls, draw }: draw() writes the
 * tables, and returns the result in words, which is shown and read out once the hand rests.
 */
export function figure(name, setup) {
  const box = document.querySelector(`figure[data-figure="${name}"]`);
  const svg = document.querySelector(`svg[data-figure="${name}"]`); // a diagram that stands above
  const tables = Object.fromEntries([...box.querySelectorAll("table")].map((t) => [t.dataset.table, t]));
  for (const table of Object.values(tables)) {
    table.dataset.digits = cells(table)[0][0].textContent.split(".")[1]?.length ?? 0; // as many as the build wrote
  }
  box.querySelector("figcaption").remove(); // it says how to come here
  const form = make("form", { autocomplete: "off" }); // a reload starts from the page's own numbers
  const { controls, draw } = setup({ form, tables, svg });

  const said = make("p", { role: "status" });
  const back = make("button", { type: "reset" }, "元に戻す");
  const panel = make("div", { class: "controls" }, ...controls.map((control) => control.element), back);
  const results = make("div", { class: "results" }, ...box.children);
  form.append(...(svg ? [svg] : []), said, panel, results); // the words are in sight of what the hand moves
  box.append(form);

  let timer;
  const update = (wait) => {
    controls.forEach((control) => control.show?.());
    const words = draw();
    clearTimeout(timer);
    timer = setTimeout(() => { said.textContent = words; }, wait);
  };
  form.addEventListener("input", ({ target }) => {
    const pair = target.closest("td")?.querySelectorAll("input") ?? []; // a number and its slider
    pair.forEach((input) => { if (input !== target) input.value = target.value; });
    update(400);
  });
  form.addEventListener("change", ({ target }) => { if (target.type === "number") target.value = within(target); });
  form.addEventListener("reset", () => setTimeout(update, 0, 400)); // the inputs change after the event
  form.addEventListener("submit", (event) => event.preventDefault()); // Enter in an input
  update(0);
}
