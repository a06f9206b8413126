// Any query in any setting: what two or more chunkers returned, in reading order.
const PAGE = 200;
const unpack = async (holder) => {
  const bytes = Uint8Array.from(atob(holder.textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
};

const explore = (data) => {
  const read = new Map();
  const fileAt = (number) => {
    if (!read.has(number)) read.set(number, readFile(data.files[number]));
    return read.get(number);
  };
  const whole = new Map();
  data.files.forEach((file, number) => {
    if (file.of) whole.set(JSON.stringify([...file.of, file.path]), number);
  });
  const ui = Object.fromEntries(["setting", "a", "b", "c", "won", "repo", "language", "kind", "search", "count", "list", "more", "detail", "file"].map((n) => [n, byId("x-" + n)]));
  let setting = null;
  let queries = [];
  let shown = [];
  let limit = PAGE;
  let chosen = 0;

  const fill = (select, names, value) => {
    select.replaceChildren(...names.map(([key, text]) => {
      const option = el("option", "", text);
      option.value = String(key);
      return option;
    }));
    if (value !== undefined) select.value = String(value);
  };
  const fillFilter = (select, values) => {
    const known = [...new Set(values)].sort();
    fill(select, [["", "all"], ...known.map((one) => [one, one || "unknown"])], "");
    select.closest("label").hidden = known.length < 2;
  };
  const points = (value) => (value === null ? "–" : (value * setting.scale).toFixed(setting.digits).replace("-", "\u2212"));
  const signed = (value) => (value === null ? "–" : (value > 0 ? "+" : "") + points(value));
  const cells = () => [ui.a, ui.b, ui.c].filter((one) => one.value !== "").map((one) => setting.cells[Number(one.value)]);
  const pathOf = (chunk) => (chunk[0] < 0 ? chunk[5] : data.files[chunk[0]].path);

  const haystack = (q, k) => {
    const found = cells().flatMap((cell) => cell.hits[k].map((number) => pathOf(data.chunks[number])));
    return [q.id, q.text, q.repo, q.language, ...q.gold.map((g) => g[0]), ...found].join(" ").toLowerCase();
  };

  const select = () => {
    const [first, second] = cells();
    const words = ui.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const won = ui.won.value;
    shown = queries.map((q, k) => {
      const a = first.scores[k];
      const b = (second ?? first).scores[k];
      return { q, k, a, b, d: a === null || b === null ? null : a - b };
    }).filter((row) => {
      for (const part of ["repo", "language", "kind"]) if (ui[part].value && row.q[part] !== ui[part].value) return false;
      if (won === "a" && !(row.d > 0)) return false;
      if (won === "b" && !(row.d < 0)) return false;
      if (won === "same" && row.d !== 0) return false;
      if (won === "missed" && !(row.a === 0 && row.b === 0)) return false;
      if (!words.length) return true;
      const text = haystack(row.q, row.k);
      return words.every((word) => text.includes(word));
    });
    shown.sort((x, y) => Math.abs(y.d ?? 0) - Math.abs(x.d ?? 0) || x.k - y.k);
    limit = PAGE;
    chosen = 0;
    ui.count.textContent = shown.length + " of " + queries.length + " queries";
    drawList();
    drawDetail();
  };

  const drawList = () => {
    const rows = shown.slice(0, limit).map((row, place) => {
      const option = el("div");
      option.id = "x-option-" + place;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", String(place === chosen));
      option.append(el("span", "q", row.q.text), el("span", "d", signed(row.d)), el("span", "r", row.q.repo + " · " + row.q.id));
      option.addEventListener("click", () => choose(place));
      return option;
    });
    ui.more.hidden = shown.length <= limit;
    ui.more.textContent = "Show " + Math.min(PAGE, shown.length - limit) + " more";
    ui.list.replaceChildren(...rows);
    mark();
  };

  const mark = () => {
    if (shown.length) ui.list.setAttribute("aria-activedescendant", "x-option-" + chosen);
    else ui.list.removeAttribute("aria-activedescendant");
  };

  const choose = (place) => {
    if (place < 0 || place >= Math.min(shown.length, limit)) return;
    byId("x-option-" + chosen)?.setAttribute("aria-selected", "false");
    chosen = place;
    const option = byId("x-option-" + chosen);
    option.setAttribute("aria-selected", "true");
    const list = ui.list;
    if (option.offsetTop < list.scrollTop) list.scrollTop = option.offsetTop;
    const below = option.offsetTop + option.offsetHeight - list.clientHeight;
    if (below > list.scrollTop) list.scrollTop = below;
    mark();
    drawDetail();
    remember();
  };

  // report.html#query=ID&a=CHUNKER&b=CHUNKER opens the explorer at that query; summaries of nightly runs link so.
  const remember = () => {
    const row = shown[chosen];
    if (!row) return;
    const link = new URLSearchParams({ query: row.q.id });
    if (data.settings.length > 1) link.set("setting", setting.title);
    cells().forEach((cell, k) => link.set("abc"[k], cell.chunker));
    history.replaceState(null, "", "#" + link);
  };

  const view = (file, line) => {
    const cuts = data.cuts[setting.dataset] ?? {};
    const compared = cells().map((cell) => ({ chunker: cell.chunker, mark: cell.mark, steps: cuts[cell.chunker]?.[file] }));
    openFile(ui.file, fileAt(file), shown[chosen].q, compared, line);
  };

  const fileButton = (number, line, words) => {
    const button = el("button", "open", words);
    button.type = "button";
    button.addEventListener("click", () => view(number, line));
    return button;
  };

  const drawHit = (q, chunk, rank, before) => {
    const [number, first, count, missing, tokens] = chunk;
    const path = pathOf(chunk);
    const box = el("article", "hit");
    const head = el("div", "head");
    head.append(el("span", "", rank + ". " + path + ":" + first + "–" + (first + count + (number < 0 ? 0 : missing) - 1)));
    const side = el("span", "cost");
    if (before !== null && tokens !== null) side.append((before + tokens).toLocaleString("en") + " tokens ");
    if (number >= 0 && data.files[number].of) side.append(fileButton(number, first, "File"));
    head.append(side);
    box.append(head);
    if (before !== null && setting.budget && before >= setting.budget) box.classList.add("beyond");
    const code = el("pre", "code");
    code.tabIndex = 0;
    let firstGold = null;
    for (let k = 0; number >= 0 && k < count; k += 1) {
      const cut = (k === 0 ? chunk[5] : k === count - 1 ? chunk[6] : null) ?? null;
      const line = el("span", "l");
      const hidden = (chunk[7] ?? []).filter((part) => part[0] === k).map((part) => part.slice(1));
      const file = fileAt(number);
      drawText(line, cut ?? file.lines.get(first + k) ?? "", cut === null ? file.colours.get(first + k) ?? [] : [], hidden);
      line.dataset.n = String(first + k);
      if (isGold(q, path, first + k)) {
        line.classList.add("gold");
        line.title = "answers the query";
        firstGold ??= line;
      }
      code.append(line);
    }
    if (missing) code.append(el("span", "l cut", number < 0 ? "text not kept" : missing + " more lines"));
    if (firstGold) box.classList.add("has-gold");
    box.append(code);
    return { box, code, firstGold };
  };

  const drawSide = (cell, row, scrolls) => {
    const column = el("section", "side");
    const title = el("h3");
    title.append(el("span", "bar-name s" + cell.mark[1], String(cell.mark[0])), " " + cell.chunker + " ", el("span", "got", points(cell.scores[row.k])));
    column.append(title);
    const hits = cell.hits[row.k];
    if (!hits.length) column.append(el("p", "caption", "Nothing was returned."));
    let read = 0;
    let ended = false;
    hits.forEach((number, k) => {
      const chunk = data.chunks[number];
      if (read !== null && setting.budget && read >= setting.budget && !ended) {
        ended = true;
        column.append(el("p", "budget", "The budget of " + setting.budget.toLocaleString("en") + " tokens ends above."));
      }
      const drawn = drawHit(row.q, chunk, k + 1, read);
      read = read === null || chunk[4] === null ? null : read + chunk[4];
      column.append(drawn.box);
      if (drawn.firstGold) scrolls.push(drawn);
    });
    return column;
  };

  const drawDetail = () => {
    const row = shown[chosen];
    if (!row) {
      ui.detail.replaceChildren(el("p", "caption", "No query matches."));
      return;
    }
    const parts = [el("p", "question", row.q.text)];
    const where = el("p", "where", [row.q.repo, row.q.language, row.q.kind, row.q.id].filter(Boolean).join(" · ") + " · answer: ");
    row.q.gold.forEach((gold, k) => {
      const words = gold[0] + ":" + gold[1] + "–" + gold[2];
      const number = goldFile(row.q, gold);
      where.append(k ? ", " : "", number === undefined ? words : fileButton(number, gold[1], words));
    });
    if (!row.q.gold.length) where.append("none");
    parts.push(where);
    const sides = el("div", "sides");
    const scrolls = [];
    const compared = cells();
    if (compared.length > 2) sides.classList.add("three");
    sides.append(...compared.map((cell) => drawSide(cell, row, scrolls)));
    parts.push(sides);
    ui.detail.replaceChildren(...parts);
    for (const { code, firstGold } of scrolls) code.scrollTop = Math.max(0, firstGold.offsetTop - code.offsetTop - 40);
  };

  const goldFile = (q, gold) => whole.get(JSON.stringify([setting.dataset, q.repo, gold[0]]));

  const useSetting = () => {
    setting = data.settings[Number(ui.setting.value)];
    queries = data.queries[setting.dataset];
    const names = setting.cells.map((cell, k) => [k, cell.mark[0] + " " + cell.chunker]);
    fill(ui.a, names, 0);
    fill(ui.b, names, Math.min(1, names.length - 1));
    fill(ui.c, [["", "none"], ...names], "");
    ui.c.closest("label").hidden = names.length < 3;
    for (const part of ["repo", "language", "kind"]) fillFilter(ui[part], queries.map((q) => q[part]));
    select();
  };

  const usable = data.settings.map((one, k) => [k, one.title]).filter(([k]) => data.settings[k].cells.length);
  if (!usable.length) return;
  fill(ui.setting, usable, usable[0][0]);
  document.querySelector(".setting-choice").hidden = usable.length < 2;
  ui.setting.addEventListener("change", () => { useSetting(); remember(); });
  for (const control of [ui.a, ui.b, ui.c, ui.won, ui.repo, ui.language, ui.kind]) control.addEventListener("change", () => { select(); remember(); });
  ui.search.addEventListener("input", select);
  ui.more.addEventListener("click", () => {
    limit += PAGE;
    drawList();
  });
  ui.list.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10 };
    const last = Math.min(shown.length, limit) - 1;
    if (event.key in steps) choose(Math.max(0, Math.min(last, chosen + steps[event.key])));
    else if (event.key === "Home") choose(0);
    else if (event.key === "End") choose(last);
    else if (event.key === "f" && shown[chosen]) {
      const { q } = shown[chosen];
      const gold = q.gold.find((one) => goldFile(q, one) !== undefined);
      if (gold) view(goldFile(q, gold), gold[1]);
    } else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    event.preventDefault();
    ui.search.focus();
  });
  useSetting();

  const follow = () => {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const id = wanted.get("query");
    if (!id) return;
    const has = ([k]) => data.queries[data.settings[k].dataset].some((q) => q.id === id);
    const home = usable.find((one) => one[1] === wanted.get("setting") && has(one)) ?? usable.find(has);
    if (!home) {
      ui.count.textContent = "The query " + id + " of this link is not in this page.";
      byId("explorer").scrollIntoView();
      return;
    }
    ui.setting.value = String(home[0]);
    useSetting();
    ["a", "b", "c"].forEach((name) => {
      const place = setting.cells.findIndex((cell) => cell.chunker === wanted.get(name));
      if (place >= 0) ui[name].value = String(place);
    });
    if (ui.a.value === ui.b.value && setting.cells.length > 1) ui.b.value = ui.a.value === "0" ? "1" : "0";
    select();
    const place = shown.findIndex((row) => row.q.id === id);
    limit = Math.max(PAGE, Math.ceil((place + 1) / PAGE) * PAGE);
    drawList();
    choose(place);
    byId("explorer").scrollIntoView();
  };
  addEventListener("hashchange", follow);
  follow();
};

const holder = byId("x-data");
if (holder) {
  unpack(holder).then(explore, (error) => {
    byId("x-count").textContent = "The explorer's data could not be read: " + error;
  });
}
