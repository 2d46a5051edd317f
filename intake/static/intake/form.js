// Keeps what was filled in until it arrived, and stops double sending.
//
// What stands in a form with [data-draft] is kept in this tab under that name, and is there again when the form comes
// back after a lost session or connection; a form with [data-came-back] shows what was sent, from the server. The
// template with [data-unsent] stands where such forms may leave their page: what was written under a name that begins
// so, and did not arrive, is shown there once its form is gone. A page where that template's [data-arrived] is the name
// of a draft, or whose forms it came from, shows that it arrived; one with [data-nothing-arrived] that it did not.
"use strict";
(() => {
  document.documentElement.classList.add("script");
  const PRESS_AGAIN_MS = 20000, DRAFT = "draft:", SENT = "sent-draft";
  const CHOICES = "select, input[type=number], input[type=radio]:checked";
  const unsent = document.querySelector("template[data-unsent]");

  const keyOf = (form) => DRAFT + form.dataset.draft;
  const formOf = (key) => [...document.querySelectorAll("form[data-draft]")].find((form) => keyOf(form) === key);
  const isOfThisPage = (key) => unsent !== null && key.startsWith(DRAFT + unsent.dataset.unsent);
  const draftOf = (key) => JSON.parse(sessionStorage.getItem(key) ?? '{"text": "", "choices": {}, "photos": []}');

  const keep = (form) => {
    const text = form.querySelector("textarea").value;
    const choices = Object.fromEntries([...form.querySelectorAll(CHOICES)].map((field) => [field.name, field.value]));
    const photos = [...form.querySelectorAll("[data-photo-list] [name=photo]")].map((photo) => (
      { id: photo.value, name: photo.closest("li").querySelector(".photo-name").textContent }
    ));
    if (text || photos.length || Object.keys(choices).length) sessionStorage.setItem(keyOf(form), JSON.stringify({ text, choices, photos }));
    else sessionStorage.removeItem(keyOf(form));
  };

  const choose = (field, value) => {
    if (!field.options || [...field.options].some((option) => option.value === value)) field.value = value;
  };

  const fillIn = (form) => {
    if ("cameBack" in form.dataset) return keep(form);
    const draft = draftOf(keyOf(form)), text = form.querySelector("textarea");
    if (!text.value) text.value = draft.text;
    for (const [name, value] of Object.entries(draft.choices)) if (form.elements[name]) choose(form.elements[name], value);
    form.querySelector("[data-photos]").dataset.kept = JSON.stringify(draft.photos);
  };

  const settle = () => {
    const sent = sessionStorage.getItem(SENT);
    if (!sent) return;
    const arrived = !formOf(sent) && (isOfThisPage(sent) || sent === DRAFT + unsent?.dataset.arrived);
    if (arrived) sessionStorage.removeItem(sent);
    if (arrived || formOf(sent) || document.querySelector("[data-nothing-arrived]")) sessionStorage.removeItem(SENT);
  };

  const isUnsent = (key) => isOfThisPage(key) && key !== sessionStorage.getItem(SENT) && draftOf(key).text.trim() !== "";

  const showUnsent = () => {
    const gone = Object.keys(sessionStorage).filter((key) => isUnsent(key) && !formOf(key) && !document.getElementById(key));
    return gone.map((key) => {
      const box = unsent.content.firstElementChild.cloneNode(true), field = box.querySelector("textarea");
      field.id = box.querySelector("label").htmlFor = key;
      field.defaultValue = draftOf(key).text;
      unsent.before(box);
      return field;
    });
  };

  const discard = (box) => {
    sessionStorage.removeItem(box.querySelector("textarea").id);
    box.remove();
    document.getElementById("content").focus({ preventScroll: true });
  };

  document.addEventListener("input", ({ target }) => {
    const form = target.closest("form[data-draft]");
    if (form) keep(form);
  });
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-discard]");
    if (button) discard(button.parentElement);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.submitter?.name === "remove") return;
    // For a while only: whoever stopped a page that did not come may press again.
    if (Date.now() - Number(form.dataset.sent ?? 0) < PRESS_AGAIN_MS) return event.preventDefault();
    form.dataset.sent = Date.now();
    if (form.matches("[data-draft]")) sessionStorage.setItem(SENT, keyOf(form));
  });
  addEventListener("pageshow", () => {
    document.querySelectorAll("form[data-sent]").forEach((form) => delete form.dataset.sent);
    settle();
  });

  settle();
  document.querySelectorAll("form[data-draft]").forEach(fillIn);
  showUnsent();
  document.querySelector("main [aria-invalid=true], main .field-error + .choices input")?.focus();
  document.addEventListener("live:part", ({ detail }) => detail.querySelectorAll("form[data-draft]").forEach(fillIn));
  document.addEventListener("live:news", () => {
    const [field] = showUnsent();
    if (document.activeElement === document.body) field?.focus({ preventScroll: true });
  });
})();
