// SPDX-License-Identifier: MIT
// The pane of a check: next to the matrix if there is space, over it if not.

const panel = document.getElementById("panel");
let returnTo = null;

function openCheck(check, run = null) {
  returnTo = document.activeElement;
  go({ check: CHECKS[check][0], run: run === null ? "" : String(run), ...opened(check) }, { step: true });
  document.getElementById("panel-title")?.focus();
}

function closeCheck() {
  go({ check: "", run: "" }, { step: true });
  const row = state.view === "checks" ? matrix.shown.get(activeNumber()) : null;
  (row ?? (returnTo?.isConnected ? returnTo : document.getElementById("q"))).focus();
}

/** The run whose details show first: the worst verdict, unless the URL names one. */
function runToShow(check) {
  const worst = RUNS.map((_, run) => run).sort((a, b) => verdictOf(a, check).rank - verdictOf(b, check).rank)[0];
  return runNumber(state.run, worst);
}

function showPanel() {
  const check = NUMBERS.get(state.check);
  document.body.classList.toggle("with-panel", check !== undefined);
  panel.hidden = check === undefined;
  if (check === undefined) {
    panel.replaceChildren();
    return;
  }
  const run = runToShow(check);
  const isSame = panel.dataset.check === String(check);
  const place = panel.scrollTop;
  panel.dataset.check = check;
  panel.replaceChildren(panelHead(check), requirementPart(check, run), targetsPart(check, run), runPart(check, run));
  panel.scrollTop = isSame ? place : 0;
}

function panelHead(check) {
  const [protocol, procedure] = GROUPS[GROUP_OF.get(check)];
  return el("header", {},
    el("div", { class: "crumbs quiet" }, `${protocol}${procedure ? ` › ${procedure}` : ""}`),
    el("h2", { id: "panel-title", tabindex: "-1", text: titleOf(check) }),
    el("p", { class: "id" }, el("code", { text: CHECKS[check][0] })),
    el("div", { class: "ends" },
      button("‹", () => stepCheck(-1), { class: "plain", "aria-label": "Previous check" }),
      button("›", () => stepCheck(1), { class: "plain", "aria-label": "Next check" }),
      button("✕", closeCheck, { class: "plain close", "aria-label": "Close (Esc)" })));
}

/** The check before or after, as the filters leave them. */
function stepCheck(by) {
  const checks = filtered();
  const now = checks.indexOf(NUMBERS.get(state.check));
  const next = checks[now + by];
  if (next !== undefined) go({ check: CHECKS[next][0], ...opened(next) });
  document.getElementById("panel-title").focus();
}

/** What n and p step through: what a search found, or else what failed, or else all that the filters leave. */
function hits() {
  if (state.view === "causes") return causesShown().map((cause) => exampleOf(cause).check).filter((check) => check !== undefined);
  const checks = filtered();
  if (state.q || state.verdicts || state.cause) return checks;
  const scope = runNumber(state.target, null);
  const runs = scope === null ? RUNS.map((_, run) => run) : [scope];
  const having = (letters) => checks.filter((check) => runs.some((run) => letters.includes(letterOf(run, check)) && levelFits(run, check)));
  return [having("FV"), having("N"), checks].find((found) => found.length > 0) ?? [];
}

function nextHit(all, open, by) {
  if (all.includes(open)) return all[all.indexOf(open) + by];
  if (state.view === "causes") return by > 0 ? all[0] : undefined;
  const row = matrix.rows[activeNumber()];
  const now = open ?? row?.check ?? (row?.checks[0] ?? 0) - (by > 0 ? 1 : 0);
  return by > 0 ? all.find((one) => one > now) : all.findLast((one) => one < now);
}

/** Opens the next or the previous of them: from the open check, or else from the row that the keyboard is on. */
function stepHit(by) {
  const all = hits();
  const open = NUMBERS.get(state.check);
  const next = nextHit(all, open, by);
  if (next === undefined) announce(all.length ? `No more ${by > 0 ? "below" : "above"} this check` : "No check matches these filters");
  else if (open === undefined) openCheck(next);
  else go({ check: CHECKS[next][0], run: "", ...opened(next) });
  document.getElementById("panel-title")?.focus();
}

function clauseLine(clause, tag = "div") {
  return el(tag, { class: "clause" },
    link(clause.url, clause.citation), el("span", { class: "tag", text: clause.level }),
    clause.part === "IMPLEMENTATION" ? el("span", { class: "tag quiet", text: clause.part }) : null,
    clause.harm ? el("span", { class: "tag quiet", text: `harm ${clause.harm}` }) : null,
    el("p", { text: clause.gist }));
}

function requirementPart(check, run) {
  const judged = RESULTS[run].clauses[check] ?? CHECKS[check][1][0];
  const others = CHECKS[check][1].filter((one) => one !== judged);
  const main = clauseOf(judged);
  return el("section", {}, el("h3", { text: "Requirement" }),
    main === null ? el("p", { class: "quiet", text: "The record has no clause." }) : clauseLine(main),
    others.length === 0 ? null
      : el("details", {}, el("summary", { text: `proves ${plural(others.length, "other clause")} as well` }),
        el("ul", { class: "bare" }, ...others.map((one) => clauseLine(clauseOf(one), "li")))));
}

/** The verdicts of all targets side by side; choosing one shows what it did. */
function targetsPart(check, chosen) {
  if (RUNS.length === 1) return "";
  const rows = RUNS.map((run, number) => {
    const isThere = letterOf(number, check) !== "-";
    const name = isThere
      ? button(run.label, () => { go({ run: String(number) }); panel.querySelector("[aria-pressed=true]")?.focus(); },
        { class: "choose", "aria-pressed": String(number === chosen) })
      : el("span", { class: "quiet", text: run.label });
    return el("tr", { class: number === chosen ? "chosen" : "" },
      el("th", { scope: "row" }, name), el("td", {}, badge(verdictOf(number, check))),
      el("td", { class: "short", text: saidOf(number, check) }));
  });
  return el("section", {}, el("h3", { text: "All targets" }),
    el("table", { class: "targets" }, el("thead", { class: "unseen" },
      el("tr", {}, ...["Target", "Verdict", "Outcome"].map((text) => el("th", { scope: "col", text })))),
    el("tbody", {}, ...rows)));
}

function runPart(check, run) {
  const details = detailsOf(run, check);
  const heading = el("h3", {}, badge(verdictOf(run, check)), RUNS.length > 1 ? ` ${RUNS[run].label}` : "");
  if (details === null) return el("section", {}, heading, el("p", { class: "quiet", text: "This run does not contain the check." }));
  const verdict = verdictOf(run, check);
  return el("section", { class: `run v-${verdict.name}` }, heading, facts(details, verdict), deviationPart(details), causeLine(check, run), evidence(details), ...lintParts(details), exchangesPart(details));
}

const AROUND = 2;  // fields shown before and after one that deviates

/** The message that deviates, without the fields far from the deviation: it is what a reader looks for first. */
function deviationPart(details) {
  const messages = messagesOf(details);
  const at = messages.findIndex((message) => message.deviating.size > 0);
  if (at < 0) return "";
  const message = messages[at];
  const near = (number) => [...message.deviating].some((one) => Math.abs(one - number) <= AROUND);
  const lines = [];
  message.lines.forEach((line, number) => {
    if (near(number)) lines.push(message.deviating.has(number) ? el("mark", { text: `${line}\n` }) : `${line}\n`);
    else if (lines.at(-1) !== "…\n") lines.push("…\n");
  });
  const call = message.isReply ? messages.slice(0, at).findLast((one) => !one.isReply && one.number === message.number) : undefined;
  return el("figure", { class: "deviation" },
    el("figcaption", {}, el("span", { class: "deviates", text: "◆ deviates: " }), el("span", { class: "what", text: message.summary })),
    call === undefined ? null : el("p", { class: "quiet call", text: `▸ call #${call.number}: ${call.summary}` }),
    el("pre", { tabindex: "0", "aria-label": "the fields around the deviation" }, ...lines));
}

function facts(details, verdict) {
  const rows = [];
  const add = (name, ...values) => rows.push(el("dt", { text: name }), el("dd", {}, ...values));
  if (details.verdict) add("verdict as recorded", details.verdict);
  details.lines(details.expected).forEach((one, number) => add(number ? "or" : "expected", one));
  if (details.observed) add("observed", el("strong", { text: details.observed }));
  if (details.reason) add("reason", details.reason);
  if (details.elsewhere) add("also on", details.lines(details.elsewhere).join(", "));
  if (details.alone) add("elsewhere", details.alone);
  for (const [key, value] of details.noted ?? []) add("noted", `${key}: ${value}`);
  add("meaning", el("span", { class: "quiet", text: verdict.meaning }));
  const times = [details.exchanges ? plural(details.exchanges, "exchange") : "no exchange",
    details.seconds ? `${duration(details.seconds)}` : "",
    details.began ? `${duration(details.began)} after the start` : ""].filter(Boolean);
  add("effort", el("span", { class: "quiet", text: times.join(", ") }));
  return el("dl", {}, ...rows);
}

/** How many other checks show the same, and the way to them. */
function causeLine(check, run) {
  const cause = causeOf(run, check);
  if (cause === undefined) return "";
  const others = Object.keys(cause.of).filter((one) => Number(one) !== run).map((one) => RUNS[one].label);
  return el("p", { class: "same" }, button(cause.of[run].checks.length > 1 ? `${plural(cause.of[run].checks.length, "check")} with this cause` : "its cause",
    () => go({ view: "checks", ...CLEAR, cause: cause.key }, { step: true }), { class: "choose" }),
  others.length ? el("span", { class: "quiet", text: `, also on ${others.join(", ")}` }) : null);
}

function evidence(details) {
  const files = [["Capture for Wireshark", details.capture], ["Script that sends the same messages", details.script]]
    .filter(([, file]) => file)
    .map(([name, [path, url]]) => el("p", { class: "file" }, el("span", { class: "quiet", text: `${name}: ` }), link(url, path),
      url ? null : el("span", { class: "quiet", text: " (not in the folder of this page)" })));
  if (details.rerun) {
    const copier = button("Copy", () => copy(details.rerun, copier), { class: "plain", "aria-label": "Copy the command" });
    files.push(el("div", { class: "command" }, el("code", { text: details.rerun }), copier));
  }
  return el("div", { class: "evidence" }, ...files);
}

/** Other servers that are known for the same; nothing where none is. */
function alsoOn(servers) {
  return servers.length === 0 ? [] : [el("dt", { text: "also on" }), el("dd", { text: servers.join(", ") })];
}

function lintParts(details) {
  return (details.findings ?? []).map((finding) => {
    const clause = clauseOf(finding.clause);
    const lines = finding.transcript ? details.lines(finding.transcript) : [];
    return el("div", { class: `found v-${finding.verdict}` },
      el("h4", {}, badge(verdictNamed(finding.verdict)), ` ${finding.id}`),
      clause === null ? null : clauseLine(clause),
      el("dl", {}, ...finding.expected.flatMap((one, number) => [el("dt", { text: number ? "or" : "expected" }), el("dd", { text: one })]),
        el("dt", { text: "observed" }), el("dd", { text: finding.observed }),
        ...alsoOn(details.lines(finding.elsewhere))),
      lines.length === 0 ? null : lazily("calls and replies that show it", () => transcript(fromLines(lines))));
  });
}

function lazily(title, make, isOpen = false) {
  const box = el("details", {}, el("summary", { text: title }));
  box.addEventListener("toggle", () => {
    if (box.open && box.childElementCount === 1) box.append(make());
  });
  box.open = isOpen;
  return box;
}

function exchangesPart(details) {
  const messages = messagesOf(details);
  if (messages.length === 0) return el("p", { class: "quiet", text: "No transcript was kept." });
  const opener = button("Open all", () => {
    const boxes = [...part.querySelectorAll(".transcript details")];
    const isOpening = boxes.some((box) => !box.open);
    for (const box of boxes) box.open = isOpening;
    opener.textContent = isOpening ? "Close all" : "Open all";
  }, { class: "plain" });
  const hasFields = messages.some((message) => message.lines.length > 0);
  const part = el("div", {}, el("div", { class: "bar" }, el("h3", { text: "Transcript" }), hasFields ? opener : null), transcript(messages));
  return part;
}
