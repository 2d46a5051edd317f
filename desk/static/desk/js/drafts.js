// Keeps what is typed in a dialog until it is sent, in this tab only, so that closing, reloading or an error lose nothing.
(() => {
  "use strict";
  const keyOf = (form) => `desk-draft:${form.dataset.draft}`;
  const typedFields = (form) => [...form.elements].filter((field) => field.name && ["text", "textarea"].includes(field.type));

  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (!form?.dataset.draft) return;
    const typed = Object.fromEntries(typedFields(form).map((field) => [field.name, field.value]));
    sessionStorage.setItem(keyOf(form), JSON.stringify(typed));
  });

  function restore(form) {
    const kept = sessionStorage.getItem(keyOf(form));
    if (!kept || form.querySelector(".wrong")) return;
    const typed = JSON.parse(kept);
    for (const field of typedFields(form)) {
      if (field.name in typed) field.value = typed[field.name];
    }
    form.dispatchEvent(new Event("change"));
  }

  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id === "dialog-body") event.detail.target.querySelectorAll("form[data-draft]").forEach(restore);
  });

  document.addEventListener("desk:done", (event) => {
    const form = event.target.closest?.("form[data-draft]");
    if (form) sessionStorage.removeItem(keyOf(form));
  });

  document.addEventListener("submit", (event) => {
    if (event.target.action.endsWith("/logout/")) sessionStorage.clear();
  });
})();
