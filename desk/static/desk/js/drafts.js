// Keeps what is typed in a dialog until it is sent, in this tab only, so that closing, reloading or an error lose nothing.
// The switch on the card and the one in its dialog are one: forms with the same data-draft share what is kept.
(() => {
  "use strict";
  const KEPT = ["text", "textarea", "number", "checkbox"];
  const keyOf = (form) => `desk-draft:${form.dataset.draft}`;
  const keptOf = (form) => JSON.parse(sessionStorage.getItem(keyOf(form)) || "{}");
  const fieldsOf = (form) => [...form.elements].filter((field) => field.name && KEPT.includes(field.type));
  const valueOf = (field) => (field.type === "checkbox" ? field.checked : field.value);

  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (!form?.dataset.draft) return;
    const typed = Object.fromEntries(fieldsOf(form).map((field) => [field.name, valueOf(field)]));
    sessionStorage.setItem(keyOf(form), JSON.stringify({ ...keptOf(form), ...typed }));
    document.querySelectorAll(".acts").forEach(restore);
  });

  function restore(form) {
    if (!form.dataset.draft || form.querySelector(".wrong")) return;
    const kept = keptOf(form);
    const fields = fieldsOf(form).filter((field) => field.name in kept);
    for (const field of fields) {
      if (field.type === "checkbox") field.checked = kept[field.name];
      else field.value = kept[field.name];
    }
    fields[0]?.dispatchEvent(new Event("change", { bubbles: true }));
  }

  const restoreIn = (place) => place.querySelectorAll(".acts, #dialog-body form").forEach(restore);
  document.addEventListener("DOMContentLoaded", () => restoreIn(document));
  document.addEventListener("htmx:afterSwap", (event) => restoreIn(event.target));

  document.addEventListener("desk:done", (event) => {
    const form = event.target.closest?.("form[data-draft]");
    if (form) sessionStorage.removeItem(keyOf(form));
  });

  document.addEventListener("submit", (event) => {
    if (event.target.action.endsWith("/logout/")) sessionStorage.clear();
  });
})();
