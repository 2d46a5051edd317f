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

  /** While another request is on its way that one is meant, not the one still shown: the key waits for it. */
  let meant = "";
  function press(key) {
    meant = document.getElementById("case")?.inert ? key : "";
    if (!meant) document.querySelector(`[data-key=${key}]`)?.click();
  }

  document.addEventListener("htmx:afterSettle", (event) => {
    if (meant && event.target.id === "case") press(meant);
  });
  document.addEventListener("pointerdown", () => {
    meant = "";
  });

  const acts = {
    j: () => move(1),
    k: () => move(-1),
    a: () => press("a"),
    q: () => press("q"),
    d: () => press("d"),
    "/": () => document.getElementById("search")?.focus(),
  };

  document.addEventListener("keydown", (event) => {
    meant = "";
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
