"use strict";
/* What every page with a script does: report an error, sort tables, say that they scroll, print what is folded. */
window.addEventListener("error", (event) => {
  document.documentElement.dataset.error = String(event.message);
});

const DATA = JSON.parse(document.getElementById("document").textContent);
const SVG = document.getElementById("drawing").namespaceURI;

function element(name, attributes, parent) {
  const node = document.createElementNS(SVG, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (parent) parent.appendChild(node);
  return node;
}

function digits(value) {
  if (!Number.isFinite(value)) return "–";
  return String(Number(value.toPrecision(4))).replace("-", "−");
}

/* One body per entry of a table: its row, and what belongs to it. */
function entryValue(body, column) {
  return body.rows[0].cells[column].dataset.value || "";
}

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const rising = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", rising ? "ascending" : "descending");
      table.append(...[...table.tBodies].sort((a, b) => {
        const x = entryValue(a, column), y = entryValue(b, column);
        if (!x || !y) return (x ? 0 : 1) - (y ? 0 : 1); // what has no number stays last
        const order = Number.isNaN(Number(x)) || Number.isNaN(Number(y)) ? x.localeCompare(y, "en", { numeric: true }) : Number(x) - Number(y);
        return rising ? order : -order;
      }));
    });
  });
}

function wide(box) {
  const hint = box.previousElementSibling;
  const update = () => {
    const left = box.scrollWidth - box.clientWidth;
    if (hint && hint.classList.contains("hint")) hint.classList.toggle("on", left > 2);
    box.classList.toggle("more", left - box.scrollLeft > 2);
  };
  box.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(update).observe(box);
  update();
}

let opened = [];
window.addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const node of opened) node.open = true;
});
window.addEventListener("afterprint", () => {
  for (const node of opened) node.open = false;
  opened = [];
});
for (const box of document.querySelectorAll(".scroll")) wide(box);
for (const table of document.querySelectorAll("table.sortable")) sortable(table);
