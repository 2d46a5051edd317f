// Small help for forms: counts characters, keeps typed text over a lost session, copies a code, stops double sending.
"use strict";
(() => {
  document.documentElement.classList.add("script");

  const count = (counter) => {
    const field = document.getElementById(counter.dataset.counterFor), most = Number(counter.dataset.max);
    if (!field) return;
    const length = [...field.value].length;
    counter.textContent = `${length.toLocaleString("en")} of ${most.toLocaleString("en")} characters`;
    counter.classList.toggle("full", length >= most);
  };

  const draftKey = (field) => `draft:${location.pathname}:${field.name}`;
  const SENT = "sent-drafts";
  // What was sent is forgotten only once a page answers that shows neither the form nor an error: the session may be over.
  const forgetWhatArrived = () => {
    if (document.querySelector("form[data-draft], .error-page")) return;
    for (const key of JSON.parse(sessionStorage.getItem(SENT) ?? "[]")) sessionStorage.removeItem(key);
    sessionStorage.removeItem(SENT);
  };
  const prepare = (root) => {
    for (const field of root.querySelectorAll("form[data-draft] textarea")) {
      if (!field.value) field.value = sessionStorage.getItem(draftKey(field)) ?? "";
    }
    root.querySelectorAll("[data-counter-for]").forEach(count);
    for (const button of root.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
  };

  document.addEventListener("input", ({ target }) => {
    if (target.matches("form[data-draft] textarea")) sessionStorage.setItem(draftKey(target), target.value);
    const counter = document.querySelector(`[data-counter-for="${target.id}"]`);
    if (target.id && counter) count(counter);
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.submitter?.name === "remove") return;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "yes";
    if (form.matches("[data-draft]")) sessionStorage.setItem(SENT, JSON.stringify([...form.querySelectorAll("textarea")].map(draftKey)));
  });
  addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((form) => delete form.dataset.sent));

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const words = button.querySelector("[data-copy-words]");
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent.trim());
    words.textContent = "Copied";
    setTimeout(() => { words.textContent = "Copy"; }, 2000);
  });

  const reasons = document.querySelector("[data-photo-reasons]");
  const tellWhetherNeeded = () => {
    const chosen = reasons?.querySelector(":checked"), place = document.querySelector("[data-photos-needed]");
    if (!chosen || !place) return;
    place.textContent = reasons.dataset.photoReasons.split(" ").includes(chosen.value) ? "at least one" : "if you like";
  };
  reasons?.addEventListener("change", tellWhetherNeeded);

  const units = document.querySelector("select#id_units");
  const sayAmount = () => {
    const amount = units?.selectedOptions[0]?.text.split(" · ")[1];
    if (amount) units.form.querySelector(".submit button").textContent = `Ask for ${amount} back`;
  };
  units?.addEventListener("change", sayAmount);

  sayAmount();
  forgetWhatArrived();
  prepare(document);
  document.querySelector("main [aria-invalid=true], main .field-error + .choices input")?.focus();
  tellWhetherNeeded();
  document.addEventListener("live:part", ({ detail }) => prepare(detail.parentNode));
  document.addEventListener("live:news", () => prepare(document));
})();
