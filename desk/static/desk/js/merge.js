// Brings an element to what a fresh one says, and leaves alone whatever is the same in both: the focus, a scrolled list,
// an opened step, a switch and a press of the mouse outlive the news. For htmx it is the swap style "merge".
(() => {
  "use strict";
  const OPENED_BY_HAND = "open";
  const isText = (node) => node.nodeType === Node.TEXT_NODE;
  const classOf = (node) => node.getAttribute?.("class") || "";

  /** With an id that id says it; else the same kind of element. */
  const alike = (one, other) =>
    one.nodeName === other.nodeName && (one.id || "") === (other.id || "") && (one.id || classOf(one) === classOf(other));

  /** The first from `at` on that `next` stands for; without an id never behind one that has an id. */
  function partner(at, next) {
    for (let one = at; one; one = one.nextSibling) {
      if (alike(one, next)) return one;
      if (isText(next) || (one.id && !next.id)) return null;
    }
    return null;
  }

  /** What stands before it goes, unless something with an id does, which has its own place: then it is moved there. */
  function bringForward(parent, at, same) {
    const before = [];
    for (let one = at; one !== same; one = one.nextSibling) before.push(one);
    if (!before.some((one) => one.id)) before.forEach((one) => one.remove());
    else if (parent.moveBefore) parent.moveBefore(same, at);
    else parent.insertBefore(same, at);
  }

  function mergeChildren(shown, fresh, touched) {
    const wanted = new Set([...fresh.children].map((one) => one.id));
    for (const one of [...shown.children]) if (one.id && !wanted.has(one.id)) one.remove();
    let at = shown.firstChild;
    for (const next of [...fresh.childNodes]) {
      const same = partner(at, next);
      if (!same) {
        shown.insertBefore(next, at);
        if (next.nodeType === Node.ELEMENT_NODE) touched.push(next);
        continue;
      }
      bringForward(shown, at, same);
      mergeNode(same, next, touched);
      at = same.nextSibling;
    }
    while (at) {
      const left = at;
      at = at.nextSibling;
      left.remove();
    }
  }

  function mergeAttributes(shown, fresh, touched) {
    for (const { name } of [...shown.attributes]) {
      if (name !== OPENED_BY_HAND && !fresh.hasAttribute(name)) shown.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) {
      if (shown.getAttribute(name) === value) continue;
      shown.setAttribute(name, value);
      if (name.startsWith("hx-")) touched.push(shown);
    }
  }

  function mergeNode(shown, fresh, touched) {
    if (shown.isEqualNode(fresh)) return;
    if (shown.nodeType !== Node.ELEMENT_NODE) {
      shown.data = fresh.data;
      return;
    }
    mergeAttributes(shown, fresh, touched);
    mergeChildren(shown, fresh, touched);
  }

  /** htmx looks at once at what came and at what tells it something else, so that no later news goes the old way. */
  window.deskMerge = (shown, fresh) => {
    const touched = [];
    const focused = document.activeElement;
    mergeNode(shown, fresh, touched);
    if (document.activeElement !== focused) {
      const place = focused.isConnected ? focused : document.getElementById(focused.id);
      place?.focus({ preventScroll: true });
    }
    touched.forEach((one) => htmx.process(one));
  };

  htmx.defineExtension("merge", {
    isInlineSwap: (style) => style === "merge",
    handleSwap: (style, target, fragment) => {
      if (style === "merge") window.deskMerge(target, fragment.firstElementChild);
      return style === "merge";
    },
  });
})();
