// The report works without this: it sorts tables, filters rows, shows a chart's values under the
// pointer, and keeps theme and language. It only ever sets text, never markup.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Theme and language are radio buttons that the style sheet reads.
  const store = (() => {
    try { return window.localStorage; } catch { return null; }
  })();
  for (const input of all(".choice")) {
    const key = "gridbench-" + input.name;
    if (store && store.getItem(key) === input.id) input.checked = true;
    input.addEventListener("change", () => {
      if (store) store.setItem(key, input.id);
      language();
    });
  }
  function language() {
    const zh = document.getElementById("language-zh").checked;
    document.documentElement.lang = zh ? "zh-Hans" : "en";
  }
  language();

  // A cell's number, or its text where it has none.
  const number = (text) => {
    const found = text.replace(/,/g, "").match(/^[+\-−]?\d+(\.\d+)?/);
    return found ? Number(found[0].replace("−", "-")) : null;
  };
  const textOf = (cell) => {
    const shown = all(".t", cell).find((part) => getComputedStyle(part).display !== "none");
    return (shown || cell).textContent.trim();
  };
  function compare(a, b) {
    const [left, right] = [number(a), number(b)];
    if (left !== null && right !== null) return left - right;
    if (left === null && right === null) return a.localeCompare(b);
    return left === null ? 1 : -1;
  }
  for (const table of all("table.sortable")) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    for (const head of all("th", table.tHead)) {
      const label = head.querySelector(".sort");
      if (!label) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...label.childNodes);
      label.append(button);
      button.addEventListener("click", () => {
        const was = head.getAttribute("aria-sort");
        const order = was === "ascending" ? "descending" : was === "descending" ? null : "ascending";
        all("th", table.tHead).forEach((other) => other.removeAttribute("aria-sort"));
        let rows = [...original];
        if (order) {
          head.setAttribute("aria-sort", order);
          const place = head.cellIndex;
          rows.sort((a, b) => compare(textOf(a.cells[place]), textOf(b.cells[place])));
          if (order === "descending") rows.reverse();
        }
        body.append(...rows);
      });
    }
  }

  const filter = document.getElementById("filter");
  filter.closest("label").hidden = false;
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of all("[data-key]")) {
      const text = (row.dataset.key + " " + row.textContent).toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });

  // Marks of a chart carry their value as a title; a series has its pieces in the table below it.
  const value = document.createElement("output");
  value.className = "value";
  function show(figure, event, text) {
    value.textContent = text;
    const box = figure.getBoundingClientRect();
    const left = Math.min(event.clientX - box.left + 12, box.width - 120);
    value.style.left = Math.max(left, 0) + "px";
    value.style.top = event.clientY - box.top - 28 + "px";
    if (value.parentNode !== figure) figure.append(value);
  }
  for (const figure of all("figure")) {
    const picture = figure.querySelector("svg");
    if (!picture) continue;
    const cells = all(".pieces td", figure);
    picture.addEventListener("pointermove", (event) => {
      const title = event.target.querySelector && event.target.querySelector(":scope > title");
      if (event.target !== picture && title) return show(figure, event, title.textContent);
      const [from, to] = [Number(picture.dataset.left), Number(picture.dataset.right)];
      if (!cells.length || !(to > from)) return value.remove();
      const box = picture.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * picture.viewBox.baseVal.width;
      const piece = Math.floor(((x - from) / (to - from)) * (cells.length / 2));
      if (piece < 0 || piece * 2 >= cells.length) return value.remove();
      show(figure, event, cells[piece * 2].textContent + " s: " + cells[piece * 2 + 1].textContent);
    });
    picture.addEventListener("pointerleave", () => value.remove());
  }
})();
