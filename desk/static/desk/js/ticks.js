// Keeps spans of time true while the page stands open: a <time data-ticks="Waiting {}"> tells how far its moment is.
(() => {
  "use strict";
  const PACE = 15_000;
  const MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
  const two = (large, one, small, other) => (small ? `${large} ${one} ${small} ${other}` : `${large} ${one}`);

  function shortSpan(seconds) {
    if (seconds < MINUTE) return `${seconds} s`;
    if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
    if (seconds < DAY) return two(Math.floor(seconds / HOUR), "h", Math.floor((seconds % HOUR) / MINUTE), "min");
    return two(Math.floor(seconds / DAY), "d", Math.floor((seconds % DAY) / HOUR), "h");
  }

  function tick() {
    if (document.hidden) return;
    for (const place of document.querySelectorAll("time[data-ticks]")) {
      const seconds = Math.floor((Date.now() - Date.parse(place.dateTime)) / 1000);
      const ahead = place.dataset.ticks.startsWith("in ");
      const words = ahead && seconds >= 0 ? "now" : place.dataset.ticks.replace("{}", shortSpan(Math.abs(seconds)));
      if (place.textContent !== words) place.textContent = words;
    }
  }

  window.setInterval(tick, PACE);
  document.addEventListener("visibilitychange", tick);
})();
