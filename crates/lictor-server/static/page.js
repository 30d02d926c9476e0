// Times where the reader is, new questions as they come, keys. Everything works without it; this makes it live.
"use strict";

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

function times(root) {
  const today = new Date().toDateString();
  for (const one of $$("time", root)) {
    const at = new Date(one.dateTime);
    if (Number.isNaN(at.valueOf())) continue;
    one.title = at.toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" }) + " (" + one.dateTime + ")";
    one.textContent = at.toDateString() === today
      ? at.toLocaleTimeString()
      : at.toLocaleString(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  }
}

// What waits: new cards are added, answered ones go, and what somebody is typing into stays.
async function cards() {
  const box = $("[data-live=cards]");
  if (!box) return;
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const wanted = $("[data-live=cards]", fresh);
  if (!wanted) return;
  const ids = new Set($$("article", wanted).map((card) => card.id));
  for (const card of $$("article.waiting", box)) {
    const touched = card.contains(document.activeElement) || $$("input:not([type=hidden])", card).some((field) => field.value);
    if (!ids.has(card.id) && !touched) card.remove();
  }
  $(".empty", box)?.remove();
  for (const card of $$("article", wanted)) {
    if (!document.getElementById(card.id)) {
      const added = document.importNode(card, true);
      box.append(added);
      times(added);
      htmx.process(added);
    } else {
      const [left, now] = [$(".left", card), $(".left", document.getElementById(card.id))];
      if (left && now) now.textContent = left.textContent;
    }
  }
  const empty = $(".empty", wanted);
  if (empty && !$("article", box)) box.append(document.importNode(empty, true));
  const [count, heading] = [$("h1 .count", fresh), $("h1")];
  $(".count", heading)?.remove();
  if (count) heading.append(document.importNode(count, true));
  document.title = (count ? "(" + count.textContent + ") " : "") + document.title.replace(/^\(\d+\) /, "");
}

// What is new in the feed: everything after the record that was looked at last, so that nothing is missed or shown twice.
let paused = false;
async function rows() {
  const table = $("[data-live=feed]");
  if (!table || paused || new URLSearchParams(location.search).has("before")) return;
  for (let more = true; more && !paused;) {
    const address = new URL(location.href);
    address.searchParams.set("after", table.dataset.head);
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    if (!answer.ok || answer.redirected) return;
    const fresh = $("[data-live=feed]", new DOMParser().parseFromString(await answer.text(), "text/html"));
    if (!fresh) return;
    more = Number(fresh.dataset.head) > Number(table.dataset.head);
    table.dataset.head = fresh.dataset.head;
    const added = $$("tbody tr", fresh).map((row) => document.importNode(row, true));
    for (const row of added) row.classList.add("fresh");
    const body = $("tbody", table);
    body.prepend(...added);
    if (added.length) $("#none")?.remove();
    for (const row of added) times(row);
    for (const row of $$("tr", body).slice(500)) row.remove();
  }
}

function pause() {
  const button = $("#pause");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    button.setAttribute("aria-pressed", String(paused));
    button.textContent = paused ? "Resume" : "Pause";
    say(paused ? "paused" : "live");
    refresh();
  });
}

// One look at a time, and another one after it when something came meanwhile: an older answer must not undo a newer one.
let looking = false;
let again = false;
async function refresh() {
  again = true;
  if (looking) return;
  looking = true;
  while (again) {
    again = false;
    await Promise.all([cards(), rows()]).catch(() => {});
  }
  looking = false;
}

let source;
function say(text) {
  const line = $("#line");
  if (line && line.textContent !== text) line.textContent = text;
}

function live() {
  if (!$("[data-live], [hx-trigger*=news]")) return;
  source = new EventSource("/live");
  const look = () => {
    refresh();
    document.body.dispatchEvent(new CustomEvent("news"));
  };
  source.addEventListener("open", () => say(paused ? "paused" : "live"));
  source.addEventListener("change", look);
  source.addEventListener("error", () => {
    say("not connected; trying again");
    if (source.readyState === EventSource.CLOSED) setTimeout(live, 2000);
  });
}

// j and k go from card to card or row to row.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  const step = { j: 1, k: -1 }[event.key];
  if (!step) return;
  const links = $$("article.card h2 a, .rows > li > a, tbody tr a.main");
  const at = links.indexOf(document.activeElement);
  const next = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step];
  if (next) { next.focus(); event.preventDefault(); }
});

document.addEventListener("DOMContentLoaded", () => {
  times(document);
  // Days in a search are the reader's.
  for (const zone of $$("input[name=zone]")) zone.value ||= Intl.DateTimeFormat().resolvedOptions().timeZone;
  document.body.addEventListener("htmx:after:swap", () => times(document));
  pause();
  live();
});
