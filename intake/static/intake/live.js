// Keeps a page up to date by a websocket, and by asking every 20 seconds while there is none.
//
// Reads from the element with [data-live-socket]: the socket's path, [data-live-poll]: the address that answers with
// the same frames over HTTP, [data-live-rev]: the rev the page shows. [data-live-state] is told in words whether the
// page is live; [data-live-over] says, with a link, that the page stays as it is from now on. A fragment replaces the
// element with its id unless it is the same; without one it goes to the start or end of `into`. An element whose
// [data-keep] is the same in old and new stays as it is (a form somebody may be typing in). A fragment with
// [data-fetch] is an announcement: its address is fetched, again and again if need be, and put in its place; a
// [data-late] in it is shown when that takes long. After each change the document gets the event "live:news" with the
// frame as its detail.
"use strict";
(() => {
  const root = document.querySelector("[data-live-socket]");
  if (!root) return;
  const POLL_MS = 20000, SILENCE_MS = 45000, FIRST_WAIT_MS = 1000, LONGEST_WAIT_MS = 30000, PART_WAIT_MS = 5000;
  const NO_ANSWER = { status: 0, text: "" };
  let rev = Number(root.dataset.liveRev), socket = null, tries = 0, heardAt = 0, retry = 0, over = false;

  const say = (words, live) => {
    for (const place of document.querySelectorAll("[data-live-state]")) {
      place.hidden = false;
      if (place.textContent !== words) place.textContent = words;
      place.classList.toggle("on", live);
    }
  };
  const isLive = () => socket?.readyState === WebSocket.OPEN && Date.now() - heardAt < SILENCE_MS;
  // By its address, which a page that answered a form does not have: a reload would send the form once more.
  const loadAgain = () => location.replace(location.pathname);

  const stop = (words, act) => {
    if (over) return;
    over = true;
    socket?.close();
    say("No more updates", false);
    const link = Object.assign(document.createElement("a"), { href: location.pathname, textContent: act });
    document.querySelector("[data-live-over]")?.replaceChildren(words, " ", link);
  };
  const signedOut = () => stop("You are signed out. What you write stays in this window.", "Sign in again");

  /** A request that was led elsewhere came to the sign-in page. */
  const ask = async (address, headers = {}) => {
    try {
      const answer = await fetch(address, { headers, signal: AbortSignal.timeout(POLL_MS) });
      return { status: answer.redirected ? 401 : answer.status, text: await answer.text() };
    } catch {
      return NO_ANSWER;
    }
  };

  const parsed = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html.trim();
    return template.content.firstElementChild;
  };

  const put = ({ id, html, into, at }) => {
    const fresh = parsed(html), old = document.getElementById(id);
    if (!fresh || old?.isEqualNode(fresh)) return;
    if (old?.dataset.keep && old.dataset.keep === fresh.dataset.keep) return;
    if (old) {
      const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
      old.replaceWith(fresh);
      if (focused) document.getElementById(focused)?.focus();
    } else if (into && document.getElementById(into)) {
      document.getElementById(into)[at === "end" ? "append" : "prepend"](fresh);
      fresh.classList.add("arrived");
    } else return;
    if (fresh.dataset.fetch) fetchPart(fresh);
  };

  const fetchPart = async (place) => {
    if (over || !place.isConnected) return;
    const { status, text } = await ask(place.dataset.fetch, { "X-Part": "1" });
    if (!place.isConnected) return;
    if (status === 401 || status === 404) return signedOut();
    const part = status === 200 ? parsed(text) : null;
    if (part?.id !== place.id) {
      place.querySelector("[data-late]")?.removeAttribute("hidden");
      setTimeout(fetchPart, PART_WAIT_MS, place);
      return;
    }
    place.replaceWith(part);
    document.dispatchEvent(new CustomEvent("live:part", { detail: part }));
  };

  const filling = () =>
    [...document.querySelectorAll("textarea:not([readonly])")].some((field) => field.value !== field.defaultValue) ||
    document.querySelector("[data-photo-list] li") !== null;

  const show = (frame) => {
    if (frame.reload) return filling() ? stop("There is news. When you have finished writing:", "Reload the page") : loadAgain();
    if (frame.rev <= rev) return; // an answer to a poll that the socket overtook
    frame.fragments.forEach(put);
    rev = frame.rev;
    if (frame.fragments.length) document.dispatchEvent(new CustomEvent("live:news", { detail: frame }));
  };

  const poll = async () => {
    if (over || isLive() || document.hidden) return;
    const { status, text } = await ask(`${root.dataset.livePoll}?rev=${rev}`);
    if (over) return;
    if (status === 401 || status === 404) return signedOut();
    if (status === 200) show(JSON.parse(text));
    if (!over && !isLive()) say(status === 200 ? "Updates every 20 seconds" : "No connection, trying again", false);
  };

  const connect = () => {
    if (over || (socket && socket.readyState < WebSocket.CLOSING)) return;
    clearTimeout(retry);
    const opened = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${root.dataset.liveSocket}`);
    socket = opened;
    opened.onopen = () => {
      heardAt = Date.now();
      opened.send(JSON.stringify({ type: "hello", rev }));
    };
    opened.onmessage = (message) => {
      heardAt = Date.now();
      tries = 0;
      const frame = JSON.parse(message.data);
      if (frame.type === "news") show(frame);
      if (!over && frame.type !== "error") say("Live", true);
    };
    opened.onclose = (closed) => {
      if (opened !== socket || over) return;
      if (closed.code === 4401 || closed.code === 4404) return signedOut();
      const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries++) * (0.7 + 0.6 * Math.random());
      retry = setTimeout(connect, wait);
      poll();
    };
  };

  const lookAgain = () => {
    connect();
    poll();
  };

  setInterval(() => {
    if (over) return;
    if (socket?.readyState === WebSocket.OPEN && !isLive()) socket.close();
    poll();
  }, POLL_MS);
  addEventListener("online", connect);
  addEventListener("pageshow", ({ persisted }) => { if (persisted) lookAgain(); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) lookAgain(); });
  connect();
})();
