// Keyboard: J and K move through the list, A, Q and D open the decisions, / searches. Can be switched off for good.
(() => {
  "use strict";
  const OFF = "desk-keys-off";
  const isOff = () => localStorage.getItem(OFF) === "1";
  const FIELDS = "input:not([type=checkbox]), textarea, select, [contenteditable]";
  /** A dialog that just closed keeps the focus in its field for a moment, where nobody types any more. */
  const typing = (target) => target.closest(FIELDS) && !target.closest("dialog:not([open])");

  function show() {
    document.documentElement.dataset.keys = isOff() ? "off" : "on";
    for (const button of document.querySelectorAll("[data-keys-switch]")) {
      button.setAttribute("aria-pressed", String(!isOff()));
    }
  }

  function move(by) {
    const rows = [...document.querySelectorAll("#rows .row")];
    if (!rows.length) return;
    const at = rows.findIndex((row) => row.hasAttribute("aria-current"));
    const next = rows[at === -1 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)];
    if (at !== -1 && next === rows[at]) return;
    next.scrollIntoView({ block: "nearest" });
    next.click();
  }

  const acts = {
    j: () => move(1),
    k: () => move(-1),
    a: () => document.querySelector("[data-key=a]")?.click(),
    q: () => document.querySelector("[data-key=q]")?.click(),
    d: () => document.querySelector("[data-key=d]")?.click(),
    "/": () => document.getElementById("search")?.focus(),
  };

  document.addEventListener("keydown", (event) => {
    if (isOff() || event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return;
    if (typing(event.target) || document.querySelector("dialog[open]")) return;
    const act = acts[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  });

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-keys-switch]")) return;
    localStorage.setItem(OFF, isOff() ? "0" : "1");
    show();
  });

  show();
  document.addEventListener("DOMContentLoaded", show);
})();
