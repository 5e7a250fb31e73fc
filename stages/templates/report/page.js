"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = new Intl.Collator("en", { numeric: true });
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => order.compare(a.cells[column].textContent, b.cells[column].textContent));
      table.tBodies[0].append(...(down ? rows.reverse() : rows));
    });
  });
}
for (const input of document.querySelectorAll("input[data-filter]")) {
  const table = document.getElementById(input.dataset.filter);
  const words = document.getElementById(input.getAttribute("aria-describedby"));
  const said = words.textContent;
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    const seen = new Set();
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
      if (!row.hidden) {
        shown += 1;
        seen.add(row.cells[1].textContent);
      }
    }
    const gone = JSON.parse(table.dataset.strata).filter((name) => !seen.has(name));
    const left = gone.length ? ` Strata that are left out: ${gone.join(", ")}.` : "";
    words.textContent = wanted === "" ? said : `${shown} rows are shown.${left} No figure changes with it.`;
  });
}
for (const link of document.querySelectorAll('a[href^="#"]')) {
  link.addEventListener("click", () => {
    const target = document.getElementById(link.getAttribute("href").slice(1));
    const details = target && target.closest("details");
    if (details) details.open = true;
  });
}
