// Gives each cell that runs in the page its buttons. Python itself is loaded at the first press, by worker.mjs.
const script = document.querySelector("script[data-runtime]");
const runtime = new URL(script.dataset.runtime, document.baseURI).href;
const BUILT_ONLY = {
  torch: "PyTorchを使う",
  plot: "図を描く",
  build: "ビルドした機械を調べる",
  ipython: "IPythonの書き方を使う",
};

let worker = null; // ends when the reader stops a cell; the next run makes another
let listener = null; // of the cell that runs
let cache = "default";
let queue = Promise.resolve();
let loaded = false; // Python is here: a press loads nothing more

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// What the reader wrote survives a reload: phones drop pages that are not looked at. Some browsers refuse to keep.
const kept = {
  key: (cell) => `run:${location.pathname}:${cell.source}`, // a cell that changed is another cell
  get(cell) {
    try {
      return localStorage.getItem(kept.key(cell));
    } catch {
      return null;
    }
  },
  set(cell, code) {
    try {
      if (code === cell.source) localStorage.removeItem(kept.key(cell));
      else localStorage.setItem(kept.key(cell), code);
    } catch {}
  },
};

const textOf = (root) => [...root.querySelectorAll("pre")].map((pre) => pre.textContent).join("");
const lines = (text) => text.split("\n").map((line) => line.trimEnd()).join("\n").trim();

class Cell {
  constructor(root, number) {
    this.root = root;
    this.name = `セル${number}`;
    this.input = root.querySelector(".cell_input");
    this.source = this.input.querySelector("pre").textContent.replace(/\n$/, "");
    this.built = root.querySelector(".cell_output");
    this.mayFail = root.classList.contains("tag_raises-exception");
    this.done = false; // run in this worker, with the code that stands there now
    this.runButton = make("button", { type: "button", onclick: () => (this.running ? this.stop() : this.run()) });
    this.editButton = make("button", { type: "button", onclick: () => this.edit() });
    this.resetButton = make("button", { type: "button", onclick: () => this.reset(), hidden: true });
    this.label(this.editButton, "編集");
    this.label(this.resetButton, "元に戻す");
    this.rest();
    this.size = make("span", { className: "run-size" });
    this.bar = make("progress", { hidden: true, max: 1, "aria-label": "Pythonの読み込み" });
    this.status = make("span", { className: "run-status", role: "status" });
    this.tools = make("div", { className: "run-tools", role: "group", "aria-label": `${this.name}の操作` });
    this.tools.append(this.runButton, this.editButton, this.resetButton, this.size, this.bar, this.status);
    this.input.after(this.tools);
    const code = kept.get(this);
    if (code !== null) this.open(code);
  }

  label(button, text) {
    button.textContent = text;
    button.setAttribute("aria-label", `${text}：${this.name}`);
  }

  /** The button of a cell that waits says how much its press would load. */
  rest() {
    this.running = false;
    this.label(this.runButton, loaded ? "実行" : `実行（初回は約${script.dataset.megabytes} MB）`);
  }

  get code() {
    return this.editor ? this.editor.value : this.source;
  }

  edit() {
    this.open(this.source);
    this.editor.focus();
  }

  open(code) {
    const keys = make("p", { className: "run-keys", id: `keys-${this.name}` }, "Shift+Enterで実行し、Escで編集を離れます。");
    this.editor = make("textarea", {
      className: "run-editor",
      value: code,
      spellcheck: false,
      autocapitalize: "off",
      autocomplete: "off",
      wrap: "off",
      "aria-label": `${this.name}のコード`,
      "aria-describedby": keys.id,
    });
    this.editor.setAttribute("autocorrect", "off"); // Safari's own
    this.editor.addEventListener("input", () => this.changed());
    this.editor.addEventListener("keydown", (event) => this.key(event));
    this.input.hidden = this.editButton.hidden = true;
    this.input.after(this.editor, keys);
    this.resetButton.hidden = false;
    this.changed();
  }

  changed() {
    this.done = false;
    this.editor.rows = this.code.split("\n").length;
    kept.set(this, this.code);
  }

  key(event) {
    if (event.isComposing) return; // an input method takes Enter and Esc for itself
    if (event.key === "Escape") this.runButton.focus();
    if (event.key !== "Enter") return;
    if (event.shiftKey || event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.run();
    } else {
      const line = this.code.slice(0, this.editor.selectionStart).split("\n").at(-1);
      const indent = line.match(/^ */)[0] + (line.trimEnd().endsWith(":") ? "    " : "");
      event.preventDefault();
      document.execCommand("insertText", false, `\n${indent}`); // deprecated, and the only way that keeps undo
    }
  }

  reset() {
    if (this.running) this.stop();
    kept.set(this, this.source);
    this.editor?.nextElementSibling.remove();
    this.editor?.remove();
    this.editor = null;
    this.input.hidden = this.editButton.hidden = false;
    this.done = false;
    this.show(null);
    this.say("");
    this.resetButton.hidden = true;
    this.editButton.focus();
  }

  say(text) {
    this.status.textContent = text;
  }

  /** Put this browser's output where the built one stands, and fold that one below; null takes it away again. */
  show(live) {
    this.live?.remove();
    this.fold?.replaceWith(this.built);
    this.live = live;
    this.fold = null;
    if (!live) return;
    if (this.built) {
      this.fold = make("details", { className: "run-built" }, make("summary", { textContent: "ビルド時の出力" }));
      this.built.replaceWith(this.fold);
      this.fold.append(this.built);
    }
    this.tools.after(live);
  }

  run() {
    queue = queue.then(async () => {
      for (const cell of cells.slice(0, cells.indexOf(this)).filter((cell) => !cell.done)) {
        this.say(`先に${cell.name}を実行しています。`);
        if (!(await cell.execute(this))) return this.say(`${cell.name}が終わらなかったので、ここで止めました。`);
      }
      await this.execute(this);
    });
    return queue;
  }

  stop() {
    worker.terminate();
    worker = null;
    for (const cell of cells) cell.done = false;
    listener({ type: "stopped" });
  }

  /** Run this cell; `asked` is the one whose button was pressed: it shows the progress, and its button stops. */
  execute(asked) {
    return new Promise((resolve) => {
      const caption = make("p", { className: "run-caption", textContent: "このブラウザーの出力" });
      const output = make("pre");
      const live = make("div", { className: "run-live" }, caption);
      const finish = (done, text) => {
        asked.rest();
        asked.bar.hidden = true;
        asked.size.textContent = "";
        listener = null;
        this.resetButton.hidden = false;
        this.say(text);
        resolve(done);
      };
      asked.running = true;
      asked.label(asked.runButton, "停止");
      listener = (message) => this.hear(message, { asked, live, output, caption, finish });
      if (!worker) {
        worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });
        worker.onmessage = ({ data }) => listener?.(data);
        worker.onerror = () => listener?.({ type: "failed", text: "worker.mjsを読み込めませんでした。" });
        asked.say("Pythonを読み込んでいます。");
      }
      worker.postMessage({ code: this.code, name: `<${this.name}>`, runtime, cache });
    });
  }

  hear(message, { asked, live, output, caption, finish }) {
    const print = (text) => {
      if (!live.isConnected) this.show(live);
      if (!output.isConnected) live.append(output);
      output.textContent += text;
    };
    if (message.type === "progress") {
      const mega = (bytes) => (bytes / 1e6).toFixed(1);
      asked.bar.hidden = false;
      asked.bar.value = message.got / message.total;
      asked.size.textContent = `${mega(message.got)}／${mega(message.total)} MB（展開後）`;
    } else if (message.type === "begin") {
      asked.bar.hidden = true;
      asked.size.textContent = "";
      if (!loaded) {
        loaded = true;
        for (const cell of cells) if (!cell.running) cell.rest();
      }
      if (asked === this) this.say("実行しています。");
    } else if (message.type === "print") {
      print(message.text);
    } else if (message.type === "end") {
      this.done = message.error === undefined || this.mayFail;
      if (message.shown !== undefined) print(message.shown);
      if (message.error !== undefined) {
        print(message.error);
        live.classList.add("run-error");
        for (const text of [message.hint, message.where]) if (text) live.append(make("p", { textContent: text }));
      }
      if (!live.isConnected && this.built) {
        this.show(live);
        caption.textContent = "このブラウザーの出力：ありません";
      }
      const same = lines(output.textContent) === (this.built ? lines(textOf(this.built)) : "");
      if (same) caption.textContent = "このブラウザーの出力：ビルド時と同じです";
      if (same && this.fold) this.fold.hidden = true;
      finish(this.done, message.error !== undefined && !same ? "エラーで止まりました。" : "実行しました。");
    } else if (message.type === "failed") {
      worker?.terminate();
      worker = null;
      cache = "reload"; // what the browser kept may be the broken file
      finish(false, `Pythonを準備できませんでした。${message.text}もう一度「実行」を押すと、読み直します。`);
    } else if (message.type === "stopped") {
      finish(false, "止めました。次に実行すると、Pythonを読み直し、前のセルから実行します。");
    }
  }
}

const cells = [...document.querySelectorAll("div.cell.runs-here")].map((root, index) => new Cell(root, index + 1));
for (const [why, text] of Object.entries(BUILT_ONLY))
  for (const root of document.querySelectorAll(`div.cell.needs-${why}`))
    root.querySelector(".cell_input").after(make("p", { className: "run-note" }, `${text}セルです（ビルド時に実行しました）`));
