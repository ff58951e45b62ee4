// What a query finds. Titles are compared letter by letter; Pagefind finds the text.
// Pagefind and the browser cut Japanese in different places, so a query is looked for piece by piece.

const home = new URL("../../pagefind/", import.meta.url);
const cutter = new Intl.Segmenter("ja", { granularity: "word" });
const READ = 10; // pages whose text is fetched, for what is shown of it

// Full-width, half-width, capital and small letters are the same; spaces and signs are none.
const fold = (text) => text.normalize("NFKC").toLowerCase();
const letters = (text) => fold(text).replace(/[^\p{L}\p{N}]/gu, "");

// The words of a text. The browser would cut one in katakana: エン|コーディング.
const cut = (text) => [...cutter.segment(text)].filter((part) => part.isWordLike).map((part) => part.segment);
const wordsOf = (text) =>
  text
    .match(/[\p{sc=Katakana}ー]+|[^\p{sc=Katakana}ー]+/gu)
    .flatMap((run) => (/^\p{sc=Katakana}/u.test(run) ? run : cut(run)));

// A query as it is compared: the words as typed, and the pieces they consist of.
function read(query) {
  const typed = fold(query)
    .split(/[\s、。,・]+/)
    .map((word) => word.replace(/とは$/, ""))
    .filter(letters);
  const all = [...new Set(typed.flatMap((word) => wordsOf(word.replaceAll("_", " "))))];
  const telling = all.filter((piece) => !/^[ぁ-ん]+$/.test(piece)); // not particles
  return { typed, words: typed.map(letters), pieces: telling.length ? telling : all };
}

let loading;
async function load() {
  const pagefind = await import(new URL("pagefind.js", home));
  await pagefind.options({ excerptLength: 40 });
  const titles = await fetch(new URL("titles.json", home), { cache: "no-cache" }); // it belongs to the index
  return [pagefind, await titles.json()];
}

// How well a title answers. 3: names the term or function; 2: is the query; 1: has all its words; below 1: some.
function rate({ words, pieces }, title, names = []) {
  const whole = words.join("");
  const own = letters(title);
  if (names.some((name) => letters(name) === whole)) return 3;
  if (own === whole) return 2;
  if (words.every((word) => own.includes(word))) return 1;
  return pieces.filter((piece) => own.includes(letters(piece))).length / pieces.length / 2;
}

// The pages that a query finds, the best first, each with its best sections;
// the terms that it is another name of; and the words to mark.
export async function find(text) {
  const query = read(text);
  if (!query.words.length) return { pages: [], terms: [], mark: [] };
  loading ??= load().catch((error) => {
    loading = undefined; // the next search tries again
    throw error;
  });
  const [pagefind, titles] = await loading;

  // A reading or a name in English also finds the pages that use the term itself.
  const named = titles.flatMap(([, , , titled]) => titled).filter(([, ...title]) => rate(query, ...title) === 3);
  const terms = [...new Set(named.map(([, , [term]]) => term))].filter((term) => rate(query, term) !== 2);
  const queries = [query, ...terms.map(read)];
  const best = (...title) => Math.max(...queries.map((one) => rate(one, ...title)));

  const pages = new Map();
  for (const [id, address, title, titled] of titles) {
    const sections = titled.map(([anchor, ...own]) => ({ anchor, title: own[0], rank: best(...own), score: 0 }));
    const rank = Math.max(best(title), ...sections.map((section) => section.rank));
    pages.set(id, { address, title, rank, score: 0, hits: [], sections: sections.filter((one) => one.rank >= 1) });
  }
  const pieces = [...new Set(queries.flatMap((one) => one.pieces))];
  for (const piece of pieces) {
    for (const hit of (await pagefind.search(piece)).results) {
      const page = pages.get(hit.id);
      page.hits.push({ piece, hit });
      page.score += hit.score;
    }
  }

  const order = (a, b) => Math.floor(b.rank) - Math.floor(a.rank) || b.whole - a.whole || b.score - a.score;
  const found = [...pages.values()].filter((page) => page.rank >= 1 || page.hits.length).sort(order);
  const first = found.slice(0, READ);
  await Promise.all(first.map((page) => fill(page, queries)));
  const sure = [...first.sort(order), ...found.slice(READ)].filter(
    (page, place) => page.rank >= 1 || (place < READ && page.score),
  );
  const telling = pieces.filter((piece) => !/^[a-z\d]$/.test(piece));
  return { pages: sure, terms, mark: [...queries.flatMap((one) => one.typed), ...telling] };
}

// Fetch the page's text, and add the sections and extracts where the pieces stand.
async function fill(page, queries) {
  const texts = await Promise.all(page.hits.map(({ hit }) => hit.data()));
  const text = letters(texts[0]?.content ?? "");
  page.whole = queries.some(({ words }) => words.every((word) => text.includes(word)));

  const sections = new Map(page.sections.map((section) => [section.anchor, section]));
  page.score = 0;
  for (const [i, { piece, hit }] of page.hits.entries()) {
    const has = (own) => own.includes(letters(piece)); // Pagefind takes other words where it does not know the piece
    if (!has(text)) continue;
    page.score += hit.score * (1 + page.rank);
    for (const { url, title, excerpt, weighted_locations: places } of texts[i].sub_results) {
      if (!has(letters(excerpt.replace(/<\/?mark>/g, "")))) continue;
      const anchor = decodeURIComponent(url.split("#")[1] ?? "");
      const section = sections.get(anchor) ?? { anchor, title, rank: 0, score: 0 };
      const score = places.reduce((sum, place) => sum + place.balanced_score, 0);
      if (score > (section.best ?? 0)) Object.assign(section, { best: score, extract: excerpt });
      section.score += score;
      sections.set(anchor, section);
    }
  }
  page.sections = [...sections.values()].sort((a, b) => b.rank - a.rank || b.score - a.score);
}
