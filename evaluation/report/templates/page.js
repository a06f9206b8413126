// Theme, explained terms, and links into folded parts.
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

const tip = byId("tip");
const hideTip = () => { tip.hidden = true; };
const showTip = (term) => {
  const entry = byId(term.hash.slice(1));
  if (!entry) return;
  tip.textContent = entry.querySelector("dd").textContent;
  tip.hidden = false;
  term.setAttribute("aria-describedby", "tip");
  const at = term.getBoundingClientRect();
  const below = at.bottom + 6 + tip.offsetHeight < innerHeight;
  tip.style.top = (below ? at.bottom + 6 : at.top - tip.offsetHeight - 6) + "px";
  tip.style.left = Math.max(8, Math.min(at.left, innerWidth - tip.offsetWidth - 8)) + "px";
};
const termOf = (event) => (event.target.closest ? event.target.closest("a.term") : null);
for (const name of ["mouseover", "focusin"]) {
  document.addEventListener(name, (event) => {
    const term = termOf(event);
    if (term) showTip(term);
  });
}
for (const name of ["mouseout", "focusout"]) {
  document.addEventListener(name, (event) => {
    if (termOf(event)) hideTip();
  });
}
addEventListener("scroll", hideTip, { passive: true });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});

const unfold = () => {
  let name = location.hash.slice(1);
  try {
    name = decodeURIComponent(name);
  } catch {
    // A malformed link names nothing here; it is taken as it is written.
  }
  const target = byId(name);
  if (!target) return;
  for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  const inner = target.querySelector(":scope > details.fold");
  if (inner) inner.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", unfold);
unfold();
