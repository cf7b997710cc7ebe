// Fuzzy search: the letters of the query in order; runs and starts of words count more. A lower score is better, as in pi.

export function fuzzyMatch(query, text) {
  const [wanted, where] = [query.toLowerCase(), text.toLowerCase()];
  if (!wanted) return { matches: true, score: 0 };
  let score = 0;
  let last = -1;
  for (const letter of wanted) {
    const at = where.indexOf(letter, last + 1);
    if (at < 0) return { matches: false, score: 0 };
    const isRun = at === last + 1 && last >= 0;
    const isStart = at === 0 || /[\s\-_./:]/.test(where[at - 1]);
    score += at * 0.1 + (isRun ? -5 : last >= 0 ? (at - last - 1) * 2 : 0) + (isStart ? -10 : 0);
    last = at;
  }
  return { matches: true, score: wanted === where ? score - 100 : score };
}

/** Items in which every word of the query is found, best first. */
export function fuzzyFilter(items, query, getText) {
  const words = query.trim().split(/[\s/]+/).filter(Boolean);
  if (!words.length) return items;
  const scored = items.flatMap((item) => {
    const found = words.map((word) => fuzzyMatch(word, getText(item)));
    return found.every(({ matches }) => matches) ? [{ item, score: found.reduce((sum, { score }) => sum + score, 0) }] : [];
  });
  return scored.sort((a, b) => a.score - b.score).map(({ item }) => item);
}
