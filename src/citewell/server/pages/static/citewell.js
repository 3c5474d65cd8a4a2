// Interactive parts of the pages: follow an answer in progress, highlight a claim's quotes and page, send
// feedback, select quotes in review. Text from documents and models enters the page only as text
// (textContent). Everything else works without this file.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const csrf = $('meta[name="csrf"]').content;
const shapes = document.body.dataset.shapes;
const words = $("#live") ? JSON.parse($("#live").dataset.words) : {};
const narrow = matchMedia("(max-width: 56rem)");
const writing = ({ target }) => target.closest && target.closest("input, textarea, select");
document.documentElement.classList.add("js");

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function stateNode(name, extra = "") {
  const node = make("span", `state is-${name}`);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "shape");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `${shapes}#${name}`);
  svg.append(use);
  node.append(svg, make("span", "", words[name] + extra));
  return node;
}

// `undo` is offered next to the text while it is shown.
function tell(text, undo) {
  const box = $("#told");
  box.textContent = text;
  if (undo) {
    const button = make("button", "quiet", "Undo");
    button.addEventListener("click", () => { undo(); box.textContent = ""; });
    box.append(" ", button);
  }
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { box.textContent = ""; }, undo ? 15000 : 6000);
}

function localTimes() {
  for (const one of all("time[datetime]")) {
    const at = new Date(one.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    one.title = one.textContent;
    one.textContent = at.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }
}

// --- claims, their quotes and their pages -------------------------------------------------------------------

// Scrolls a claim's source to the middle of the visible pane; nothing but the pane moves.
function centre(node, panel) {
  if (!node || !panel || (panel.scrollHeight <= panel.clientHeight && panel.scrollWidth <= panel.clientWidth)) return;
  const where = node.getBoundingClientRect();
  const frame = panel.getBoundingClientRect();
  if (where.top < frame.top + 48 || where.bottom > frame.bottom) panel.scrollTop += where.top - frame.top - frame.height / 2;
  const sheet = node.closest(".sheet");
  if (sheet) sheet.scrollLeft += where.left + where.width / 2 - sheet.getBoundingClientRect().left - sheet.clientWidth / 2;
}

// Of a cited row, the value and not the label.
function focal(marks) {
  const seen = marks.filter((one) => one.getClientRects().length);
  const top = (one) => one.getBoundingClientRect().top;
  return seen.findLast((one) => Math.abs(top(one) - top(seen[0])) < 8);
}

function light(number) {
  for (const node of all(".lit")) node.classList.remove("lit");
  if (!number) return;
  for (const node of all(`[data-claim="${number}"]`)) node.classList.add("lit");
  const spans = all("[data-claims]").filter((one) => one.dataset.claims.split(" ").includes(number));
  for (const span of spans) span.classList.add("lit");
  centre(focal(spans), $(".sources"));
}

function lighting(within) {
  for (const node of all("[data-claim]", within)) {
    for (const kind of ["pointerenter", "focusin"]) node.addEventListener(kind, () => light(node.dataset.claim));
  }
  for (const mark of all("[data-claims]", within)) {
    mark.addEventListener("pointerenter", () => light(mark.dataset.claims.split(" ")[0]));
  }
  // A table wider than its container is scrolled to the cited cell.
  for (const rows of all(".rows", within)) {
    const last = all("td mark.span", rows).pop();
    const over = last ? last.getBoundingClientRect().right - rows.getBoundingClientRect().right : 0;
    if (over > 0) rows.scrollLeft += over + 8;
  }
}

// The sources next to an answer, or in a bottom sheet on narrow screens: a claim opens them at its citation.
function panes(answer) {
  const panel = $(".sources", answer);
  const pick = (name) => { const one = $(`input[value="${name}"]`, panel); if (one) one.checked = true; };
  const open = () => panel.classList.toggle("open", narrow.matches);
  const claims = all(".text .claim", answer);
  if (narrow.matches) pick("printed");
  for (const claim of claims) {
    claim.addEventListener("click", (event) => {
      event.preventDefault();
      if ($('input[value="all"]', panel).checked) pick("words");
      open();
      light(claim.dataset.claim);
    });
    claim.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const next = step && claims[claims.indexOf(claim) + step];
      if (next) { event.preventDefault(); next.focus(); }
    });
  }
  for (const chip of all(".chip", answer)) {
    chip.addEventListener("click", (event) => {
      event.preventDefault();
      pick("words");
      open();
      centre($(chip.getAttribute("href")), panel);
    });
  }
  const close = () => { panel.classList.remove("open"); const lit = $(".claim.lit"); if (lit) lit.focus(); };
  $(".close", panel).addEventListener("click", close);
  addEventListener("keydown", ({ key }) => { if (key === "Escape" && panel.classList.contains("open")) close(); });
  panel.addEventListener("change", () => { const lit = $(".claim.lit"); if (lit) light(lit.dataset.claim); });
}

// --- signals: what was done with an answer ---------------------------------------------------------------

function signal(body) {
  return fetch("/v1/feedback", {
    method: "POST",
    keepalive: true,
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
    body: JSON.stringify(body),
  }).catch(() => undefined);
}

function watch(answer) {
  const request_id = answer.dataset.request;
  answer.addEventListener("copy", () => signal({ request_id, signal: "copied" }));
  answer.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-opens], a.claim");
    if (!link) return;
    const claim = Number(link.dataset.opens || link.dataset.claim);
    signal({ request_id, signal: "citation_opened", claim });
  });
}

async function judge(event) {
  event.preventDefault();
  const form = event.target;
  const body = new FormData(form, event.submitter);
  const reply = await fetch(form.action, { method: "POST", body, redirect: "manual" }).catch(() => null);
  if (reply && (reply.ok || reply.type === "opaqueredirect")) {
    if (event.submitter && event.submitter.classList.contains("icon")) {
      for (const button of all("button", form)) button.setAttribute("aria-pressed", button === event.submitter);
    } else {
      const said = make("blockquote", "said-by", body.get("reason"));
      for (const old of all(".said-by", form.parentElement)) old.remove();
      form.before(said);
      form.reset();
    }
    tell("Thank you. Your feedback was saved for review.");
  } else {
    tell("Your feedback could not be saved. Try again.");
  }
}

// --- asking ----------------------------------------------------------------------------------------------

function trouble(title, hint) {
  for (const old of all(".notice[role=alert]")) old.remove();
  const box = make("div", "notice bad");
  box.setAttribute("role", "alert");
  const line = make("p");
  line.append(make("strong", "", title));
  box.append(line);
  if (hint) box.append(make("p", "", hint));
  ($("#live") || $("#ask")).before(box);
}

// Submits the question and opens its page at once, so that a user who leaves can return to it.
async function ask(event) {
  event.preventDefault();
  const form = event.target;
  const button = $("button.main", form);
  const fields = Object.fromEntries(new FormData(form));
  if (!fields.question.trim() || button.disabled) return;
  button.disabled = true;
  const body = { question: fields.question, stream: true };
  for (const name of ["session_id", "document", "since", "tag"]) if (fields[name]) body[name] = fields[name];
  const line = new AbortController();
  const headers = { "Content-Type": "application/json", Accept: "text/event-stream", "X-CSRF-Token": csrf };
  try {
    const reply = await fetch("/v1/ask", { method: "POST", headers, body: JSON.stringify(body), signal: line.signal });
    if (reply.status === 401) { location.assign("/login"); return; }
    if (!reply.ok) throw await reply.json();
    line.abort();
    location.assign(`/answers/${reply.headers.get("X-Request-Id")}`);
  } catch (problem) {
    trouble(problem.title || "The server cannot be reached.", problem.hint || "Check the connection and ask again.");
  } finally {
    button.disabled = false;
  }
}

function nameOf(claim) {
  if (!claim) return "provisional";
  const { status, proof } = claim.verdict;
  if (status !== "VERIFIED") return status.toLowerCase();
  if (claim.kind === "inference" && proof !== "computed") return "inference";
  return proof || "entailed";
}

function readByOcr(claim) {
  const boxes = (claim ? claim.citations : []).flatMap((one) => one.boxes);
  return boxes.some((box) => box.confidence !== undefined) ? ", read by OCR" : "";
}

class Live {
  constructor(box) {
    this.box = box;
    this.list = $(".claims", box);
    this.items = new Map();
    this.began = performance.now() - Number(box.dataset.elapsed);
    this.stage = 0; // when the stage began, in ms from the start
    this.clock = setInterval(() => this.tick(), 250);
  }

  hear(kind, data) {
    if (kind === "stage") {
      this.say(`${data.text}…`, data.elapsed_ms);
    } else if (kind === "search_results") {
      this.candidates(data.passages);
    } else if (kind === "claim") {
      if (this.items.has(data.number)) return;
      const item = make("li", "is-provisional");
      item.append(make("p", "verdict"), make("p", "words", data.text));
      item.firstChild.append(stateNode("provisional"));
      this.items.set(data.number, item);
      this.list.append(item);
    } else if (kind === "verdict") {
      this.state(data.number, nameOf(data.claim), readByOcr(data.claim) + (data.final ? "" : " so far"));
    } else if (kind === "correction") {
      const item = this.state(data.number, "withdrawn", data.reason ? `: ${data.reason}` : "");
      if (item) item.classList.add("gone");
    } else if (kind === "decision") {
      this.say("Recorded in the log. Opening the answer…");
    }
  }

  // Completed stages stay listed, with the time they took.
  say(text, at = performance.now() - this.began) {
    const took = (Math.max(at - this.stage, 0) / 1000).toFixed(1);
    const doing = $(".doing", this.box);
    const done = make("li", "", doing.textContent.replace("…", ""));
    done.append(" ", make("small", "", `${took} s`));
    $(".did", this.box).append(done);
    doing.textContent = text;
    this.stage = at;
    this.tick();
  }

  tick() {
    const claims = this.items.size ? `, ${this.items.size} ${this.items.size === 1 ? "claim" : "claims"} so far` : "";
    $(".clock", this.box).textContent = `${((performance.now() - this.began) / 1000).toFixed(1)} s${claims}`;
  }

  candidates(passages) {
    const box = $(".candidates", this.box);
    box.replaceChildren(make("h2", "", `Reading ${passages.length} ${passages.length === 1 ? "passage" : "passages"}`));
    for (const { chunk, relevance } of passages) {
      const page = chunk.page ? `, page ${chunk.page}` : "";
      const item = make("details");
      const said = relevance === null ? "" : ` · relevance ${relevance.toFixed(2)}`;
      item.append(make("summary", "", `${chunk.title || chunk.document_id}${page}${said}`), make("p", "seen", chunk.content));
      box.append(item);
    }
  }

  state(number, name, extra) {
    const item = this.items.get(number);
    if (!item) return null;
    item.className = `is-${name}`;
    $(".verdict", item).replaceChildren(stateNode(name, extra));
    return item;
  }
}

// The browser itself resumes a broken connection where it broke.
function follow(box) {
  const live = new Live(box);
  const line = new EventSource(`/v1/ask/${box.dataset.request}/events`);
  for (const kind of ["stage", "search_results", "claim", "verdict", "correction", "decision"]) {
    line.addEventListener(kind, (event) => live.hear(kind, JSON.parse(event.data)));
  }
  line.addEventListener("done", () => { line.close(); location.reload(); });
  line.addEventListener("error", (event) => {
    if (event.data) {
      const problem = JSON.parse(event.data);
      line.close();
      clearInterval(live.clock);
      box.hidden = true;
      trouble(problem.title, problem.hint);
    } else if (line.readyState === EventSource.CLOSED) {
      location.reload();
    } else {
      $(".doing", box).textContent = "The connection was lost. Reconnecting…";
    }
  });
}

// --- review: text selected in a source becomes a span of the case ----------------------------------------

function taking() {
  const button = $("#take");
  const rows = $("#spans");
  const blank = $(".span-row", rows).cloneNode(true);
  const selected = () => {
    const chosen = getSelection();
    const node = chosen.anchorNode;
    const place = node && (node.nodeType === 1 ? node : node.parentElement).closest("[data-document]");
    const text = chosen.toString().trim();
    return place && text ? { name: place.dataset.document, text, where: chosen.getRangeAt(0).getBoundingClientRect() } : null;
  };
  const fresh = () => {
    const row = blank.cloneNode(true);
    for (const field of all("input, textarea", row)) field.value = "";
    rows.append(row);
    return row;
  };
  const place = () => {
    const found = selected();
    button.hidden = !found;
    if (!found) return;
    button.style.top = `${Math.min(Math.max(found.where.bottom + 6, 8), innerHeight - 48)}px`;
    button.style.left = `${Math.min(Math.max(found.where.left, 8), innerWidth - 220)}px`;
  };
  for (const kind of ["selectionchange", "scroll"]) document.addEventListener(kind, place, true);
  button.addEventListener("pointerdown", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    const found = selected();
    if (!found) return;
    const row = all(".span-row", rows).find((one) => !$("textarea", one).value.trim()) || fresh();
    $("input", row).value = found.name;
    $("textarea", row).value = found.text;
    getSelection().removeAllRanges();
    tell("Added to the case.", () => row.remove());
  });
  rows.addEventListener("click", ({ target }) => {
    const row = target.closest(".remove") && target.closest(".span-row");
    if (!row) return;
    const next = row.nextSibling;
    row.remove();
    tell("Removed.", () => rows.insertBefore(row, next));
  });
  $("#more").addEventListener("click", () => $("textarea", fresh()).focus());
  addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    $("#accept").requestSubmit();
  });
}

// --- begin -----------------------------------------------------------------------------------------------

// j and k step through lists of records, stages and cases.
function steps() {
  const found = all("[data-step]");
  if (!found.length) return;
  let last = -1;
  addEventListener("keydown", (event) => {
    if (writing(event) || event.ctrlKey || event.metaKey || !["j", "k"].includes(event.key)) return;
    const focused = found.indexOf(document.activeElement);
    const at = focused < 0 ? last : focused; // following a link within the page takes the focus from it
    const next = found[event.key === "j" ? at + 1 : Math.max(at - 1, 0)];
    if (!next) return;
    last = found.indexOf(next);
    if (next.dataset.step === "go") next.click();
    next.focus();
  });
}

// The stage of a record that is shown is marked in the list of stages.
function stages() {
  const links = all('[data-step="go"]');
  const mark = () => {
    for (const one of links) {
      if (one.hash === (location.hash || "#all")) one.setAttribute("aria-current", "true");
      else one.removeAttribute("aria-current");
    }
  };
  addEventListener("hashchange", mark);
  mark();
}

// Uploads with a progress bar. The page that comes back replaces this one.
function uploads() {
  for (const form of all("form[data-busy]")) form.addEventListener("submit", (event) => {
    event.preventDefault();
    const line = make("p", "sending");
    const bar = make("progress");
    const said = make("span", "", "Uploading…");
    const clock = make("small");
    bar.max = 1;
    bar.setAttribute("aria-label", "Upload");
    said.setAttribute("role", "status");
    line.append(bar, said, " ", clock);
    form.append(line);
    const body = new FormData(form);
    const began = Date.now();
    const ticking = setInterval(() => { clock.textContent = `${Math.round((Date.now() - began) / 1000)} s`; }, 500);
    const button = $("button.main", form);
    button.disabled = true;
    const send = new XMLHttpRequest();
    send.upload.addEventListener("progress", ({ loaded, total }) => {
      bar.value = loaded / total;
      if (loaded < total) return;
      bar.removeAttribute("value");
      said.textContent = form.dataset.busy;
    });
    send.addEventListener("load", () => {
      clearInterval(ticking);
      const page = new DOMParser().parseFromString(send.responseText, "text/html");
      $("main").replaceWith($("main", page));
      history.replaceState(null, "", send.responseURL);
      localTimes();
      uploads();
      $("main").focus();
    });
    send.addEventListener("error", () => {
      clearInterval(ticking);
      line.remove();
      button.disabled = false;
      tell("The files could not be sent. Check the connection and try again.");
    });
    send.open("POST", form.action);
    send.setRequestHeader("Accept", "text/html");
    send.send(body);
  });
}

// A printed page is too small to read at the width of a phone.
if (narrow.matches) for (const one of all('[name="zoom"][value="3"]')) one.checked = true;
if (location.hash === "#marks" && $("#marks")) $("#marks").open = true;
localTimes();
steps();
const form = $("#ask");
if (form) {
  form.addEventListener("submit", ask);
  $("#question").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
}
if ($("#live")) follow($("#live"));
const shown = $("#answer");
if (shown) {
  lighting(shown);
  panes(shown);
  watch(shown);
  for (const one of all("form[data-feedback]", shown)) one.addEventListener("submit", judge);
}
if ($("#take")) taking();
for (const image of all(".sheet img")) {
  const lost = () => { $(".lost", image.closest("figure")).hidden = false; image.parentElement.hidden = true; };
  if (image.complete && image.getAttribute("loading") !== "lazy" && !image.naturalWidth) lost();
  else image.addEventListener("error", lost);
}
const paper = $(".paper");
if (paper) {
  const mark = $("mark.span");
  if (mark && !narrow.matches) mark.scrollIntoView({ block: "center" });
  const show = () => centre(focal(all(".over rect", paper)), paper);
  paper.addEventListener("change", show);
  show();
  // The address names the cited place, to which the browser scrolls the page while it loads.
  addEventListener("load", () => requestAnimationFrame(() => {
    if (narrow.matches) scrollTo(0, 0);
    show();
  }));
}
uploads();
stages();
const every = $("#every");
if (every) every.addEventListener("change", () => { for (const one of all('[name="chosen"]')) one.checked = every.checked; });
