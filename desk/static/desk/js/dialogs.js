// Confirm dialogs, enlarged photos and notices. Everything here also works as plain links and pages without it.
(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const plainClick = (event) => event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;

  // -- the confirm dialog -------------------------------------------------------------------------------------------

  function addressOf(opener) {
    if (!opener.form) return opener.href;
    const given = new URLSearchParams(new FormData(opener.form));
    given.set(opener.name, opener.value);
    return `${opener.form.action}?${given}`;
  }

  function open(opener) {
    const body = byId("dialog-body");
    const about = opener.closest("#case");
    body.textContent = "";
    htmx.ajax("GET", addressOf(opener), { target: body, swap: "innerHTML" }).then(() => {
      if (about && (about.inert || !about.isConnected)) body.textContent = "";
      if (body.children.length && !byId("dialog").open) byId("dialog").showModal();
      tellWriting(byId("dialog").open);
    });
  }

  const tellWriting = (writing) => document.dispatchEvent(new CustomEvent("desk:writing", { detail: writing }));
  byId("dialog")?.addEventListener("close", () => tellWriting(false));

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (opener && byId("dialog") && window.htmx && plainClick(event)) {
      event.preventDefault();
      open(opener);
    }
    const closer = event.target.closest("[data-close]");
    if (closer) closer.closest("dialog")?.close();
    if (closer && closer.hasAttribute("data-refresh")) refresh();
    if (event.target.closest("[data-reload]")) window.location.reload();
    if (event.target.nodeName === "DIALOG") event.target.close();
  });

  const refresh = () => document.dispatchEvent(new CustomEvent("desk:refresh"));

  document.addEventListener("desk:done", (event) => {
    byId("dialog")?.close();
    say(event.detail.say);
    refresh();
  });

  function say(sentence) {
    const toast = byId("toast");
    if (!toast || !sentence) return;
    toast.textContent = sentence;
    toast.classList.add("shown");
    window.setTimeout(() => toast.classList.remove("shown"), 5000);
  }

  document.addEventListener("DOMContentLoaded", () => {
    const toast = byId("toast");
    if (toast?.textContent.trim()) say(toast.textContent.trim());
  });

  // -- answers that are not the expected fragment -------------------------------------------------------------------

  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.getResponseHeader("Desk-Fragment")) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
  });

  const NOTICES = {
    403: "This page is out of date: you signed out or in again since it was opened. Nothing was sent. Reload it; what you typed is kept.",
    404: "That is not there any more. Reload the page to see where things stand.",
    0: "The desk cannot be reached. Nothing is lost; check the connection and try again.",
  };

  function notice(status) {
    show(NOTICES[status] || "The desk could not answer. Reload the page and look before you try again.", "Reload");
  }

  /** Somebody else was faster while this form stood open: it says so before anything is sent. */
  document.addEventListener("htmx:afterSwap", () => {
    const card = byId("dialog")?.open && byId("dialog").querySelector("input[name=card]");
    if (!card || byId("dialog-body").querySelector(".overtaken")) return;
    const shown = byId("case-main")?.querySelector(".acts input[name=card]");
    if (shown && shown.value === card.value) return;
    const note = document.createElement("p");
    note.className = "note person overtaken";
    note.setAttribute("role", "alert");
    note.textContent = "This card has just been decided by somebody else. Close this to see how.";
    byId("dialog-body").prepend(note);
  });

  document.addEventListener("desk:signed-out", () => {
    show("You are signed out, so this page is not kept up to date. What you typed is kept.", "Sign in again");
  });

  function show(text, word) {
    const dialog = byId("dialog");
    const shown = dialog && dialog.open;
    const place = shown ? byId("dialog-body") : byId("toast");
    if (!place) return;
    place.querySelector(".reload-note")?.remove();
    const note = document.createElement("div");
    note.className = "note no reload-note";
    note.setAttribute("role", "alert");
    const words = document.createElement("span");
    words.textContent = text;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button small-button";
    button.dataset.reload = "";
    button.textContent = word;
    note.append(words, button);
    if (shown) place.prepend(note);
    else place.replaceChildren(note);
    if (!shown) place.classList.add("shown");
  }

  const byPerson = (event) => event.detail.elt?.closest?.("form, a, dialog") || event.detail.target?.id === "dialog-body";
  document.addEventListener("htmx:responseError", (event) => {
    if (byPerson(event)) notice(event.detail.xhr.status);
  });
  document.addEventListener("htmx:sendError", (event) => {
    if (byPerson(event)) notice(0);
  });

  // -- the amount in the button -------------------------------------------------------------------------------------

  function amountTyped(form, name) {
    const field = form.elements[name];
    if (!field || !field.value.trim()) return 0;
    const typed = field.value.replace(/[$€£¥\s]/g, "");
    return /^\d{1,3}(,\d{3})+(\.\d*)?$/.test(typed) ? Number(typed.replace(/,/g, "")) : Number(typed);
  }

  function labelButton(form) {
    const button = form?.querySelector("button[data-currency]");
    if (!button) return;
    const total = amountTyped(form, "amount") + amountTyped(form, "shipping");
    const format = new Intl.NumberFormat("en-US", { style: "currency", currency: button.dataset.currency });
    const words = form.elements.require_return.checked ? button.dataset.return : button.dataset.plain;
    button.querySelector(".act-label").textContent = Number.isFinite(total) && total > 0 ? `${words} ${format.format(total)}` : words;
  }

  /** Fewer units cost less: the amount follows the number of units, and may still be made smaller by hand. */
  function priceUnits(field) {
    const prices = field.dataset?.prices?.split(" ") || [];
    const price = prices[Number(field.value) - 1];
    if (price) field.form.elements.amount.value = price;
  }

  document.addEventListener("input", (event) => {
    priceUnits(event.target);
    labelButton(event.target.form);
  });
  document.addEventListener("change", (event) => labelButton(event.target.form));
  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("form").forEach(labelButton));
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id !== "dialog-body") return;
    labelButton(event.detail.target.querySelector("form"));
    const first = event.detail.target.querySelector(".wrong input, .wrong textarea, textarea, input:not([type=hidden])");
    if (byId("dialog").open) first?.focus();
    else if (first) first.autofocus = true;
  });

  // -- photos -------------------------------------------------------------------------------------------------------

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-photo]");
    const dialog = byId("photo-dialog");
    if (!link || !dialog || !plainClick(event)) return;
    event.preventDefault();
    const image = dialog.querySelector("img");
    image.src = link.href;
    image.alt = link.querySelector("img").alt;
    dialog.showModal();
  });
})();
