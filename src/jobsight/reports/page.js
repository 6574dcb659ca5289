// A table's heading sorts its rows; without scripts the table is read in its own order.
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  if (body.rows.length < 2) continue;
  const collator = new Intl.Collator("en", {numeric: true});
  const number = text => parseFloat(text.replaceAll(",", ""));
  const compare = (a, b, numeric) => numeric ? number(a) - number(b) : collator.compare(a, b);
  heads.forEach((head, column) => {
    if (!head.textContent.trim()) return;
    const numeric = head.classList.contains("number"), button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    table.classList.add("sortable");
    button.addEventListener("click", () => {
      const order = head.getAttribute("aria-sort") ?? (numeric ? "ascending" : "descending");
      const down = order === "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map(row => [row, row.cells[column].textContent.trim()]);
      // What is unknown stays at the end in both orders.
      const unknown = text => !/[\p{L}\d]/u.test(text) || text === "unknown"
        || (numeric && isNaN(number(text)));
      rows.sort(([, a], [, b]) => unknown(a) - unknown(b)
        || (unknown(a) ? 0 : compare(a, b, numeric) * (down ? -1 : 1)));
      body.append(...rows.map(([row]) => row));
    });
  });
}
