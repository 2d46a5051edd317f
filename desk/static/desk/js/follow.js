// What news changes elsewhere on the page: the card when it is another one, the list, the marked row. A row is marked
// as soon as it is chosen; until its request is there, the one still shown can neither be pressed nor decided.
(() => {
  "use strict";
  const LIST_PACE = 1000;
  const byId = (id) => document.getElementById(id);

  document.addEventListener("desk:news", (event) => {
    if (event.target.id === "desk") listChanged();
    else cardChanged();
  });

  /** The stamp in the timeline changes with the card; the card is fetched, since it holds forms. */
  function cardChanged() {
    const main = byId("case-main");
    const stamp = byId("stamp");
    if (main && stamp && main.dataset.stamp !== stamp.dataset.stamp) htmx.trigger(main, "card-changed");
  }

  /** What was told while the card was being fetched is compared again, once for each stamp, so that it ends. */
  let comparedFor = "";
  document.addEventListener("htmx:afterSettle", (event) => {
    const stamp = byId("stamp")?.dataset.stamp;
    if (event.target.id !== "case-main" || !stamp || stamp === comparedFor) return;
    comparedFor = stamp;
    cardChanged();
  });

  /** What is on its way may be older than the news, and a search must not lose its answer: the list is asked after it. */
  let waiting = 0;
  function listChanged() {
    if (waiting) return;
    waiting = window.setTimeout(() => {
      waiting = 0;
      if (document.querySelector("#search.htmx-request, #rows.htmx-request")) listChanged();
      else if (byId("rows")) htmx.trigger("#rows", "queue-changed");
    }, LIST_PACE / 4);
  }

  document.addEventListener("desk:refresh", () => {
    if (byId("case-main")) htmx.trigger("#case-main", "card-changed");
    listChanged();
  });

  const pathOf = (row) => new URL(row.href).pathname;
  let chosen = null;

  function markCurrent() {
    const path = chosen?.path ?? window.location.pathname;
    for (const row of document.querySelectorAll("#rows .row")) {
      if (pathOf(row) === path) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
    byId("desk")?.classList.toggle("has-case", Boolean(byId("case-main")));
  }

  function choose(row) {
    chosen = row;
    if (byId("case")) byId("case").inert = Boolean(row);
    markCurrent();
  }

  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt, xhr } = event.detail;
    if (!elt.matches?.("#rows .row")) return;
    xhr.addEventListener("loadend", () => choose(null));
    choose({ path: pathOf(elt) });
  });
  document.addEventListener("htmx:afterSwap", markCurrent);
  document.addEventListener("htmx:pushedIntoHistory", markCurrent);
})();
