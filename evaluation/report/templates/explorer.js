"use strict";
(() => {
  // Every text of the data reaches the page through textContent or dataset, never as markup.
  const PAGE = 200;
  const byId = (id) => document.getElementById(id);
  const el = (name, className, text) => {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };

  const root = document.documentElement;
  const theme = byId("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const showTheme = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-pressed", String(isDark()));
  };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  showTheme();

  const holder = byId("x-data");
  if (!holder) return;

  const unpack = async () => {
    const bytes = Uint8Array.from(atob(holder.textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };

  const start = (data) => {
    const files = data.files.map((file) => {
      const lines = new Map();
      for (const [first, text] of file.runs) text.split("\n").forEach((line, k) => lines.set(first + k, line));
      return { path: file.path, lines };
    });
    const ui = Object.fromEntries(["setting", "left", "right", "filter", "repo", "search", "count", "list", "more", "detail"].map((n) => [n, byId("x-" + n)]));
    let setting = null;
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
    const points = (value) => (value === null ? "–" : (value * setting.scale).toFixed(setting.digits).replace("-", "\u2212"));
    const signed = (value) => (value === null ? "–" : (value > 0 ? "+" : "") + points(value));
    const cells = () => [setting.cells[Number(ui.left.value)], setting.cells[Number(ui.right.value)]];

    const haystack = (q, k) => {
      const paths = q.gold.map((g) => g[0]).join(" ");
      const found = cells().flatMap((cell) => cell.hits[k].map((hit) => (hit[0] < 0 ? hit[5] : files[hit[0]].path)));
      return (q.id + " " + q.text + " " + q.repo + " " + q.language + " " + paths + " " + found.join(" ")).toLowerCase();
    };

    const select = () => {
      const [left, right] = cells();
      const words = ui.search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const kind = ui.filter.value;
      shown = setting.queries.map((q, k) => {
        const a = left.scores[k];
        const b = right.scores[k];
        return { q, k, a, b, d: a === null || b === null ? null : a - b };
      }).filter((row) => {
        if (ui.repo.value && row.q.repo !== ui.repo.value) return false;
        if (kind === "left" && !(row.d > 0)) return false;
        if (kind === "right" && !(row.d < 0)) return false;
        if (kind === "same" && row.d !== 0) return false;
        if (kind === "missed" && !(row.a === 0 && row.b === 0)) return false;
        if (!words.length) return true;
        const text = haystack(row.q, row.k);
        return words.every((word) => text.includes(word));
      });
      shown.sort((x, y) => Math.abs(y.d ?? 0) - Math.abs(x.d ?? 0) || x.k - y.k);
      limit = PAGE;
      chosen = 0;
      ui.count.textContent = shown.length + " of " + setting.queries.length + " queries";
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
    };

    const isGold = (q, path, line) => q.gold.some((g) => g[0] === path && g[1] <= line && line <= g[2]);

    // Hidden parts are counted in code points, as Python counts characters.
    const drawLine = (line, text, parts) => {
      const points = parts.length ? [...text] : [];
      let at = 0;
      for (const [, from, to] of parts) {
        if (from > at) line.append(points.slice(at, from).join(""));
        const part = el("span", "unindexed", points.slice(from, to).join(""));
        part.title = "hidden from the index";
        line.append(part);
        at = to;
      }
      line.append(parts.length ? points.slice(at).join("") : text);
    };

    const drawHit = (q, hit, rank) => {
      const [number, first, count, hidden, score] = hit;
      const path = number < 0 ? hit[5] : files[number].path;
      const box = el("article", "hit");
      const head = el("div", "head");
      head.append(el("span", "", rank + ". " + path + ":" + first + "–" + (first + count + (number < 0 ? 0 : hidden) - 1)), el("span", "", score === null ? "" : score.toFixed(3)));
      box.append(head);
      const code = el("pre", "code");
      code.tabIndex = 0;
      let firstGold = null;
      for (let k = 0; number >= 0 && k < count; k += 1) {
        const cut = k === 0 ? hit[5] : k === count - 1 ? hit[6] : null;
        const line = el("span", "l");
        drawLine(line, (cut ?? files[number].lines.get(first + k)) || " ", (hit[7] ?? []).filter((part) => part[0] === k));
        line.dataset.n = String(first + k);
        if (isGold(q, path, first + k)) {
          line.classList.add("gold");
          line.title = "answers the query";
          firstGold ??= line;
        }
        code.append(line);
      }
      if (hidden) code.append(el("span", "l cut", number < 0 ? "text not kept" : hidden + " more lines"));
      if (firstGold) box.classList.add("has-gold");
      box.append(code);
      return { box, code, firstGold };
    };

    const drawDetail = () => {
      const row = shown[chosen];
      if (!row) {
        ui.detail.replaceChildren(el("p", "caption", "No query matches."));
        return;
      }
      const parts = [el("p", "question", row.q.text)];
      const gold = row.q.gold.map((g) => g[0] + ":" + g[1] + "–" + g[2]).join(", ");
      parts.push(el("p", "where", [row.q.repo, row.q.language, row.q.kind, row.q.id, "answer: " + (gold || "none")].filter(Boolean).join(" · ")));
      const sides = el("div", "sides");
      const scrolls = [];
      cells().forEach((cell, side) => {
        const column = el("section", "side");
        const title = el("h3");
        title.append(el("span", "", cell.chunker + " "), el("span", "got", points(side ? row.b : row.a)));
        column.append(title);
        if (!cell.hits[row.k].length) column.append(el("p", "caption", "Nothing was returned."));
        cell.hits[row.k].forEach((hit, k) => {
          const drawn = drawHit(row.q, hit, k + 1);
          column.append(drawn.box);
          if (drawn.firstGold) scrolls.push(drawn);
        });
        sides.append(column);
      });
      parts.push(sides);
      ui.detail.replaceChildren(...parts);
      for (const { code, firstGold } of scrolls) code.scrollTop = Math.max(0, firstGold.offsetTop - code.offsetTop - 40);
    };

    const useSetting = () => {
      setting = data.settings[Number(ui.setting.value)];
      const names = setting.cells.map((cell, k) => [k, (k + 1) + " " + cell.chunker]);
      fill(ui.left, names, 0);
      fill(ui.right, names, Math.min(1, names.length - 1));
      const repos = [...new Set(setting.queries.map((q) => q.repo))].sort();
      fill(ui.repo, [["", "all"], ...repos.map((repo) => [repo, repo])], "");
      select();
    };

    const usable = data.settings.map((one, k) => [k, one.title]).filter(([k]) => data.settings[k].cells.length);
    if (!usable.length) return;
    fill(ui.setting, usable, usable[0][0]);
    document.querySelector(".setting-choice").hidden = usable.length < 2;
    ui.setting.addEventListener("change", useSetting);
    for (const control of [ui.left, ui.right, ui.filter, ui.repo]) control.addEventListener("change", select);
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
      else return;
      event.preventDefault();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
      event.preventDefault();
      ui.search.focus();
    });
    useSetting();

    // report.html#query=ID&left=CHUNKER opens the explorer at that query; summaries of nightly runs link so.
    const follow = () => {
      const wanted = new URLSearchParams(location.hash.slice(1));
      const id = wanted.get("query");
      if (!id) return;
      const home = usable.find(([k]) => data.settings[k].queries.some((q) => q.id === id));
      if (home && ui.setting.value !== String(home[0])) {
        ui.setting.value = String(home[0]);
        useSetting();
      }
      const left = setting.cells.findIndex((cell) => cell.chunker === wanted.get("left"));
      if (left >= 0) {
        ui.left.value = String(left);
        if (ui.right.value === ui.left.value) ui.right.value = String(left ? 0 : Math.min(1, setting.cells.length - 1));
      }
      ui.search.value = id;
      select();
      byId("explorer").scrollIntoView();
    };
    addEventListener("hashchange", follow);
    follow();
  };

  unpack().then(start, (error) => {
    byId("x-count").textContent = "The explorer's data could not be read: " + error;
  });
})();
