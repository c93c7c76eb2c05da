// SPDX-License-Identifier: MIT
// Elements are made one by one and filled with text nodes: no string is ever read as markup.

/** An element. `options`: class, text, attributes by name, `on` {event: handler}, `vars` of its style. */
function el(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") element.className = value;
    else if (key === "text") element.textContent = value;
    else if (key === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    else if (key === "vars") for (const [name, one] of Object.entries(value)) element.style.setProperty(name, one);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

/** A link to a clause or to a file next to the page; plain text if there is nowhere to go. */
function link(url, text, options = {}) {
  const isClause = url.startsWith("https://www.rfc-editor.org/");
  const isFile = url !== "" && !/^[a-z][a-z0-9+.-]*:|^[/\\]/i.test(url);
  if (!isClause && !isFile) return el("span", { ...options, text });
  return el("a", { ...options, href: url, text, rel: isClause ? "noreferrer external" : undefined });
}

/** A button that looks like what it does. */
function button(text, handler, options = {}) {
  return el("button", { type: "button", text, on: { click: handler }, ...options });
}

/** Symbol and word of a verdict: colour is never the only difference. */
function badge(verdict, extra = "") {
  return el("span", { class: `verdict v-${verdict.name.replaceAll(" ", "-")} ${extra}`, title: `${verdict.name}: ${verdict.meaning}` },
    el("span", { class: "symbol", "aria-hidden": "true", text: verdict.symbol }),
    el("span", { class: "word", text: verdict.name }));
}

/** A bar whose parts are as wide as the counts; the words next to it say the same. */
function bar(counts) {
  const parts = [...LETTERS].reverse().filter((letter) => counts.get(letter));
  return el("span", { class: "stack", "aria-hidden": "true" },
    ...parts.map((letter) => el("span", { class: `part v-${VERDICTS.get(letter).name}`, vars: { "flex-grow": counts.get(letter) } })));
}

function told(counts) {
  return LETTERS.filter((letter) => counts.get(letter))
    .map((letter) => `${counts.get(letter)} ${VERDICTS.get(letter).name}`).join(", ") || "not run";
}

/** A table with a caption for those who do not see it. `rows`: lists of text or elements; numbers stand right. */
function table(caption, heads, rows, options = {}) {
  const cell = (tag, value, head) => {
    const numeric = typeof value === "number" || head?.numeric;
    const shown = typeof value === "number" ? value.toLocaleString("en") : value ?? "";
    const one = el(tag, { class: numeric ? "number" : undefined, scope: tag === "th" ? "col" : undefined });
    one.append(shown);
    return one;
  };
  const heading = heads.map((head) => cell("th", head.text ?? head, head));
  const bodies = rows.map((row) => el("tr", {}, ...row.map((value, number) => cell("td", value, heads[number]))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", { class: options.class },
      el("caption", { class: "unseen", text: caption }),
      el("thead", {}, el("tr", {}, ...heading)), el("tbody", {}, ...bodies)));
}

function plural(number, word) {
  return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
}

/** Seconds as people read them. */
function duration(seconds) {
  if (seconds === undefined || seconds === null) return "";
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  if (seconds >= 1) return `${seconds.toFixed(1)} s`;
  return seconds >= 0.001 ? `${(seconds * 1000).toFixed(1)} ms` : `${Math.round(seconds * 1e6)} µs`;
}

/** A time as recorded, to the minute. */
function moment(text) {
  return text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?(?:Z|\+00:00)$/, "$1 $2 UTC");
}

/** Puts text on the clipboard; pages from disk may only do it the old way. */
async function copy(text, announced) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  announced.textContent = "Copied";
  setTimeout(() => { announced.textContent = "Copy"; }, 1500);
}
