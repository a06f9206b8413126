// Every text of the data reaches the page through textContent or dataset, never as markup.
const byId = (id) => document.getElementById(id);
const el = (name, className, text) => {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
};
