// Sorting by any column, the overview's filters, and every table and figure as a file.
const shownText = (cell) => cell.textContent.replace(/[★●]/g, "").trim();
const numberOf = (text) => {
  const found = text.replace(/\u2212/g, "-").replace(/,/g, "").match(/^[+-]?\d+(\.\d+)?/);
  return found ? Number(found[0]) : null;
};
const sortBy = (table, column, heading) => {
  const numeric = [...table.tBodies[0].rows].some((row) => numberOf(shownText(row.cells[column])) !== null && column > 0);
  const now = heading.getAttribute("aria-sort");
  const upwards = now ? now === "descending" : !numeric;
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", upwards ? "ascending" : "descending");
  const rows = [...table.tBodies[0].rows].map((row, place) => {
    const text = shownText(row.cells[column]);
    return { row, place, text, value: numeric ? numberOf(text) : null };
  });
  const sign = upwards ? 1 : -1;
  rows.sort((x, y) => {
    if (!numeric) return sign * x.text.localeCompare(y.text, "en", { numeric: true }) || x.place - y.place;
    if (x.value === null || y.value === null) return (x.value === null) - (y.value === null) || x.place - y.place;
    return sign * (x.value - y.value) || x.place - y.place;
  });
  table.tBodies[0].append(...rows.map((one) => one.row));
};
for (const table of document.querySelectorAll("table.sortable")) {
  if (table.tBodies[0].rows.length < 2) continue;
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = el("button", "sort");
    button.type = "button";
    button.setAttribute("aria-label", "sort by " + heading.textContent.trim());
    heading.append(button);
    button.addEventListener("click", () => sortBy(table, column, heading));
  });
}

const overview = byId("o-table");
if (overview) {
  const controls = byId("o-controls");
  controls.hidden = false;
  const heads = [...overview.tHead.rows[0].cells];
  const choices = [...controls.querySelectorAll("select")];
  const apply = () => {
    const hidden = heads.map((head, k) => k > 0 && choices.some((one) => one.value !== "*" && (head.dataset[one.dataset.part] || "") !== one.value));
    const words = byId("o-search").value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of overview.rows) [...row.cells].forEach((cell, k) => { cell.hidden = hidden[k]; });
    for (const row of overview.tBodies[0].rows) {
      const name = row.cells[0].textContent.toLowerCase();
      row.hidden = !words.every((word) => name.includes(word));
    }
  };
  const groups = choices.find((one) => one.dataset.part === "group");
  if (groups && heads.length > 9) groups.value = "all queries";
  for (const one of choices) one.addEventListener("change", apply);
  byId("o-search").addEventListener("input", apply);
  apply();
}

const TEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "…": "\\ldots{}", "–": "--", "\u2212": "$-$", "★": "$\\star$", "●": "$\\bullet$", "▲": "$\\blacktriangle$", "▼": "$\\blacktriangledown$", "≈": "$\\approx$", "✓": "$\\checkmark$", "·": "$\\cdot$" };
const tex = (text) => [...text].map((c) => TEX[c] ?? ("&%$#_{}".includes(c) ? "\\" + c : c)).join("");
const grid = (table) => {
  const rows = [table.tHead.rows[0], ...table.tBodies[0].rows].filter((row) => !row.hidden);
  return rows.map((row) => [...row.cells].filter((cell) => !cell.hidden).map((cell) => {
    const copy = cell.cloneNode(true);
    for (const extra of copy.querySelectorAll("svg, button.sort")) extra.remove();
    return copy.textContent.replace(/\s+/g, " ").trim();
  }));
};
// What is saved for a program: the rows that are shown, unrounded; of the overview a record for each of its numbers.
const overviewRecords = (table) => {
  const columns = [...table.tHead.rows[0].cells].slice(1);
  return [...table.tBodies[0].rows].filter((row) => !row.hidden).flatMap((row) => columns.flatMap((column, k) => {
    const cell = row.cells[k + 1];
    const chunker = row.cells[0].dataset.name;
    return cell.hidden ? [] : [{ chunker, ...JSON.parse(column.dataset.column), ...JSON.parse(cell.dataset.entry) }];
  }));
};
const records = (box) => {
  const table = box.querySelector("table");
  if (!table.dataset.fields) return overviewRecords(table);
  const setting = JSON.parse(box.querySelector(".take").dataset.setting ?? "{}");
  const fields = JSON.parse(table.dataset.fields);
  return [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => {
    const values = JSON.parse(row.dataset.row);
    return { ...setting, ...Object.fromEntries(fields.map((name, k) => [name, values[k]])) };
  });
};
const csvCell = (value) => {
  if (typeof value !== "string") return value === null ? "" : String(value);
  // A spreadsheet takes a cell that begins like this for a formula.
  const safe = /^[=+\-@\t\r]/.test(value) ? "'" + value : value;
  return /[",\r\n]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
};
const asCsv = (found) => {
  const fields = Object.keys(found[0] ?? {});
  return [fields, ...found.map((one) => fields.map((name) => one[name]))].map((row) => row.map(csvCell).join(",") + "\n").join("");
};
const asJson = (found) => JSON.stringify(found, null, 1) + "\n";
const asTex = (rows, name) => [
  "% needs booktabs, amssymb and graphicx", "\\begin{table}", "\\centering", "\\caption{" + tex(name) + "}", "\\label{tab:" + name.replace(/[^A-Za-z0-9]+/g, "-") + "}",
  "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%", "\\begin{tabular}{l" + "r".repeat(rows[0].length - 1) + "}", "\\toprule",
  rows[0].map(tex).join(" & ") + " \\\\", "\\midrule", ...rows.slice(1).map((row) => row.map(tex).join(" & ") + " \\\\"), "\\bottomrule", "\\end{tabular}}", "\\end{table}", "",
].join("\n");
const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font-size", "font-weight", "font-family", "text-anchor", "paint-order"];
// A saved figure is light, whatever the page is, and brings its own background: it may land on any.
const inLight = (make) => {
  const chosen = root.dataset.theme;
  root.dataset.theme = "light";
  try {
    return make();
  } finally {
    if (chosen === undefined) delete root.dataset.theme;
    else root.dataset.theme = chosen;
  }
};
const onWhite = (box, inner) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${box[0]} ${box[1]}" width="${box[0]}" height="${box[1]}"><rect width="${box[0]}" height="${box[1]}" fill="#ffffff"/>${inner}</svg>`;
const asSvg = (drawing) => {
  const copy = drawing.cloneNode(true);
  const from = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, k) => {
    const look = getComputedStyle(from[k]);
    for (const name of LOOKS) node.setAttribute(name, look.getPropertyValue(name));
    node.removeAttribute("class");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
};
const panelsSvg = (box) => {
  const drawings = [...box.querySelectorAll(".panel")];
  const columns = 4;
  const [width, height] = [230, Math.max(...drawings.map((one) => one.querySelector("svg").viewBox.baseVal.height)) + 34];
  const parts = drawings.map((one, k) => {
    const title = '<text x="14" y="-6" font-size="12" font-family="sans-serif" fill="#1b1f24">' + new XMLSerializer().serializeToString(document.createTextNode(one.querySelector("h4").textContent)) + "</text>";
    return `<g transform="translate(${(k % columns) * width} ${Math.floor(k / columns) * height + 24})">` + title + asSvg(one.querySelector("svg")) + "</g>";
  });
  return onWhite([width * Math.min(columns, drawings.length), height * Math.ceil(drawings.length / columns)], parts.join(""));
};
const save = (text, name, type) => {
  const link = el("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
const drawn = (box) => {
  const panels = box.querySelector(".panels");
  if (panels) return panelsSvg(panels);
  // The wide drawing, with every name in it, from a phone too.
  const drawing = box.querySelector(".for-wide svg");
  const size = drawing.viewBox.baseVal;
  return onWhite([size.width, size.height], asSvg(drawing));
};
const FORMS = {
  csv: ["text/csv", (box) => asCsv(records(box))],
  json: ["application/json", (box) => asJson(records(box))],
  tex: ["text/plain", (box, name) => asTex(grid(box.querySelector("table")), name)],
  svg: ["image/svg+xml", (box) => inLight(() => drawn(box))],
};
for (const take of document.querySelectorAll(".take")) {
  take.hidden = false;
  take.addEventListener("click", (event) => {
    const form = event.target.dataset.as;
    if (!form) return;
    const [type, make] = FORMS[form];
    const name = take.dataset.name;
    const file = "chunkbench-" + name.replace(/[^A-Za-z0-9@.=-]+/g, "-").slice(0, 180) + "." + form;
    save(make(take.closest(".taken"), name), file, type);
  });
}
