// Python for one page, in a thread of its own: to stop it is to end the thread.
const LIMIT = 100_000; // letters of output a cell may print; an endless loop would fill the page

let runCell, namespace;
let printed = { text: "", size: 0, sent: 0 };

const send = (type, data = {}) => postMessage({ type, ...data });

function flush() {
  if (printed.text) send("print", { text: printed.text });
  printed.text = "";
  printed.sent = performance.now();
}

function printer() {
  const decoder = new TextDecoder();
  return (bytes) => {
    const text = decoder.decode(bytes, { stream: true }); // decoded also when dropped: a letter may be cut in two
    if (printed.size <= LIMIT) printed.text += text;
    if (printed.size <= LIMIT && printed.size + text.length > LIMIT) printed.text += "\n（長いので、続きは省きます）\n";
    printed.size += text.length;
    if (performance.now() - printed.sent > 50) flush();
    return bytes.length;
  };
}

// Each file is fetched with a count of its bytes, and again, from the browser's cache, with a check of them:
// a checked fetch shows nothing before its end. Pyodide's own fetch comes third: it compiles while it reads.
async function download(spec, base, cache) {
  const total = Object.values(spec.files).reduce((sum, [size]) => sum + size, 0);
  let got = 0;
  const read = async ([name, [, integrity]]) => {
    const url = new URL(name, base);
    const file = url.pathname.split("/").at(-1);
    const response = await fetch(url, { cache }).catch(() => null);
    if (!response?.ok) throw new Error(`${file}を読み込めませんでした。ネットワークにつながっていますか。`);
    const reader = response.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      got += part.value.length;
      send("progress", { got, total });
    }
    await fetch(url, { integrity, cache: "force-cache" }).catch(() => {
      throw new Error(`${file}の中身が、配られたものと違います。`);
    });
  };
  await Promise.all(Object.entries(spec.files).map(read));
}

async function boot({ runtime, cache }) {
  const spec = await (await fetch(runtime)).json();
  await download(spec, runtime, cache);
  const core = new URL(spec.core, runtime);
  const { loadPyodide } = await import(new URL("pyodide.mjs", core));
  const python = await loadPyodide({ indexURL: core.href });
  python.setStdout({ write: printer() });
  python.setStderr({ write: printer() });
  const [wheel, source] = await Promise.all([
    fetch(new URL(spec.wheel, runtime)).then((response) => response.arrayBuffer()),
    fetch(new URL("cell.py", import.meta.url)).then((response) => response.text()),
    python.loadPackage("numpy", { messageCallback: () => {} }),
  ]);
  python.unpackArchive(wheel, "wheel");
  const helper = python.toPy({ __name__: "cell" });
  python.runPython(source, { globals: helper });
  runCell = helper.get("run_cell");
  namespace = python.toPy({ __name__: "__main__" });
}

let booted;
onmessage = async ({ data }) => {
  try {
    await (booted ??= boot(data));
  } catch (error) {
    send("failed", { text: error.message });
    return;
  }
  send("begin");
  printed = { text: "", size: 0, sent: 0 };
  try {
    const result = runCell(data.code, namespace, data.name);
    flush();
    send("end", result.toJs({ dict_converter: Object.fromEntries }));
    result.destroy();
  } catch (error) {
    send("failed", { text: `このセルで、Pythonそのものが落ちました（${error.message}）。` });
  }
};
