// Live places: an element with data-live-socket, data-live-poll and data-live-rev is told what is newer than its rev
// over a websocket or, while none is open, asks every 20 seconds. Both bring the same frames. A fragment is merged into
// the element with its id or is added to its list, so that nothing is shown twice, whatever comes again.
(() => {
  "use strict";
  const PACE = 20_000;
  const SILENCE = 55_000;
  const NEAR_THE_END = 80;
  const SIGNED_OUT = 4401;
  const NOT_FOUND = 4404;
  const byId = (id) => document.getElementById(id);
  const places = new Map();

  class Place {
    constructor(elt) {
      this.elt = elt;
      this.rev = Number(elt.dataset.liveRev);
      this.tries = 0;
      this.heard = Date.now();
      this.connect();
    }

    get open() {
      return this.socket?.readyState === WebSocket.OPEN && Date.now() - this.heard < SILENCE;
    }

    connect() {
      const scheme = window.location.protocol === "https:" ? "wss" : "ws";
      const socket = new WebSocket(`${scheme}://${window.location.host}${this.elt.dataset.liveSocket}`);
      this.socket = socket;
      socket.addEventListener("open", () => {
        socket.send(JSON.stringify({ type: "hello", rev: this.rev }));
      });
      socket.addEventListener("message", (event) => {
        this.tries = 0;
        this.take(JSON.parse(event.data));
      });
      socket.addEventListener("close", (event) => this.closed(event.code));
    }

    closed(code) {
      showSign();
      if (this.left) return;
      if (code === SIGNED_OUT) return signedOut();
      if (code === NOT_FOUND) return;
      const wait = Math.min(1000 * 2 ** this.tries, PACE) * (0.5 + Math.random() / 2);
      this.tries += 1;
      window.setTimeout(() => this.left || this.connect(), wait);
      this.look();
    }

    leave() {
      this.left = true;
      this.socket.close();
    }

    take(frame) {
      this.heard = Date.now();
      if (frame.type === "news" && frame.reload) return reload();
      if (frame.type === "news") {
        const follow = this.elt.scrollHeight - this.elt.scrollTop - this.elt.clientHeight < NEAR_THE_END;
        frame.fragments.forEach(put);
        if (follow) this.elt.scrollTop = this.elt.scrollHeight;
        this.rev = frame.rev;
        this.elt.dispatchEvent(new CustomEvent("desk:news", { bubbles: true }));
      }
      showSign();
    }

    async ask() {
      const answer = await fetch(`${this.elt.dataset.livePoll}?rev=${this.rev}`, { headers: { "HX-Request": "true" } });
      if (answer.headers.get("HX-Redirect")) return signedOut();
      if (answer.ok && this.elt.isConnected) this.take(await answer.json());
    }

    /** Asks when no websocket tells; one that has fallen silent is opened again. */
    look() {
      if (this.open) return;
      if (this.socket.readyState === WebSocket.OPEN) this.socket.close();
      this.ask().catch(() => undefined);
    }
  }

  function put(fragment) {
    const template = document.createElement("template");
    template.innerHTML = fragment.html;
    const fresh = template.content.firstElementChild;
    const shown = byId(fragment.id);
    if (shown) {
      window.deskMerge(shown, fresh);
    } else if (fragment.into && byId(fragment.into)) {
      if (fragment.at === "start") byId(fragment.into).prepend(fresh);
      else byId(fragment.into).append(fresh);
      htmx.process(fresh);
    }
  }

  function find() {
    for (const [elt, place] of places) {
      if (elt.isConnected) continue;
      place.leave();
      places.delete(elt);
    }
    for (const elt of document.querySelectorAll("[data-live-socket]")) {
      if (!places.has(elt)) places.set(elt, new Place(elt));
    }
    showSign();
  }

  function look() {
    if (document.hidden) return;
    places.forEach((place) => place.look());
    showSign();
  }

  /** Not while another request is on its way into the same place. */
  function reload() {
    const asked = { source: "#activity", target: "#case", swap: "outerHTML" };
    htmx.ajax("GET", window.location.href, asked).catch(() => undefined);
  }

  function signedOut() {
    document.dispatchEvent(new CustomEvent("desk:signed-out"));
  }

  /** Whoever opens a decision's form is shown as writing to the others. */
  function sayWriting(writing) {
    const place = places.get(byId("activity"));
    if (place?.open) place.socket.send(JSON.stringify({ type: "writing", writing }));
  }

  document.addEventListener("desk:writing", (event) => sayWriting(event.detail));
  document.addEventListener("DOMContentLoaded", find);
  document.addEventListener("htmx:afterSettle", find);
  document.addEventListener("visibilitychange", look);
  document.addEventListener("desk:refresh", () => places.forEach((place) => place.look()));
  window.addEventListener("online", look);
  window.setInterval(look, PACE);

  function showSign() {
    const sign = byId("live-sign");
    if (!sign) return;
    const open = Boolean(places.get(sign.closest("[data-live-socket]"))?.open);
    sign.dataset.state = open ? "on" : "off";
    sign.title = open ? "Steps appear as they happen" : "No live connection: the page asks every 20 seconds";
    sign.querySelector(".live-word").textContent = open ? "live" : "not live";
  }
})();
