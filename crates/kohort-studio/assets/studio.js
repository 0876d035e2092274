// Makes the pages of the studio smoother. Every page works without it, except that files cannot be dropped.

/** Replaces the content of the page by that of a response, and keeps the focus where it was. */
async function show(response) {
  const document_ = new DOMParser().parseFromString(await response.text(), "text/html");
  const main = document_.querySelector("main");
  const focused = document.activeElement?.id;
  document.querySelector("main").replaceWith(main);
  document.title = document_.title;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  prepare(main);
}

/** Follows work in the background until it ends. */
function follow(part) {
  const look = async () => {
    if (!part.isConnected) return;
    try {
      const response = await fetch(part.dataset.follow);
      const next = response.headers.get("kohort-next");
      if (next) return location.replace(next);
      const html = await response.text();
      if (html !== part.dataset.last) {
        const focus = part.contains(document.activeElement);
        part.innerHTML = html;
        part.dataset.last = html;
        if (focus) part.querySelector("button, a")?.focus();
      }
      if (!part.querySelector("progress")) return;
    } catch {
      part.innerHTML = "<p role=\"alert\" class=\"warning\">The studio does not answer. If it was closed, start it again: your work is saved.</p>";
      return;
    }
    setTimeout(look, 300);
  };
  look();
}

/** Saves a row as soon as its choice changes; a reason is asked for first where one is needed. */
function saveOnChange(form) {
  const role = form.elements.role, reason = form.elements.reason;
  const label = form.querySelector(`label[for="${reason.id}"]`);
  const adapt = () => {
    const needed = role.value === "other";
    reason.hidden = label.hidden = !needed;
    reason.required = needed;
  };
  adapt();
  form.addEventListener("change", () => {
    adapt();
    if (form.reportValidity()) form.requestSubmit();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await show(await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) }));
  });
}

/** Cut points can be dragged, or moved with the arrow keys. */
function draggable(list) {
  const form = list.form;
  const box = document.createElement("div");
  box.className = "cutter";
  list.after(box);
  const draw = () => {
    const from = Number(form.elements.from.value), to = Number(form.elements.to.value);
    const cuts = list.value.split(/[\s,;]+/).filter(Boolean).map(Number);
    box.replaceChildren();
    if (!(from < to) || cuts.some(Number.isNaN)) return;
    cuts.forEach((cut, i) => {
      const range = document.createElement("input");
      Object.assign(range, { type: "range", min: from, max: to, step: Number.isInteger(from) && Number.isInteger(to) ? 1 : "any", value: cut });
      range.setAttribute("aria-label", `Cut point ${i + 1}`);
      range.addEventListener("input", () => {
        cuts[i] = Number(range.value);
        list.value = [...cuts].sort((a, b) => a - b).join(", ");
      });
      box.append(range);
    });
  };
  list.addEventListener("change", draw);
  draw();
}

/** All files below what was dropped, with their paths. */
async function filesOf(items) {
  const found = [];
  const walk = async (entry, path) => {
    if (entry.isFile) {
      found.push([path + entry.name, await new Promise((done, fail) => entry.file(done, fail))]);
    } else {
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((done, fail) => reader.readEntries(done, fail));
        if (!some.length) break;
        for (const inner of some) await walk(inner, `${path}${entry.name}/`);
      }
    }
  };
  for (const entry of [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean)) await walk(entry, "");
  return found;
}

/** Sends files to the folder. Their names are in a header, since addresses are remembered. */
function droppable(box) {
  const status = document.createElement("p");
  status.setAttribute("role", "status");
  box.append(status);
  const send = async (files) => {
    if (!files.length) return;
    let first = "";
    for (const [path, file] of files) {
      status.textContent = `Copying ${files.length === 1 ? "the file" : `${files.length} files`} …`;
      const response = await fetch("/upload", { method: "PUT", body: file, headers: { "kohort-name": encodeURIComponent(path).replaceAll("%2F", "/") } });
      const text = await response.text();
      if (!response.ok) {
        status.textContent = text;
        return;
      }
      first ||= text.split("/")[0];
    }
    const release = box.dataset.drop === "release";
    const body = new URLSearchParams(release ? { name: first } : { file: first });
    if (!release && files.length > 1) return location.reload();
    const response = await fetch(release ? "/verify" : "/suggest", { method: "POST", body });
    if (response.ok) location.assign(response.url); else await show(response);
  };
  box.addEventListener("dragover", (event) => { event.preventDefault(); box.classList.add("over"); });
  box.addEventListener("dragleave", () => box.classList.remove("over"));
  box.addEventListener("drop", async (event) => {
    event.preventDefault();
    box.classList.remove("over");
    await send(await filesOf(event.dataTransfer.items));
  });
  box.querySelector("input[type=file]").addEventListener("change", (event) => send([...event.target.files].map((file) => [file.name, file])));
}

function prepare(part) {
  part.querySelectorAll("[data-follow]").forEach(follow);
  part.querySelectorAll("form[data-save]").forEach(saveOnChange);
  part.querySelectorAll("[data-cuts]").forEach(draggable);
  part.querySelectorAll("[data-drop]").forEach(droppable);
}

// A file that misses the box must not replace the page.
for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => event.preventDefault());
prepare(document);
