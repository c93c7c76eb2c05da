// SPDX-License-Identifier: MIT
// The exchanges of a check: a line a message, its fields when it is opened.

const PORTION = 200;  // messages that are made at once

/** Messages of a check: {head, lines, deviating, reply, time}; from the lines of the transcript where there are no others. */
function messagesOf(details) {
  if (details.messages) {
    return details.messages.map(([number, time, isReply, summary, lines, deviating]) =>
      ({ number, time, isReply: Boolean(isReply), summary, lines: details.lines(lines), deviating: new Set(deviating) }));
  }
  return fromLines(details.lines(details.transcript));
}

function fromLines(lines) {
  const messages = [];
  for (const line of lines) {
    if (messages.length === 0 || /^#\d+ /.test(line)) {
      messages.push({ summary: line, lines: [], deviating: new Set() });
    } else {
      const message = messages.at(-1);
      if (line.includes("<-- ")) message.deviating.add(message.lines.length);
      message.lines.push(line);
    }
    if (line.includes("<-- ") && messages.at(-1).lines.length === 0) messages.at(-1).isMarked = true;
  }
  return messages;
}

function transcript(messages) {
  const list = el("ol", { class: "transcript" });
  let made = 0;
  const more = button("", () => extend(), { class: "plain" });
  const extend = () => {
    list.append(...messages.slice(made, made + PORTION).map(messageItem));
    made = Math.min(messages.length, made + PORTION);
    more.textContent = `Show more: ${messages.length - made} messages`;
    more.hidden = made >= messages.length;
  };
  extend();
  return el("div", {}, list, more);
}

function messageItem(message) {
  const deviates = message.deviating.size > 0 || message.isMarked;
  const line = [
    message.time === undefined ? null : el("span", { class: "time", text: `${message.time.toFixed(4)} s` }),
    message.isReply === undefined ? null
      : el("span", { class: `way ${message.isReply ? "reply" : "call"}`, text: message.isReply ? `◂ reply #${message.number}` : `▸ call #${message.number}` }),
    el("span", { class: "what", text: message.summary }),
    deviates ? el("span", { class: "deviates", text: "◆ deviates" }) : null,
  ];
  if (message.lines.length === 0) return el("li", { class: deviates ? "marked" : "" }, el("div", { class: "line" }, ...line));
  const box = el("details", {}, el("summary", { class: "line" }, ...line));
  // Fields are made when they are requested: a long check has tens of thousands.
  box.addEventListener("toggle", () => {
    if (box.open && box.childElementCount === 1) box.append(fieldLines(message));
  });
  if (deviates) box.open = true;
  return el("li", { class: deviates ? "marked" : "" }, box);
}

function fieldLines(message) {
  const lines = message.lines.map((line, number) =>
    message.deviating.has(number) ? el("mark", { text: `${line}\n` }) : `${line}\n`);
  return el("pre", { tabindex: "0", "aria-label": "fields" }, ...lines);
}
