// Small help for fields: counts characters, says the amount and whether photos are needed, copies a code.
"use strict";
(() => {
  document.documentElement.classList.toggle("can-copy", Boolean(navigator.clipboard));

  const count = (counter) => {
    const field = document.getElementById(counter.dataset.counterFor), most = Number(counter.dataset.max);
    if (!field) return;
    const length = [...field.value].length;
    counter.textContent = `${length.toLocaleString("en")} of ${most.toLocaleString("en")} characters`;
    counter.classList.toggle("full", length >= most);
  };
  const countAll = () => document.querySelectorAll("[data-counter-for]").forEach(count);

  document.addEventListener("input", ({ target }) => {
    const counter = document.querySelector(`[data-counter-for="${target.id}"]`);
    if (target.id && counter) count(counter);
  });

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

  countAll();
  sayAmount();
  tellWhetherNeeded();
  document.addEventListener("live:part", countAll);
})();
