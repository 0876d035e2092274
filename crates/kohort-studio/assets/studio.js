// Makes the pages of the studio smoother. Every page works without it, except that files cannot be dropped.

/** The document of a response. */
const parsed = async (response) => new DOMParser().parseFromString(await response.text(), "text/html");

/** Replaces the content of the page by that of a document, and keeps the focus where it was. */
function show(document_) {
  const main = document_.querySelector("main");
  const focused = document.activeElement?.id;
  document.querySelector("main").replaceWith(main);
  document.title = document_.title;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  prepare(main);
}

/** A sentence that is read out at once. */
function alertOf(text) {
  const alert = document.createElement("p");
  alert.setAttribute("role", "alert");
  alert.className = "warning";
  alert.textContent = text;
  return alert;
}

const SILENT = "The studio does not answer. If it was closed, start it again: your work is saved.";

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
      part.replaceChildren(alertOf(SILENT));
      return;
    }
    setTimeout(look, 300);
  };
  look();
}

/** Asks for a reason only where the role needs one. */
function reasonWhereNeeded(form) {
  const role = form.elements.role, reason = form.elements.reason;
  const label = form.querySelector(`label[for="${reason.id}"]`);
  const adapt = () => {
    const needed = role.value === "other";
    reason.hidden = label.hidden = !needed;
    reason.required = needed;
  };
  adapt();
  return adapt;
}

/** Saves a row as soon as its choice changes; a reason is asked for first where one is needed. */
function saveOnChange(form) {
  const adapt = reasonWhereNeeded(form);
  form.addEventListener("change", () => {
    adapt();
    if (form.reportValidity()) form.requestSubmit();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    form.querySelector("[role=alert]")?.remove();
    try {
      const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      const document_ = await parsed(response);
      // A question takes the whole page; a mistake is explained where it was made.
      if (response.ok || response.status === 409) return show(document_);
      form.append(alertOf(document_.querySelector("[role=alert]")?.textContent ?? "This was not saved."));
    } catch {
      form.append(alertOf(SILENT));
    }
  });
}

/** Cut points on a histogram: dragged, moved with the arrow keys, added and removed. The field of the form has them too. */
function cutter(box) {
  const form = box.closest("form"), list = form.querySelector("[data-cuts]");
  const svg = box.querySelector("svg"), layer = svg.querySelector(".cuts");
  const from = Number(box.dataset.from), to = Number(box.dataset.to);
  const heights = box.dataset.heights.split(",").map(Number);
  const step = Number.isInteger(from) && Number.isInteger(to) && to - from >= 10 ? 1 : (to - from) / 100;
  const tidy = (number) => Number((Math.round(number / step) * step).toFixed(6));
  const make = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const cutsOf = () => list.value.split(/[\s,;]+/).filter(Boolean).map(Number).filter((cut) => !Number.isNaN(cut));
  const x = (cut) => ((cut - from) / (to - from)) * 600;
  const under = document.createElement("div");
  const counts = document.createElement("ol");
  counts.className = "between";
  counts.setAttribute("aria-label", "Records between the cut points");
  const more = document.createElement("button");
  Object.assign(more, { type: "button", className: "quiet", textContent: "Add a cut point" });
  under.append(more, counts);
  box.append(under);

  /** About how many records are between two numbers. */
  const records = (low, high) => {
    const wide = (to - from) / heights.length;
    return Math.round(heights.reduce((sum, height, i) => {
      const start = from + i * wide;
      return sum + height * Math.max(0, Math.min(high, start + wide) - Math.max(low, start)) / wide;
    }, 0));
  };
  const tell = (cuts) => {
    const edges = [from, ...[...cuts].sort((a, b) => a - b).filter((cut) => cut > from && cut < to), to];
    counts.replaceChildren(...edges.slice(1).map((edge, i) => {
      const item = document.createElement("li");
      item.textContent = `${tidy(edges[i])} to ${tidy(edge)}: about ${records(edges[i], edge).toLocaleString("en")} records`;
      return item;
    }));
  };
  const write = (cuts) => {
    list.value = [...cuts].sort((a, b) => a - b).join(", ");
    tell(cuts);
  };
  const draw = () => {
    const cuts = cutsOf();
    layer.replaceChildren();
    tell(cuts);
    cuts.forEach((_, i) => {
      const handle = make("g", { class: "cut", role: "slider", tabindex: "0", "aria-label": `Cut point ${i + 1}`, "aria-valuemin": from, "aria-valuemax": to });
      const line = make("line", { y1: 16, y2: 122 }), grip = make("circle", { r: 8, cy: 122 });
      const text = make("text", { y: 12, "text-anchor": "middle", class: "axis" });
      handle.append(line, grip, text);
      const place = () => {
        for (const end of ["x1", "x2"]) line.setAttribute(end, x(cuts[i]));
        grip.setAttribute("cx", x(cuts[i]));
        text.setAttribute("x", Math.min(585, Math.max(15, x(cuts[i]))));
        text.textContent = cuts[i];
        handle.setAttribute("aria-valuenow", cuts[i]);
      };
      const move = (cut) => {
        cuts[i] = Math.min(to, Math.max(from, tidy(cut)));
        place();
        write(cuts);
      };
      place();
      handle.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        handle.focus();
        handle.setPointerCapture(event.pointerId);
      });
      handle.addEventListener("pointermove", (event) => {
        if (!handle.hasPointerCapture(event.pointerId)) return;
        const area = svg.getBoundingClientRect();
        move(from + ((event.clientX - area.left) / area.width) * (to - from));
      });
      handle.addEventListener("keydown", (event) => {
        const moves = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step, PageDown: -10 * step, PageUp: 10 * step };
        if (event.key in moves) move(cuts[i] + moves[event.key]);
        else if (event.key === "Home") move(from);
        else if (event.key === "End") move(to);
        else if (event.key === "Delete" || event.key === "Backspace") {
          cuts.splice(i, 1);
          write(cuts);
          draw();
          (layer.querySelector(".cut") ?? more).focus();
        } else return;
        event.preventDefault();
      });
      layer.append(handle);
    });
  };
  more.addEventListener("click", () => {
    // The new point halves the interval with most records.
    const edges = [from, ...cutsOf().sort((a, b) => a - b), to];
    const pairs = edges.slice(1).map((edge, i) => [edges[i], edge]).sort((a, b) => records(...b) - records(...a));
    const [low, high] = pairs[0];
    write([...cutsOf(), tidy((low + high) / 2)]);
    draw();
    const cuts = cutsOf();
    [...layer.querySelectorAll(".cut")][cuts.indexOf(tidy((low + high) / 2))]?.focus();
  });
  list.addEventListener("change", draw);
  draw();
}

/** All files below what was dropped, with their paths. Hidden files stay behind. */
async function filesOf(items) {
  const found = [];
  const walk = async (entry, path) => {
    if (entry.name.startsWith(".")) return;
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
  // What was dropped is gone after the first wait: everything is taken out of it before.
  const dropped = [...items].map((item) => [item.webkitGetAsEntry?.(), item.getAsFile?.()]);
  for (const [entry, file] of dropped) {
    if (entry) await walk(entry, "");
    else if (file) found.push([file.name, file]);
  }
  return found;
}

/** Sends files to the folder. Their names are in a header, since addresses are remembered. */
function droppable(box) {
  const status = document.createElement("p");
  status.setAttribute("role", "status");
  box.append(status);
  const send = async (files) => {
    if (!files.length) return;
    const drop = crypto.randomUUID(), names = [];
    for (const [i, [path, file]] of files.entries()) {
      status.textContent = files.length === 1 ? "Copying the file …" : `Copying file ${i + 1} of ${files.length} …`;
      const headers = { "kohort-name": encodeURIComponent(path).replaceAll("%2F", "/"), "kohort-drop": drop };
      let response;
      try {
        response = await fetch("/upload", { method: "PUT", body: file, headers });
      } catch {
        status.textContent = "The file was not copied. The studio does not answer, or the disk is full. Nothing else was changed.";
        return;
      }
      const text = await response.text();
      if (!response.ok) {
        status.textContent = text;
        return;
      }
      const name = text.split("/")[0];
      if (!names.includes(name)) names.push(name);
    }
    status.textContent = "";
    if (box.dataset.drop === "hierarchy") {
      const form = box.closest("form");
      let field = form.elements.file;
      if (!field) {
        field = Object.assign(document.createElement("input"), { type: "hidden", name: "file" });
        form.append(field);
      }
      if (field.options) field.add(new Option(names[0], names[0], true, true));
      field.value = names[0];
      return form.requestSubmit();
    }
    const release = box.dataset.drop === "release";
    const body = new URLSearchParams(release ? [["name", names[0]]] : names.map((name) => ["file", name]));
    const response = await fetch(release ? "/verify" : "/suggest", { method: "POST", body });
    if (response.ok) location.assign(response.url); else show(await parsed(response));
  };
  box.addEventListener("dragover", (event) => { event.preventDefault(); box.classList.add("over"); });
  box.addEventListener("dragleave", () => box.classList.remove("over"));
  box.addEventListener("drop", async (event) => {
    event.preventDefault();
    box.classList.remove("over");
    await send(await filesOf(event.dataTransfer.items));
  });
  box.querySelectorAll("input[type=file]").forEach((input) => input.addEventListener("change", () => {
    const files = [...input.files].map((file) => [file.webkitRelativePath || file.name, file]);
    send(files.filter(([path]) => !path.split("/").some((part) => part.startsWith("."))));
  }));
}

/** Shows only the columns whose name holds the text. */
function filter(field) {
  const rows = [...document.querySelectorAll(".columns > li")];
  field.addEventListener("input", () => {
    const text = field.value.toLowerCase();
    for (const row of rows) row.hidden = !row.querySelector("h3").textContent.toLowerCase().includes(text);
  });
}

/** Ticks all columns that are shown. */
function ticker(button) {
  button.hidden = false;
  button.addEventListener("click", () => document.querySelectorAll(".columns > li:not([hidden]) .named input").forEach((box) => (box.checked = true)));
}

/** Gives one role to all ticked columns: the form has a reason only where one is needed. */
function several(form) {
  form.addEventListener("change", reasonWhereNeeded(form));
}

/** A dot of the picture looks closer at its setting. */
function dot(link) {
  const form = document.getElementById(link.getAttribute("href").replace("#setting-", "look-"));
  if (form) link.addEventListener("click", (event) => { event.preventDefault(); form.requestSubmit(); });
}

/** A form is sent once, however often its button is pressed. */
function once(form) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
    setTimeout(() => delete form.dataset.sent, 1000);
  });
}

function prepare(part) {
  part.querySelectorAll("[data-follow]").forEach(follow);
  part.querySelectorAll("form[data-save]").forEach(saveOnChange);
  part.querySelectorAll("form:not([data-save])").forEach(once);
  part.querySelectorAll(".cutter").forEach(cutter);
  part.querySelectorAll("[data-drop]").forEach(droppable);
  part.querySelectorAll("[data-filter]").forEach(filter);
  part.querySelectorAll("[data-tick]").forEach(ticker);
  part.querySelectorAll("form.several").forEach(several);
  part.querySelectorAll("a.dot-link").forEach(dot);
}

document.documentElement.classList.add("js");
// A file that misses the box must not replace the page.
for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => event.preventDefault());
prepare(document);
