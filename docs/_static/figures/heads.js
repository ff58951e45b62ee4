// Who is "he"? The heads of trained models over a sentence that the reader chooses, and what happens without one.

import { attention, choice, dot, figure, largest, make, matmul, text, transpose, write } from "./base.js";

const add = (a, b) => a.map((row, i) => row.map((x, j) => x + b[i][j]));

/** Read one sentence, as attention_book.explorer.trace does. */
export function trace(model, first, second, verb, cut = []) {
  const words = [first, second, verb].reduce((text, word) => text.replace("{}", word), model.template).split(" ");
  const he = words.indexOf("he");
  const [a, b] = [first, second].map((name) => model.names.indexOf(name));
  const read = model.read.map((row) => row[a] - row[b]);
  const dim = model.read.length, size = dim / model.num_heads;
  let h = add(words.map((word) => model.token[model.words.indexOf(word)]), model.place);
  const weights = [], contributions = [];
  for (const layer of [model.layer1, model.layer2].filter(Boolean)) {
    let next = h;
    for (let n = 0; n < model.num_heads; n++) {
      const [from, to] = [n * size, (n + 1) * size];
      const [Q, K, V] = [0, 1, 2].map((part) =>
        matmul(h, transpose(layer.in_proj_weight.slice(part * dim + from, part * dim + to))),
      );
      const given = matmul(V, transpose(layer["out_proj.weight"].map((row) => row.slice(from, to))));
      const w = attention(Q, K, V).weights;
      const alive = !cut.includes(weights.length);
      weights.push(w);
      contributions.push(w[he].map((x, j) => (alive ? x * dot(given[j], read) : 0)));
      if (alive) next = add(next, matmul(w, given));
    }
    h = next;
  }
  return { words, he, weights, contributions, points: matmul([h[he]], model.read)[0] };
}

// Controls that no other figure needs

/** The sentence itself, with a list for each {} of its template. */
function blanks(template, labels, lists, starts) {
  const option = (word, start) => make("option", word === start ? { selected: "" } : {}, word);
  const selects = lists.map((words, n) =>
    make("select", { "aria-label": labels[n] }, ...words.map((word) => option(word, starts[n]))),
  );
  const element = make("p", { class: "sentence" });
  template.split("{}").forEach((text, n) => element.append(text, ...selects.slice(n, n + 1)));
  return { element, selects, value: () => selects.map((select) => select.value) };
}

function switches(legend, labels) {
  const inputs = labels.map(() => make("input", { type: "checkbox" }));
  const pairs = labels.map((label, n) => make("label", {}, inputs[n], label));
  const element = make("fieldset", { class: "choice" }, make("legend", {}, legend), ...pairs);
  return { element, on: (n) => inputs[n].checked };
}

const columns = (table) => [...table.tHead.rows[0].cells].slice(1);
const rows = (table) => [...table.tBodies[0].rows].map((row) => row.cells[0]);
const texts = (cells) => cells.map((cell) => cell.textContent);
const rename = (cells, words) => cells.forEach((cell, i) => { cell.textContent = words[i]; });

/** Bring the figure to life; `files` are its models, in the order of its tables. */
export async function explore(id, files) {
  const models = await Promise.all(
    files.map(async (file) => (await fetch(new URL(`../${file}.json`, import.meta.url))).json()),
  );
  const { template, names, verbs } = models[0];

  figure(id, ({ tables }) => {
    const labels = texts(rows(tables.points)), heads = texts(rows(tables.pointer)); // of the models, of their heads
    const kind = tables.weights.caption.textContent.slice(heads.at(-1).length); // after the name of the head
    const people = columns(tables.points).slice(0, 2);
    const starts = [...texts(people), texts(columns(tables.pointer)).find((word) => verbs.includes(word))];
    const sentence = blanks(template, ["1人目", "2人目", "動詞"], [names, names, verbs], starts);
    const cut = switches("切るヘッド", heads);
    const seen = choice("重みを全部見るヘッド", { ...heads }, String(heads.length - 1));

    function draw() {
      const [a, b, verb] = sentence.value();
      [[0, b], [1, a]].forEach(([n, taken]) => { // two different people
        for (const option of sentence.selects[n].options) option.disabled = option.value === taken;
      });
      const gone = heads.flatMap((_, n) => (cut.on(n) ? [n] : []));
      let n = 0; // heads of the models before
      const found = models.map((model) => {
        const result = trace(model, a, b, verb, gone.map((head) => head - n));
        n += result.weights.length;
        return result;
      });
      const { words, he } = found[0];
      const weights = found.flatMap((f) => f.weights);
      const chosen = Number(seen.value());

      for (const table of [tables.pointer, tables.contributions, tables.weights]) rename(columns(table), words);
      for (const table of [tables.pointer, tables.contributions]) {
        rows(table).forEach((cell, head) => cell.classList.toggle("cut", gone.includes(head)));
      }
      rename(rows(tables.weights), words);
      rename(people, [a, b]);
      tables.weights.caption.textContent = heads[chosen] + kind;
      write(tables.pointer, weights.map((w) => w[he]));
      write(tables.contributions, found.flatMap((f) => f.contributions));
      write(tables.weights, weights[chosen]);
      write(tables.points, found.map(({ points }) => {
        const others = points.filter((_, i) => names[i] !== a && names[i] !== b);
        return [points[names.indexOf(a)], points[names.indexOf(b)], Math.max(...others)];
      }));

      const answer = verbs.indexOf(verb) < verbs.length / 2 ? a : b;
      const said = found.map(({ points }, i) => {
        const guess = names[points.indexOf(Math.max(...points))];
        return `${labels[i]}は${guess}と答えて${guess === answer ? "正解" : "不正解"}`;
      });
      const pointer = weights[chosen][he];
      const most = `${largest(pointer, words)}（重み${text(Math.max(...pointer), 2)}）`;
      const without = gone.length ? `${gone.map((head) => heads[head]).join("と")}を切りました。` : "";
      const answers = `正しい答えは${answer}で、${said.join("、")}です。`;
      return `${without}${answers}${heads[chosen]}で、heがいちばん強く見ているのは${most}です。`;
    }
    return { controls: [sentence, cut, seen], draw };
  });
}
