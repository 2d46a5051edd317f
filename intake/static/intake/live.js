// Keeps a page up to date by a websocket, and by asking every 20 seconds while there is none.
//
// Reads from the element with [data-live-socket]: the socket's path, [data-live-poll]: the address that answers with
// the same frames over HTTP, [data-live-rev]: the rev the page shows. [data-live-state] is told in words whether the
// page is live. A fragment replaces the element with its id; without one it goes to the start or end of `into`. An
// element whose [data-keep] is the same in old and new stays as it is (a form somebody may be typing in). A fragment
// with [data-fetch] is an announcement: its address is fetched and put in its place. After each change the document
// gets the event "live:news" with the frame as its detail.
"use strict";
(() => {
  const root = document.querySelector("[data-live-socket]");
  if (!root) return;
  const POLL_MS = 20000, SILENCE_MS = 45000, FIRST_WAIT_MS = 1000, LONGEST_WAIT_MS = 30000;
  let rev = Number(root.dataset.liveRev), socket = null, tries = 0, heardAt = 0, retry = 0, over = false;

  const say = (words, live) => {
    for (const place of document.querySelectorAll("[data-live-state]")) {
      place.hidden = false;
      if (place.textContent !== words) place.textContent = words;
      place.classList.toggle("on", live);
    }
  };
  const isLive = () => socket?.readyState === WebSocket.OPEN && Date.now() - heardAt < SILENCE_MS;
  const stop = (words) => { over = true; socket?.close(); say(words, false); };

  const parsed = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html.trim();
    return template.content.firstElementChild;
  };

  const put = ({ id, html, into, at }) => {
    const fresh = parsed(html), old = document.getElementById(id);
    if (!fresh) return;
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
    const answer = await fetch(place.dataset.fetch, { headers: { "X-Part": "1" } }).catch(() => null);
    if (!answer?.ok || answer.redirected) return;
    const part = parsed(await answer.text());
    if (!part || !place.isConnected) return;
    place.replaceWith(part);
    document.dispatchEvent(new CustomEvent("live:part", { detail: part }));
  };

  const typing = () => [...document.querySelectorAll("textarea")].some((field) => field.value !== field.defaultValue);

  const show = (frame) => {
    if (frame.reload) {
      if (typing()) return stop("There is news. Reload when you have finished writing.");
      return location.reload();
    }
    frame.fragments.forEach(put);
    rev = frame.rev;
    if (frame.fragments.length) document.dispatchEvent(new CustomEvent("live:news", { detail: frame }));
  };

  const poll = async () => {
    if (over || isLive() || document.hidden) return;
    const answer = await fetch(`${root.dataset.livePoll}?rev=${rev}`).catch(() => null);
    if (answer?.status === 401 || answer?.status === 404) return stop("You are signed out. Reload the page.");
    if (answer?.ok) show(await answer.json());
    if (!isLive()) say(answer?.ok ? "Updates every 20 seconds" : "No connection, trying again", false);
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
      if (closed.code === 4401 || closed.code === 4404) return stop("You are signed out. Reload the page.");
      const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries++) * (0.7 + 0.6 * Math.random());
      retry = setTimeout(connect, wait);
      poll();
    };
  };

  setInterval(() => {
    if (over) return;
    if (socket?.readyState === WebSocket.OPEN && !isLive()) socket.close();
    poll();
  }, POLL_MS);
  addEventListener("online", connect);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) { connect(); poll(); } });
  connect();
})();
