// A whole file with the places where the chosen chunkers cut it.
const rangesOf = (steps) => {
  const ranges = [];
  let at = 0;
  for (let k = 0; k < steps.length; k += 2) {
    const first = at + steps[k];
    at = first + steps[k + 1];
    ranges.push([first, at]);
  }
  return ranges;
};

const gutter = (ranges, lines) => {
  // line → [chunk number, whether it begins here]; where chunks overlap the last one that began counts.
  const found = new Map();
  ranges.forEach(([first, last], k) => {
    for (let line = first; line <= Math.min(last, lines); line += 1) found.set(line, [k, line === first]);
  });
  return found;
};

const openFile = (dialog, file, query, chosen, wanted) => {
  const box = el("div", "file");
  const head = el("div", "head");
  const title = el("h3", "", (file.of ? file.of[1] + " " : "") + file.path);
  title.id = "x-file-title";
  const close = el("button", "", "Close");
  close.type = "button";
  close.addEventListener("click", () => dialog.close());
  head.append(title, close);
  const legend = el("p", "caption", "Bars change shade where a new chunk begins: ");
  for (const one of chosen) {
    legend.append(el("span", "bar-name s" + one.mark[1], one.mark[0] + " " + one.chunker + (one.steps ? "" : " (cuts not kept)")), " ");
  }
  const code = el("pre", "code whole");
  code.tabIndex = 0;
  const count = Math.max(0, ...file.lines.keys());
  const bars = chosen.map((one) => gutter(one.steps ? rangesOf(one.steps) : [], count));
  let target = null;
  for (let n = 1; n <= count; n += 1) {
    const line = el("span", "l");
    line.dataset.n = String(n);
    const edge = el("span", "bars");
    bars.forEach((bar, k) => {
      const held = bar.get(n);
      const piece = el("span", "s" + chosen[k].mark[1] + (held ? (held[0] % 2 ? " odd" : " even") + (held[1] ? " begins" : "") : ""));
      if (held) piece.title = chosen[k].chunker + ", chunk " + (held[0] + 1);
      edge.append(piece);
    });
    const text = el("span", "t");
    const hidden = (file.hidden ?? []).filter((part) => part[0] === n - 1).map((part) => part.slice(1));
    drawText(text, file.lines.get(n) ?? "", file.colours.get(n) ?? [], hidden);
    if (isGold(query, file.path, n)) {
      line.classList.add("gold");
      line.title = "answers the query";
    }
    if (n === wanted) target = line;
    line.append(edge, text);
    code.append(line);
  }
  box.append(head, legend, code);
  dialog.replaceChildren(box);
  dialog.showModal();
  if (target) code.scrollTop = Math.max(0, target.offsetTop - code.offsetTop - 80);
  code.focus();
};
