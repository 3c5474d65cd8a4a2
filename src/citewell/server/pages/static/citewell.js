// What the pages do beyond being read: stream an answer, light the span of a claim, send judgements, turn the
// theme. Text from documents and models enters the page as text only (textContent); a finished answer comes as
// the server's own page, parsed as an inert document.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const csrf = $('meta[name="csrf"]').content;
const shapes = document.body.dataset.shapes;
const words = $("#live") ? JSON.parse($("#live").dataset.words) : {};

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

function tell(text) {
  const box = $("#told");
  box.textContent = text;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { box.textContent = ""; }, 6000);
}

// --- theme -----------------------------------------------------------------------------------------------

function theme() {
  const button = $("#theme");
  const root = document.documentElement;
  const dark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { button.textContent = dark() ? "Light theme" : "Dark theme"; };
  button.hidden = false;
  name();
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    document.cookie = `theme=${root.dataset.theme};path=/;max-age=31536000;samesite=strict`;
    name();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
}

// --- claims and their spans ------------------------------------------------------------------------------

function light(number) {
  for (const node of all(".lit")) node.classList.remove("lit");
  if (!number) return;
  for (const node of all(`[data-claim="${number}"]`)) node.classList.add("lit");
  const spans = all("mark.span").filter((mark) => mark.dataset.claims.split(" ").includes(number));
  for (const span of spans) span.classList.add("lit");
  const panel = $(".sources");
  if (!spans.length || !panel || panel.scrollHeight <= panel.clientHeight) return;
  const where = spans[0].getBoundingClientRect();
  const frame = panel.getBoundingClientRect();
  if (where.top < frame.top || where.bottom > frame.bottom) {
    panel.scrollTop += where.top - frame.top - frame.height / 3;
  }
}

function lighting(within) {
  for (const node of all("[data-claim]", within)) {
    for (const kind of ["pointerenter", "focusin"]) {
      node.addEventListener(kind, () => light(node.dataset.claim));
    }
  }
  for (const mark of all("mark.span", within)) {
    mark.addEventListener("pointerenter", () => light(mark.dataset.claims.split(" ")[0]));
  }
  // A table wider than its place begins at the cited cell, not at its first column.
  for (const rows of all(".rows", within)) {
    const last = all("td mark.span", rows).pop();
    const over = last ? last.getBoundingClientRect().right - rows.getBoundingClientRect().right : 0;
    if (over > 0) rows.scrollLeft += over + 8;
  }
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
      form.reset();
      form.closest("details").open = false;
    }
    tell("Thank you. Your feedback was saved for review.");
  } else {
    tell("Your feedback could not be saved. Try again.");
  }
}

// --- asking ----------------------------------------------------------------------------------------------

function nameOf(claim) {
  if (!claim) return "provisional";
  const { status, proof } = claim.verdict;
  if (status !== "VERIFIED") return status.toLowerCase();
  if (claim.kind === "inference" && proof !== "computed") return "inference";
  return proof || "entailed";
}

class Live {
  constructor(question) {
    this.box = $("#live");
    this.list = $(".claims", this.box);
    this.doing = $(".doing", this.box);
    this.items = new Map();
    $(".question", this.box).textContent = question;
    this.began = Date.now();
    this.say("Waiting for a free place…");
    this.clock = setInterval(() => { this.say(this.words); }, 1000);
    this.list.replaceChildren();
    this.box.hidden = false;
  }

  hear(kind, data) {
    if (kind === "stage") {
      this.say(`${data.text}…`);
    } else if (kind === "search_results") {
      const names = [...new Set(data.passages.map((one) => one.chunk.title || one.chunk.document_id))];
      const count = data.passages.length;
      this.say(`Reading ${count} ${count === 1 ? "passage" : "passages"}: ${names.slice(0, 3).join("; ")}${names.length > 3 ? "…" : ""}`);
    } else if (kind === "claim") {
      if (this.items.has(data.number)) return;
      const item = make("li", "is-provisional");
      item.append(make("p", "verdict"), make("p", "words", data.text));
      item.firstChild.append(stateNode("provisional"));
      this.items.set(data.number, item);
      this.list.append(item);
    } else if (kind === "verdict") {
      this.state(data.number, nameOf(data.claim), data.final ? "" : " so far");
    } else if (kind === "correction") {
      const item = this.state(data.number, "withdrawn", data.reason ? `: ${data.reason}` : "");
      if (item) item.classList.add("gone");
    } else if (kind === "decision") {
      this.say("Recorded in the log. Opening the answer…");
    }
  }

  say(words) {
    this.words = words;
    const seconds = Math.floor((Date.now() - this.began) / 1000);
    this.doing.textContent = seconds > 1 ? `${words} ${seconds} s` : words;
  }

  end() {
    clearInterval(this.clock);
  }

  state(number, name, extra) {
    const item = this.items.get(number);
    if (!item) return null;
    item.className = `is-${name}`;
    $(".verdict", item).replaceChildren(stateNode(name, extra));
    return item;
  }
}

// Server-sent events of a fetch: [kind, data, id] as they come.
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const parts = rest.split(/\r?\n\r?\n/);
    rest = parts.pop();
    for (const part of parts) {
      const said = { event: "message", id: "", data: "" };
      for (const line of part.split(/\r?\n/)) {
        const at = line.indexOf(":");
        if (at > 0) said[line.slice(0, at)] = line.slice(at + 1).replace(/^ /, "");
      }
      if (said.data) yield [said.event, JSON.parse(said.data), said.id];
    }
  }
}

const TRIES = 6;
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

// The finished answer of a question. A line that breaks is taken up again where it broke: what was asked is
// answered and sealed, whoever still listens.
async function heard(body, live) {
  const headers = { "Content-Type": "application/json", Accept: "text/event-stream", "X-CSRF-Token": csrf };
  let reply = await fetch("/v1/ask", { method: "POST", headers, body: JSON.stringify(body) });
  const id = reply.headers.get("X-Request-Id");
  let last = "";
  for (let tries = 1; ; tries += 1) {
    try {
      if (!reply) {
        const after = last ? { "Last-Event-ID": last } : {};
        reply = await fetch(`/v1/ask/${id}/events`, { headers: { Accept: "text/event-stream", ...after } });
      }
      if (reply.status === 401) { location.assign("/login"); return null; }
      if (!reply.ok) throw await reply.json();
      for await (const [kind, data, name] of events(reply.body)) {
        if (kind === "error") throw data;
        live.hear(kind, data);
        if (kind === "done") return data.answer;
        last = name || last;
      }
    } catch (problem) {
      if (problem.title) throw problem;
    }
    if (!id || tries >= TRIES) throw { title: "The connection to the answer was lost.", hint: "Ask again. If the answer was finished, it is in the log." };
    live.say("The connection was lost. Reconnecting…");
    reply = null;
    await pause(1000 * tries);
  }
}

function trouble(title, hint) {
  const box = make("div", "notice bad");
  box.setAttribute("role", "alert");
  const line = make("p");
  line.append(make("strong", "", title));
  box.append(line);
  if (hint) box.append(make("p", "", hint));
  $("#live").before(box);
}

async function ask(event) {
  event.preventDefault();
  const form = event.target;
  const button = $("button.main", form);
  const fields = Object.fromEntries(new FormData(form));
  if (!fields.question.trim() || button.disabled) return;
  for (const old of all("#answer, .notice, .start")) old.remove();
  button.disabled = true;
  const live = new Live(fields.question);
  const body = { question: fields.question, stream: true };
  for (const name of ["session_id", "document", "since", "tag"]) if (fields[name]) body[name] = fields[name];
  try {
    const finished = await heard(body, live);
    if (!finished) return;
    await open(finished.request_id);
  } catch (problem) {
    live.box.hidden = true;
    trouble(problem.title || "The server cannot be reached.", problem.hint || "Check the connection and ask again.");
  } finally {
    live.end();
    button.disabled = false;
  }
}

// The finished answer is the server's own page: what is seen here is what the link shows.
async function open(id) {
  const address = `/answers/${encodeURIComponent(id)}`;
  const reply = await fetch(address, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  const answer = page.querySelector("#answer");
  if (!reply.ok || !answer) { location.assign(address); return; }
  $("#live").hidden = true;
  $("#live").after(document.adoptNode(answer));
  $("#ask").classList.remove("first");
  for (const node of all("#ask > h1, #ask > .lead")) node.remove();
  $("#ask [name=session_id]").value = answer.dataset.session;
  const question = $("#question");
  question.value = "";
  question.placeholder = "Ask something else, or follow up";
  question.rows = 1;
  document.title = page.title;
  history.pushState(null, "", address);
  const heading = $("h1", answer);
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  begin(answer);
}

function begin(answer) {
  lighting(answer);
  watch(answer);
  for (const form of all("form[data-feedback]", answer)) form.addEventListener("submit", judge);
}

// --- review: words selected in a source become a span of the case ----------------------------------------

function taking() {
  const button = $("#take");
  const selected = () => {
    const chosen = getSelection();
    const node = chosen.anchorNode;
    const place = node && (node.nodeType === 1 ? node : node.parentElement).closest("[data-document]");
    const text = chosen.toString().trim();
    return place && text ? { name: place.dataset.document, text } : null;
  };
  document.addEventListener("selectionchange", () => { if (selected()) button.hidden = false; });
  button.addEventListener("click", () => {
    const found = selected();
    if (!found) { tell("Select words in a source first."); return; }
    const rows = all(".span-row");
    let row = rows.find((one) => !$("textarea", one).value.trim());
    if (!row) {
      row = rows[rows.length - 1].cloneNode(true);
      $("#spans").append(row);
    }
    $("input", row).value = found.name;
    $("textarea", row).value = found.text;
    $("textarea", row).focus();
    tell("Added.");
  });
}

// --- begin -----------------------------------------------------------------------------------------------

theme();
const form = $("#ask");
if (form) {
  form.addEventListener("submit", ask);
  $("#question").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  addEventListener("popstate", () => location.reload());
}
const shown = $("#answer");
if (shown) begin(shown);
if ($("#take")) taking();
const paper = $(".sheet img");
if (paper) {
  const lost = () => { $("#nopaper").hidden = false; $(".sheet").hidden = true; };
  if (paper.complete && !paper.naturalWidth) lost();
  else paper.addEventListener("error", lost);
}
