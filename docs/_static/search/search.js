// The search page: takes the query from the address or the field, and shows what find.js finds.
import { find } from "./find.js";

const SECTIONS = 3; // of a page
const [form, field, status, results, tips] = ["form", "query", "status", "results", "tips"].map((part) =>
  document.getElementById(`search-${part}`),
);

function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

const link = (address, title) => Object.assign(element("a", title), { href: address });

// A pattern of the words to mark, the longest first.
function patternOf(mark) {
  const words = mark.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`(${words.sort((a, b) => b.length - a.length).join("|")})`, "giu");
}

const after = (text, start) => (text.startsWith(start) ? text.slice(start.length) : "");

// Pagefind's extract: HTML of which only <mark>, &lt; and &gt; are markup, with a full stop after every heading and
// cell, and the section's title where it begins there. Shown as text, with our own marks.
function extract({ extract: html = "", title }, pattern) {
  let text = html.replace(/<\/?mark>/g, "").replaceAll("&lt;", "<").replaceAll("&gt;", ">");
  const cut = [...title].findIndex((_, i) => /^[.\s]/.test(after(text, title.slice(i))));
  if (cut >= 0) text = after(text, title.slice(cut)).replace(/^\./, "");
  text = text.replace(/([^\x00-\x7f])\.(?=\s|$)/g, "$1").replace(/^[、。\s]+/, "").trim();
  return element("p", ...`${text}…`.split(pattern).map((part, i) => (i % 2 ? element("mark", part) : part)));
}

function item(page, pattern) {
  const own = page.sections.find((section) => section.title === page.title);
  const sections = page.sections.filter((section) => section !== own).slice(0, SECTIONS);
  const listed = sections.map((section) => {
    const made = element("li", link(`${page.address}#${section.anchor}`, section.title));
    if (section.extract) made.append(extract(section, pattern));
    return made;
  });
  const made = element("li", element("h2", link(page.address, page.title)));
  if (own?.extract) made.append(extract(own, pattern));
  if (listed.length) made.append(element("ul", ...listed));
  return made;
}

function summary(query, terms, pages) {
  const asked = `「${[query, ...terms].join("」か「")}」`;
  const having = pages.filter((page) => page.rank >= 1 || page.whole).length;
  if (!pages.length) return `「${query}」は見つかりませんでした。`;
  if (!having) return `${asked}を全部含むページはありません。一部を含む${pages.length}ページを、近い順に並べます。`;
  const rest = pages.length - having;
  return `${asked}を含む${having}ページ${rest ? `と、一部を含む${rest}ページ` : ""}を、近い順に並べます。`;
}

function show(said, items = []) {
  status.textContent = said;
  results.replaceChildren(...items);
  tips.hidden = items.length > 0;
}

let turn = 0;
async function search() {
  const mine = ++turn;
  const query = field.value.trim();
  history.replaceState(null, "", query ? `?q=${encodeURIComponent(query)}` : location.pathname);
  if (!query) {
    show("");
    return;
  }
  status.textContent = "探しています…";
  try {
    const { pages, terms, mark } = await find(query);
    if (mine === turn) show(summary(query, terms, pages), pages.map((page) => item(page, patternOf(mark)))); // else typed on
  } catch (error) {
    console.error(error);
    if (mine === turn) show("検索の索引を読めませんでした。通信を確かめて、もう一度「検索」を押してください。");
  }
}

let timer;
function soon() {
  clearTimeout(timer);
  timer = setTimeout(search, 250);
}

// What an input method still composes is not yet what the reader means.
field.addEventListener("input", (event) => event.isComposing || soon());
field.addEventListener("compositionend", soon);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  search();
});

for (const waiting of [status, tips]) waiting.classList.remove("late");
form.hidden = false;
field.value = new URLSearchParams(location.search).get("q") ?? "";
search();
