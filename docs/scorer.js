// The scores of Sphinx's search, with pages that answer a question before those that only contain its words.
const PLACES = [
  [/^howto\/questions$/, 14],
  [/^howto\/(faq|troubleshooting)$/, 8],
  [/^(howto\/|install|tutorial|bi|star)/, 3],
  [/^notebooks\//, -10],
  [/^(dictionary|numbers)\/|^(changelog|figures|scale)$/, -4],
];

var Scorer = {
  score: ([page, , , , score]) => score + (PLACES.find(([place]) => place.test(page)) ?? [null, 0])[1],
  objNameMatch: 15,
  objPartialMatch: 9,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
