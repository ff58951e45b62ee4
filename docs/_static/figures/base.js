// What the figures that answer to the hand share: arithmetic, tables, controls, handles.
// A figure starts as tables that the build wrote; a script reads its numbers there and writes the new ones there.

// Arithmetic. A matrix is an array of rows; a hidden score is -Infinity. Tested against the package to 1e-12.

export const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
export const transpose = (m) => m[0].map((_, j) => m.map((row) => row[j]));
export const matmul = (a, b) => {
  const columns = transpose(b);
  return a.map((row) => columns.map((column) => dot(row, column)));
};
export const norm = (m) => Math.sqrt(m.flat().reduce((sum, x) => sum + x * x, 0));

export function softmax(scores) {
  const top = Math.max(...scores);
  const powers = scores.map((x) => Math.exp(x - (top === -Infinity ? 0 : top)));
  const total = Math.max(powers.reduce((a, b) => a + b, 0), 1); // 0 in a row where all is hidden
  return powers.map((x) => x / total);
}

export const entropy = (weights) => 0 - weights.reduce((sum, w) => sum + (w === 0 ? 0 : w * Math.log(w)), 0);
export const jacobian = (weights) => weights.map((a, i) => weights.map((b, j) => a * ((i === j ? 1 : 0) - b)));

export function attention(Q, K, V, { scale = K[0].length ** -0.5, mask = null } = {}) {
  const scores = matmul(Q, transpose(K));
  const weights = scores.map((row, i) =>
    softmax(row.map((x, j) => (!mask || mask[i][j] ? x * scale : -Infinity))),
  );
  return { scores, weights, output: matmul(weights, V) };
}

/** Where the largest weights stand; as shown, so that two that look alike are both named. */
export const largest = (weights) =>
  weights.flatMap((w, i) => (text(w) === text(Math.max(...weights)) ? [i] : []));

// Elements

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A number as the build writes it: fixed decimals, and no minus zero. */
export function text(x, digits = 3) {
  const written = x.toFixed(digits);
  return Number(written) === 0 ? (0).toFixed(digits) : written;
}

// Tables

const cells = (table) => [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1));

/** The matrix that a table shows, or that the reader typed into it; what is not a number counts as 0. */
export const read = (table) =>
  cells(table).map((row) => row.map((cell) => Number(cell.firstElementChild?.value ?? cell.textContent) || 0));

/** Write a matrix into a table; a shaded cell is filled as far as its number goes from 0 to 1. */
export function write(table, matrix, digits = 3) {
  cells(table).forEach((row, i) =>
    row.forEach((cell, j) => {
      cell.textContent = text(matrix[i][j], digits);
      if (cell.style.length) cell.style.setProperty("--shade", text(matrix[i][j]));
    }),
  );
}

/** Turn the numbers of a table into inputs, named by the headings of their row and column. */
export function editable(table, { min, max, step }) {
  const heads = [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent);
  cells(table).forEach((row) =>
    row.forEach((cell, j) => {
      const label = `${cell.parentElement.cells[0].textContent}の${heads[j]}`;
      const value = Number(cell.textContent);
      cell.replaceChildren(make("input", { type: "number", min, max, step, value, "aria-label": label }));
    }),
  );
}

// Controls: native inputs of one form, so that the form's own reset brings everything back

/** A range over a list of values; returns { element, value(), set(x) }. */
export function slider(label, values, start) {
  const input = make("input", { type: "range", min: 0, max: values.length - 1, value: values.indexOf(start) });
  const output = make("output");
  const value = () => values[input.value];
  const show = () => {
    output.textContent = value();
    input.setAttribute("aria-valuetext", value());
  };
  const set = (x) => {
    input.value = values.indexOf(x);
  };
  return { element: make("label", { class: "slider" }, make("span", {}, label), input, output), value, set, show };
}

/** One of several: { element, value(), set(x) }; choices: {value: label}. */
export function choice(legend, choices, start, name = legend) {
  const inputs = Object.entries(choices).map(([value, label]) => {
    const input = make("input", { type: "radio", name, value, ...(value === start && { checked: "" }) });
    return make("label", {}, input, label);
  });
  const element = make("fieldset", { class: "choice" }, make("legend", {}, legend), ...inputs);
  const value = () => element.querySelector(":checked").value;
  const set = (x) => {
    element.querySelector(`[value="${x}"]`).checked = true;
  };
  return { element, value, set, show: () => {} };
}

// A point in an SVG that is dragged, or moved by the arrow keys (with Shift: five steps)

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** move(x, y) gets coordinates of the SVG, nudge(dx, dy) steps; `touch-action` on the handle lets the page scroll elsewhere. */
export function draggable(handle, { label, move, nudge }) {
  for (const [name, value] of [["tabindex", 0], ["role", "slider"], ["aria-label", label]]) handle.setAttribute(name, value);
  handle.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    handle.setPointerCapture(event.pointerId);
    handle.focus();
    event.preventDefault();
  });
  handle.addEventListener("pointermove", (event) => {
    if (!handle.hasPointerCapture(event.pointerId)) return;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(
      handle.ownerSVGElement.getScreenCTM().inverse(),
    );
    move(x, y);
  });
  handle.addEventListener("keydown", (event) => {
    const direction = ARROWS[event.key];
    if (!direction || event.altKey || event.ctrlKey || event.metaKey) return;
    nudge(...direction.map((d) => d * (event.shiftKey ? 5 : 1)));
    event.preventDefault();
  });
}

// The figure

/**
 * Bring the figure of this name to life. setup({ form, tables, svg }) returns { controls, draw };
 * draw() writes the tables and returns the result in words, which is read out once the hand rests.
 */
export function figure(name, setup) {
  const box = document.querySelector(`figure[data-figure="${name}"]`);
  const svg = document.querySelector(`svg[data-figure="${name}"]`);
  const tables = Object.fromEntries([...box.querySelectorAll("table")].map((t) => [t.dataset.table, t]));
  const form = make("form", { autocomplete: "off" }); // a reload starts from the page's own numbers
  const { controls, draw } = setup({ form, tables, svg });
  const said = make("p", { role: "status" });
  const back = make("button", { type: "reset" }, "元に戻す");
  const panel = make("div", { class: "controls" }, ...controls.map((c) => c.element), back);
  form.append(...(svg ? [svg] : []), panel, said, ...box.children);
  box.append(form);

  let timer;
  const update = (wait) => {
    controls.forEach((control) => control.show());
    const words = draw();
    clearTimeout(timer);
    timer = setTimeout(() => { said.textContent = words; }, wait);
  };
  form.addEventListener("input", () => update(400));
  form.addEventListener("reset", () => setTimeout(update, 0, 400)); // the inputs change after the event
  form.addEventListener("submit", (event) => event.preventDefault()); // Enter in an input
  update(0);
  return form;
}
