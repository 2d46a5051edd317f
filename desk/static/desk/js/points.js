// From a sentence on the card to the step it rests on: shows the step, marks it and takes the focus there. Without this
// script the link is an ordinary anchor and the step is marked as the page's target.
(() => {
  "use strict";
  const MARKED_MS = 2500;
  const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-step]");
    const step = link && document.getElementById(`step-${link.dataset.step}`);
    if (!step || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    const details = step.querySelector("details");
    if (details) details.open = true;
    step.scrollIntoView({ block: "center", behavior: calm() ? "auto" : "smooth" });
    step.focus({ preventScroll: true });
    step.classList.add("pointed");
    window.setTimeout(() => step.classList.remove("pointed"), MARKED_MS);
  });
})();
