// Sends each chosen or dropped photo at once, shows it, and names it in the form; what [data-kept] names is there
// already. After each change the form gets the event "input". Without this script the form sends the files itself.
"use strict";
(() => {
  const MAX_BYTES = 5 * 1024 * 1024, SHRINK_ABOVE = MAX_BYTES - 64 * 1024, SHRINK_TO = 2560;

  const shrunk = async (file) => {
    if (file.size <= SHRINK_ABOVE) return file;
    try {
      const picture = await createImageBitmap(file);
      const scale = Math.min(1, SHRINK_TO / Math.max(picture.width, picture.height));
      const canvas = document.createElement("canvas");
      canvas.width = Math.max(1, Math.round(picture.width * scale));
      canvas.height = Math.max(1, Math.round(picture.height * scale));
      canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
      picture.close();
      const smaller = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.9));
      return smaller ? new File([smaller], file.name, { type: "image/jpeg" }) : file;
    } catch {
      return file; // not a picture this browser reads: the server says what is wrong with it
    }
  };

  const send = async (field, file, signal) => {
    if (file.size > MAX_BYTES) return { message: "The file is larger than 5 MB; send a smaller copy of it." };
    const body = new FormData();
    body.append("file", file);
    const token = field.closest("form").querySelector("[name=csrfmiddlewaretoken]").value;
    try {
      const answer = await fetch(field.dataset.upload, { method: "POST", body, signal, headers: { "X-CSRFToken": token, Accept: "application/json" } });
      if (answer.status === 401) return { message: "You are signed out. Reload the page, sign in, and add it again." };
      return await answer.json();
    } catch {
      return { message: "It could not be sent. Check your connection, remove it and add it again." };
    }
  };

  const prepare = (field) => {
    if (field.dataset.prepared) return;
    field.dataset.prepared = "yes";
    const list = field.querySelector("[data-photo-list]"), drop = field.querySelector("[data-drop]");
    const input = field.querySelector("input[type=file]"), row = field.querySelector("[data-photo-row]");
    const status = field.querySelector("[data-photo-status]"), most = Number(field.dataset.max);
    const form = field.closest("form");
    field.querySelector("[data-drop-words]").hidden = !matchMedia("(pointer: fine)").matches;

    const taken = () => list.querySelectorAll("li:not(.failed)").length;
    const refresh = () => {
      field.classList.toggle("full", taken() >= most);
      const busy = list.querySelector("li.sending") !== null;
      form.querySelectorAll("[type=submit]:not([name])").forEach((button) => { button.disabled = busy; });
    };
    const changed = () => {
      refresh();
      field.dispatchEvent(new Event("input", { bubbles: true }));
    };

    const addRow = (name) => {
      const item = row.content.firstElementChild.cloneNode(true);
      item.querySelector(".photo-name").textContent = name;
      item.querySelector(".hidden-words").textContent = ` ${name}`;
      list.append(item);
      return item;
    };
    const nameIn = (item, id) => {
      item.append(Object.assign(document.createElement("input"), { type: "hidden", name: "photo", value: id }));
      item.querySelector("img").src = `/photos/${id}`;
    };

    const add = async (file) => {
      const item = addRow(file.name), image = item.querySelector("img"), state = item.querySelector(".photo-state");
      const stop = new AbortController();
      item.classList.add("sending");
      item.addEventListener("removed", () => stop.abort());
      state.textContent = "Sending…";
      image.src = URL.createObjectURL(file);
      refresh();
      const answer = await send(field, await shrunk(file), stop.signal);
      URL.revokeObjectURL(image.src);
      if (!item.isConnected) return;
      item.classList.remove("sending");
      if (answer.id) {
        nameIn(item, answer.id);
        state.textContent = "";
        field.querySelectorAll(":scope > .field-error").forEach((error) => error.remove());
        status.textContent = `${file.name} was added.`;
      } else {
        item.classList.add("failed");
        image.removeAttribute("src");
        state.textContent = answer.message ?? "It was not taken. Remove it and add another.";
        status.textContent = `${file.name}: ${state.textContent}`;
      }
      changed();
    };

    const addAll = async (files) => {
      const room = Math.max(0, most - taken()), chosen = [...files];
      status.classList.add("hidden-words");
      await Promise.all(chosen.slice(0, room).map(add));
      if (chosen.length <= room) return;
      status.textContent = `At most ${most} photos fit; the others were left out.`;
      status.classList.remove("hidden-words");
    };

    input.addEventListener("change", () => {
      const files = [...input.files];
      input.value = "";
      addAll(files);
    });
    for (const name of ["dragenter", "dragover"]) {
      drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
    }
    for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
    drop.addEventListener("drop", (event) => { event.preventDefault(); addAll(event.dataTransfer.files); });
    list.addEventListener("click", (event) => {
      const button = event.target.closest("[data-remove]");
      if (!button) return;
      event.preventDefault();
      const item = button.closest("li");
      item.remove();
      item.dispatchEvent(new Event("removed"));
      changed();
      input.focus();
    });
    if (!list.children.length) JSON.parse(field.dataset.kept ?? "[]").forEach(({ id, name }) => nameIn(addRow(name), id));
    refresh();
  };

  const prepareAll = () => document.querySelectorAll("[data-photos]").forEach(prepare);
  prepareAll();
  document.addEventListener("live:part", prepareAll);
})();
