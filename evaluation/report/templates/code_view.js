// Lines of code: coloured, with answers marked and hidden parts greyed. Places are counted in code points, as Python counts.
const LETTERS = { k: "keyword", s: "string", c: "comment", n: "number" };
const codePoints = (text) => (/[\ud800-\udfff]/.test(text) ? [...text] : text);
const joined = (points) => (typeof points === "string" ? points : points.join(""));

const readFile = (file) => {
  const lines = new Map();
  const colours = new Map();
  file.runs.forEach(([first, text], run) => {
    const rows = text.split("\n");
    rows.forEach((line, k) => lines.set(first + k, line));
    if (file.colours) colourRows(rows, first, file.colours[run], colours);
  });
  return { ...file, lines, colours };
};

const colourRows = (rows, first, packed, colours) => {
  let at = 0;
  let row = 0;
  let begin = 0;
  let size = rows.length ? codePoints(rows[0]).length : 0;
  for (const [, gap, length, letter] of packed.matchAll(/(\d*)\.(\d+)([a-z])/g)) {
    at += Number(gap);
    const end = at + Number(length);
    while (row < rows.length && at < end) {
      if (at >= begin + size + 1) {
        begin += size + 1;
        row += 1;
        size = row < rows.length ? codePoints(rows[row]).length : 0;
        continue;
      }
      const to = Math.min(end, begin + size);
      if (to > at) {
        if (!colours.has(first + row)) colours.set(first + row, []);
        colours.get(first + row).push([at - begin, to - begin, LETTERS[letter]]);
      }
      at = Math.min(end, begin + size + 1);
    }
    at = end;
  }
};

const drawText = (line, text, colours, hidden) => {
  if (!colours.length && !hidden.length) {
    line.append(text || " ");
    return;
  }
  const points = codePoints(text);
  const looks = new Array(points.length).fill("");
  for (const [from, to, name] of colours) looks.fill(name, from, to);
  for (const [from, to] of hidden) looks.fill("unindexed", from, to);
  let at = 0;
  while (at < looks.length) {
    let to = at + 1;
    while (to < looks.length && looks[to] === looks[at]) to += 1;
    const part = joined(points.slice(at, to));
    if (looks[at]) {
      const span = el("span", looks[at], part);
      if (looks[at] === "unindexed") span.title = "hidden from the index";
      line.append(span);
    } else line.append(part);
    at = to;
  }
  if (!looks.length) line.append(" ");
};

const isGold = (query, path, line) => query.gold.some((g) => g[0] === path && g[1] <= line && line <= g[2]);
