// The index of many runs: choices and words decide which rows are shown.
const siteControls = byId("s-controls");
if (siteControls) {
  siteControls.hidden = false;
  const rows = [...byId("s-table").tBodies[0].rows];
  const choices = [...siteControls.querySelectorAll("select")];
  const narrow = () => {
    const words = byId("s-search").value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const name = row.cells[0].textContent.toLowerCase();
      row.hidden = !words.every((word) => name.includes(word)) || choices.some((one) => one.value !== "*" && (row.dataset[one.dataset.part] || "") !== one.value);
    }
    byId("s-count").textContent = rows.filter((row) => !row.hidden).length + " of " + rows.length + " results";
  };
  for (const one of choices) one.addEventListener("change", narrow);
  byId("s-search").addEventListener("input", narrow);
  narrow();
}
