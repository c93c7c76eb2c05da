// SPDX-License-Identifier: MIT
// Everything but the matrix: counts on top of it, the comparison, and the tables of a run as a whole.

const body = (name) => document.querySelector(`#view-${name} .body`);

// ---- Counts: rows by target, level or protocol; each number is a filter.

function pivotRows(by, checks) {
  const scope = runNumber(state.target, null);
  const runs = scope === null ? RUNS.map((_, run) => run) : [scope];
  if (by === "target") return RUNS.map((run, number) => [nameOf(run), tally(number, checks.filter((check) => levelFits(number, check))), { target: String(number) }, number]);
  // A check counts once for each verdict that it has in a run: the filter of the number shows as many.
  const sum = (fits) => {
    const counts = new Map([["all", 0]]);
    for (const check of checks) {
      const letters = new Set(runs.filter((run) => fits(run, check) && levelFits(run, check)).map((run) => letterOf(run, check)));
      letters.delete("-");
      for (const letter of letters) counts.set(letter, (counts.get(letter) ?? 0) + 1);
      if (letters.size) counts.set("all", counts.get("all") + 1);
    }
    return counts;
  };
  const all = [...(RUNS.length === 1 || by !== "target" ? [["all", sum(() => true), {}]] : [])];
  if (by === "level") return [...levelNames().map((level) => [level, sum((run, check) => levelIn(run, check) === level), { levels: level }]), ...all];
  const names = [...new Set(GROUPS.map(([protocol]) => protocol))];
  return [...names.map((name) => [name, sum((run, check) => GROUPS[GROUP_OF.get(check)][0] === name), { protocol: name, procedure: "" }]), ...all];
}

function levelNames() {
  const found = new Set(CHECKS.flatMap((_, check) => RUNS.map((__, run) => levelIn(run, check))).filter(Boolean));
  return [...LEVEL_ORDER.filter((level) => found.has(level)), ...[...found].filter((level) => !LEVEL_ORDER.includes(level)).sort()];
}

function showSummary() {
  const checks = filtered(false);
  const ways = [...(RUNS.length > 1 ? ["target"] : []), "level", "protocol"];
  const by = ways.includes(state.by) ? state.by : ways[0];
  const choose = el("div", { class: "segments", role: "group", "aria-label": "Count by" }, el("span", { class: "quiet", text: "Counts by" }),
    ...ways.map((way) => button(way, () => go({ by: way }), { "aria-pressed": String(way === by) })));
  const hasRules = by === "target" && DATA.findings.length > 0;
  const heads = el("tr", {}, el("th", { scope: "col", text: by }),
    ...LETTERS.map((letter) => el("th", { scope: "col", class: "number" }, badge(VERDICTS.get(letter)))),
    el("th", { scope: "col", class: `number${hasRules ? " sum" : ""}`, text: "all" }),
    hasRules ? el("th", { scope: "col", class: "rules", title: RULES_TITLE }, el("span", { class: "word", text: "rules broken" }), el("span", { class: "brief", "aria-hidden": "true", text: "lint" })) : null,
    el("th", { class: "wide", "aria-hidden": "true" }));
  const rows = pivotRows(by, checks).map(([name, counts, filter, number]) => {
    const all = counts.get("all") ?? LETTERS.reduce((sum, letter) => sum + (counts.get(letter) ?? 0), 0);
    const head = el("th", { scope: "row", title: number === undefined ? undefined : `${RUNS[number].label}: ${RUNS[number].target}` },
      number === undefined ? null : el("span", { class: "number", text: String(number + 1) }), " ", name);
    return el("tr", {}, head,
      ...LETTERS.map((letter) => el("td", { class: "number" }, countButton(counts.get(letter) ?? 0, VERDICTS.get(letter), name, filter))),
      el("td", { class: `number${hasRules ? " sum" : ""}`, text: all.toLocaleString("en") }),
      hasRules ? el("td", { class: "rules" }, ...ruleButtons([number], name)) : null,
      el("td", { class: "wide", "aria-hidden": "true" }, bar(counts)));
  });
  if (!hasRules && DATA.findings.length > 0) rows.push(rulesRow());
  document.getElementById("summary").replaceChildren(choose,
    el("div", { class: "scroll" }, el("table", { class: "counts" }, el("caption", { class: "unseen", text: `Checks by ${by} and verdict` }),
      el("thead", {}, heads), el("tbody", {}, ...rows))));
}

// What the lint found is red as well, and no check has it: it is next to the counts of checks, and links to its view.

const RULES_TITLE = "Rules that the lint saw broken in the calls and replies of checks";

/** How many rules some runs have broken, by verdict: Map letter -> number. */
function rulesOf(runs) {
  const ids = new Set(DATA.findings.filter((one) => runs.includes(one.run)).map((one) => `${one.verdict} ${one.id}`));
  const counts = new Map();
  for (const id of ids) {
    const { letter } = verdictNamed(id.slice(0, id.indexOf(" ")));
    counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  return counts;
}

function ruleButton(count, verdict, name, symbol = "") {
  const shown = button("", () => go({ view: "findings" }, { step: true }),
    { class: `count v-${verdict.name}`, title: RULES_TITLE, "aria-label": `${count} ${verdict.name}, rules broken, ${name}: show them` });
  shown.append(symbol && el("span", { "aria-hidden": "true", text: `${symbol} ` }), String(count));
  return shown;
}

function ruleButtons(runs, name) {
  const counts = rulesOf(runs);
  const found = LETTERS.filter((letter) => counts.get(letter));
  if (found.length === 0) return [el("span", { class: "zero", text: "0" })];
  return found.map((letter) => ruleButton(counts.get(letter), VERDICTS.get(letter), name, VERDICTS.get(letter).symbol));
}

function rulesRow() {
  const scope = runNumber(state.target, null);
  const counts = rulesOf(scope === null ? RUNS.map((_, run) => run) : [scope]);
  const cell = (letter) => (counts.get(letter)
    ? ruleButton(counts.get(letter), VERDICTS.get(letter), "all") : el("span", { class: "zero", text: "0" }));
  const all = LETTERS.reduce((sum, letter) => sum + (counts.get(letter) ?? 0), 0);
  return el("tr", { class: "lint" }, el("th", { scope: "row", title: RULES_TITLE, text: "rules broken (lint)" }),
    ...LETTERS.map((letter) => el("td", { class: "number" }, cell(letter))),
    el("td", { class: "number", text: String(all) }), el("td", { class: "wide", "aria-hidden": "true" }));
}

function countButton(count, verdict, name, filter) {
  if (count === 0) return el("span", { class: "zero", text: "0" });
  return button(count.toLocaleString("en"), () => go({ ...filter, verdicts: verdict.name }),
    { class: `count v-${verdict.name}`, title: `Show these ${count}`, "aria-label": `${count.toLocaleString("en")} ${verdict.name}, ${name}: show them` });
}

// ---- Comparison

function showCompare() {
  if (RUNS.length < 2) return;
  const a = runNumber(state.a, 0), b = runNumber(state.b, a === 1 ? 0 : 1);
  const isSeries = RUNS[a].series === RUNS[b].series;
  const choose = (name, value) => {
    const select = el("select", { id: `compare-${name}`, on: { change: () => go({ [name]: select.value }) } },
      ...RUNS.map((run, number) => el("option", { value: number, text: `${number + 1}: ${run.label}` })));
    select.value = String(value);
    return el("div", { class: "field" }, el("label", { for: `compare-${name}`, text: `${name.toUpperCase()}${isSeries ? { a: ", before", b: ", after" }[name] : ""}` }), select);
  };
  const changes = new Map(DATA.changes.map(([name]) => [name, []]));
  for (const check of filtered(false)) {
    const found = changeOf(a, b, check);
    if (found !== undefined) changes.get(found).push(check);
  }
  for (const rule of rulesChanged(a, b)) changes.get(rule.how).push(rule);
  const wanted = listed(state.changes);
  const wordsOf = ([name, meaning, word, meaningOfServers]) => (isSeries ? [name, meaning] : [word, meaningOfServers]);
  const chips = DATA.changes.map((one) => button("", () => go({ changes: toggled(state.changes, one[0]) }),
    { class: `change c-${one[0].replaceAll(" ", "-")}`, title: wordsOf(one)[1], "aria-pressed": String(wanted.includes(one[0])) }));
  chips.forEach((chip, number) => {
    const one = DATA.changes[number];
    chip.append(el("b", { text: changes.get(one[0]).length.toLocaleString("en") }), el("span", { text: wordsOf(one)[0] }));
  });
  const lists = DATA.changes.filter(([name]) => changes.get(name).length && (!wanted.length || wanted.includes(name)))
    .map((one) => changeList(one[0], wordsOf(one), changes.get(one[0]), a, b));
  body("compare").replaceChildren(
    el("div", { class: "choose-runs" }, choose("a", a),
      button("⇄", () => go({ a: String(b), b: String(a) }), { class: "plain", "aria-label": "Exchange A and B" }), choose("b", b)),
    otherSuite(a, b),
    ...causesCompared(a, b, isSeries),
    CAUSES.length ? el("h3", { text: "Checks" }) : "",
    el("div", { class: "changes", role: "group", "aria-label": "Kinds of change" }, ...chips),
    ...(lists.length ? lists : [el("p", { class: "nothing", text: RUNS[a].client === RUNS[b].client
      ? "No difference in the checks that match the filters." : "A server and a client have no check in common." })]));
  const count = [...changes.values()].reduce((sum, checks) => sum + checks.length, 0);
  announce(`${plural(count, "difference")} between ${RUNS[a].label} and ${RUNS[b].label}`);
}

/** The causes that only one of two runs has, or both: of a few causes come many checks. */
function causesCompared(a, b, isSeries) {
  const shown = causesShown();
  const parts = [
    [isSeries ? "Causes that came" : `Causes only on B: ${RUNS[b].label}`, "came", (cause) => cause.of[b] && !cause.of[a]],
    [isSeries ? "Causes that went, or were not judged" : `Causes only on A: ${RUNS[a].label}`, "went", (cause) => cause.of[a] && !cause.of[b]],
    [isSeries ? "Causes that stay" : "Causes on both", "both", (cause) => cause.of[a] && cause.of[b]],
  ];
  return parts.map(([title, kind, fits]) => [title, kind, shown.filter(fits)]).filter(([, , of]) => of.length > 0)
    .map(([title, kind, of]) => el("section", { class: `causes compared ${kind}` }, el("h3", { text: `${title} (${of.length.toLocaleString("en")})` }),
      portioned(el("ol", { class: "bare" }), of, causeItem, 20)));
}

/** Two suites judge by two sets of checks: a verdict that changed may be theirs. */
function otherSuite(a, b) {
  const [before, after] = [a, b].map((run) => RUNS[run].environment.find(([key]) => key === "nfsproof")?.[1]);
  if (before === after || !before || !after) return "";
  return el("p", { class: "note", text: `Judged by two versions of nfsproof, ${before} and ${after}: a difference may come from the checks.` });
}

function changeOf(a, b, check) {
  if (!isFor(a, check) || !isFor(b, check)) return undefined;
  const before = letterOf(a, check), after = letterOf(b, check);
  const isRed = before === after && (before === "F" || before === "N");
  if (isRed && symptomOf(a, check) !== symptomOf(b, check)) return "other symptom";
  return DATA.change[before + after];
}

/** Rules of the lint that are not the same in two runs: {how, id, before, after}, of which the last two are findings, or verdicts without one. */
function rulesChanged(a, b) {
  if (RUNS[a].client !== RUNS[b].client) return [];
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const others = ["protocol", "procedure", "section", "levels"].some((key) => state[key] !== "");
  if (others) return [];  // a rule has none of these
  const ids = [...new Set(DATA.findings.filter((one) => one.run === a || one.run === b).map((one) => one.id))].sort();
  return ids.flatMap((id) => {
    const [inA, inB] = [a, b].map((run) => DATA.findings.find((one) => one.run === run && one.id === id));
    const before = inA ?? heldIn(a, inB), after = inB ?? heldIn(b, inA);
    const letter = (one) => (one === null ? "-" : verdictNamed(one.verdict).letter);
    const isOther = inA && inB && inA.verdict === inB.verdict && inA.symptom !== inB.symptom;
    const how = isOther ? "other symptom" : DATA.change[letter(before) + letter(after)];
    const text = [id, before?.observed, after?.observed].join("\n").toLowerCase();
    return how === undefined || !words.every((word) => text.includes(word)) ? [] : [{ how, id, before, after }];
  });
}

/** A rule without findings in a run counts as followed if the run looked for it in each check in which the other one broke it; otherwise null. */
function heldIn(run, broken) {
  if (RUNS[run].lint === "off") return null;
  return broken.checks.every(([, check]) => check !== null && letterOf(run, check) !== "-") ? { verdict: "PASS", observed: "" } : null;
}

function changeList(name, [word, meaning], checks, a, b) {
  const list = el("ul", { class: "bare differences" });
  const line = (id, title, open, before, after, ...texts) => el("li", {},
    button(id, open, { class: "choose" }),
    el("span", { class: "from-to" }, badge(before), el("span", { role: "img", "aria-label": "then", text: "→" }), badge(after)),
    title ? el("p", { class: "short quiet", text: title }) : null,
    said("A", texts[0]), said("B", texts[1]));
  const told = (finding) => (finding === null ? ABSENT : verdictNamed(finding.verdict));
  const item = (one) => (typeof one === "number"
    ? line(CHECKS[one][0], titleOf(one), () => openCheck(one, b), verdictOf(a, one), verdictOf(b, one), saidOf(a, one), saidOf(b, one))
    : line(one.id, "", () => go({ view: "findings" }, { step: true }), told(one.before), told(one.after), one.before?.observed, one.after?.observed));
  const said = (side, text) => (text ? el("p", { class: "short" }, el("span", { class: "quiet", text: `${side}: ` }), text) : null);
  return el("section", { class: `changed c-${name.replaceAll(" ", "-")}` },
    el("h3", { text: `${word} (${checks.length.toLocaleString("en")})` }), el("p", { class: "quiet", text: meaning }),
    portioned(list, checks, item));
}

/** A list that grows on demand. */
function portioned(list, all, item, size = 150) {
  let made = 0;
  const more = button("", () => extend(), { class: "plain" });
  const extend = () => {
    list.append(...all.slice(made, made + size).map(item));
    made = Math.min(all.length, made + size);
    more.textContent = `Show more: ${all.length - made}`;
    more.hidden = made >= all.length;
  };
  extend();
  return el("div", {}, list, more);
}

// ---- Requirements

function bySection(text) {
  return text.split(".").map((part) => (/^\d+$/.test(part) ? part.padStart(4, "0") : part)).join(".");
}

function showRequirements() {
  const checks = filtered();
  const found = new Map();
  for (const check of checks) for (const one of CHECKS[check][1]) found.set(one, [...(found.get(one) ?? []), check]);
  const rows = [...found].map(([one, of]) => ({ clause: clauseOf(one), of }))
    .sort((x, y) => x.clause.rfc.localeCompare(y.clause.rfc, "en", { numeric: true })
      || bySection(x.clause.section).localeCompare(bySection(y.clause.section)));
  const sections = new Map();
  for (const row of rows) sections.set(row.clause.citation, [...(sections.get(row.clause.citation) ?? []), row]);
  const list = el("div", { class: "requirements" });
  body("requirements").replaceChildren(
    el("p", { class: "quiet", text: `${plural(rows.length, "requirement")} in ${plural(sections.size, "section")}, proved by ${plural(checks.length, "check")}.` }),
    portioned(list, [...sections], ([citation, each]) => sectionPart(citation, each), 60));
  announce(plural(rows.length, "requirement"));
}

function sectionPart(citation, rows) {
  const { rfc, section, url } = rows[0].clause;
  const verdicts = (of) => RUNS.map((run, number) => {
    const counts = tally(number, of);
    return el("span", { class: "target", title: `${run.label}: ${told(counts)}` },
      RUNS.length > 1 ? el("span", { class: "quiet number", text: String(number + 1) }) : null,
      ...LETTERS.filter((letter) => counts.get(letter)).map((letter) =>
        el("span", { class: `worst v-${VERDICTS.get(letter).name}` }, `${VERDICTS.get(letter).symbol} ${counts.get(letter)}`,
          el("span", { class: "unseen", text: ` ${VERDICTS.get(letter).name}` }))),
      LETTERS.some((letter) => counts.get(letter)) ? null : el("span", { class: "quiet", text: "·" }));
  });
  return el("section", {}, el("h3", {}, link(url, citation), " ",
    button("show its checks", () => go({ ...CLEAR, view: "checks", section: `${rfc} ${section}` }, { step: true }), { class: "plain small" })),
  ...rows.map(({ clause, of }) => el("div", { class: "requirement" },
    el("span", { class: "tag", text: clause.level }), el("p", { text: clause.gist }),
    el("span", { class: "quiet", text: plural(of.length, "check") }), el("span", { class: "verdicts" }, ...verdicts(of)))));
}

// ---- What the lint found; which legal answers were seen; what was counted; what was tested

function checkLink(name, number, run) {
  if (number === null || number === undefined) return el("code", { text: name });
  return button(name, () => openCheck(number, run), { class: "choose" });
}

function showFindings() {
  const cards = DATA.findings.map((finding) => {
    const clause = clauseOf(finding.clause);
    return el("article", { class: `card v-${finding.verdict}` },
      el("h3", {}, badge(verdictNamed(finding.verdict)), ` ${finding.id}`, RUNS.length > 1 ? el("span", { class: "quiet", text: ` ${RUNS[finding.run].label}` }) : null),
      clause === null ? null : clauseLine(clause),
      el("dl", {}, ...finding.expected.flatMap((one, number) => [el("dt", { text: number ? "or" : "expected" }), el("dd", { text: one })]),
        el("dt", { text: "observed" }), el("dd", { text: finding.observed }), ...alsoOn(finding.elsewhere)),
      lazily(`in ${plural(finding.checks.length, "check")}`, () =>
        portioned(el("ul", { class: "bare" }), finding.checks, ([name, number]) => el("li", {}, checkLink(name, number, finding.run))), finding.checks.length <= 5));
  });
  body("findings").replaceChildren(...cards);
}

/** By protocol and subject, closed: a whole run has thousands of choices. */
function showChoices() {
  const left = new Set(filtered(false));
  const choices = new Map();
  for (const [check, run, key, value] of DATA.observations) {
    if (!left.has(check)) continue;
    const name = `${check}\n${key}`;
    if (!choices.has(name)) choices.set(name, { check, key, values: RUNS.map(() => "") });
    choices.get(name).values[run] = value;
  }
  const groups = new Map();
  for (const choice of [...choices.values()].sort((x, y) => x.check - y.check)) {
    const group = GROUP_OF.get(choice.check);
    groups.set(group, [...(groups.get(group) ?? []), choice]);
  }
  const differ = (of) => of.filter(({ values }) => new Set(values.filter(Boolean)).size > 1).length;
  const isFew = choices.size <= FEW;
  const parts = [...groups].map(([group, of]) => {
    const [protocol, subject] = GROUPS[group];
    const apart = RUNS.length > 1 && differ(of) ? `, ${differ(of)} not the same on all targets` : "";
    return lazily(`${[protocol, subject].filter(Boolean).join("/")}: ${plural(of.length, "choice")}${apart}`, () => choicesTable(of), isFew);
  });
  body("choices").replaceChildren(
    el("p", { class: "quiet", text: "The legal answers that the server chose where the RFC leaves a choice. They do not change a verdict." }),
    ...(parts.length ? parts : [el("p", { class: "nothing", text: "No choice matches these filters." })]));
  announce(plural(choices.size, "choice"));
}

function choicesTable(of) {
  let last = -1;
  const rows = of.map(({ check, key, values }) => {
    const isNew = check !== last;
    last = check;
    return [isNew ? checkLink(CHECKS[check][0], check, null) : "", key, ...values];
  });
  return table("Choices by check", ["check", "choice", ...RUNS.map((run) => (RUNS.length > 1 ? run.label : "answer"))], rows, { class: "choices" });
}

function showStatistics() {
  const milliseconds = (seconds) => (seconds === null ? "" : (seconds * 1000).toFixed(2));
  const numeric = (text) => ({ text, numeric: true });
  const heads = ["protocol", "procedure", ...["calls", "replies", "again", "bytes out", "bytes in", "p50 ms", "p90 ms", "p99 ms", "max ms", "mean ms"].map(numeric)];
  const parts = RUNS.filter((run) => run.statistics.length > 0).map((run) => {
    const rows = run.statistics.map((row) => [...row.slice(0, 7), ...row.slice(7, 12).map(milliseconds)]);
    const calls = run.statistics.filter((row) => !row[12]);  // the others are operations within these
    const sum = (column) => calls.reduce((total, row) => total + row[column], 0);
    rows.push(["all", "", sum(2), sum(3), sum(4), sum(5), sum(6), "", "", "", "", ""]);
    return el("section", {}, el("h3", { text: run.label }), table(`RPC statistics of ${run.label}`, heads, rows));
  });
  body("statistics").replaceChildren(el("p", { class: "quiet", text: "Calls of the whole run, by procedure; “again” counts retransmissions. Times are from call to reply." }), ...parts);
}

function showTargets() {
  const parts = RUNS.map((run) => {
    const pairs = (pairsOf) => pairsOf.flatMap(([key, value]) => [el("dt", { text: key }), el("dd", { text: value })]);
    const logs = run.logs.flatMap(([name, url]) => [el("dt", { text: "server log" }), el("dd", {}, link(url, name))]);
    return el("section", { class: "card" }, el("h3", { text: run.label }),
      el("dl", {}, ...pairs([["target", run.target], ["ended", run.ending], ["started", run.started], ["took", duration(run.seconds)],
        ["finding", run.trouble === run.ending ? "" : run.trouble]].filter(([, value]) => value)), ...logs, ...pairs(run.environment)));
  });
  const names = [...new Set(RUNS.flatMap((run) => run.capabilities.map(([name]) => name)))].sort();
  const rows = names.map((name) => [name, ...RUNS.map((run) => {
    const value = run.capabilities.find(([one]) => one === name)?.[1] ?? "";
    return value === "yes" ? el("span", { class: "yes", text: "✓ yes" }) : el("span", { text: value ? `– ${value}` : "" });
  })]);
  body("targets").replaceChildren(el("div", { class: "cards" }, ...parts),
    ...(names.length ? [el("h3", { text: "Capabilities" }), table("Capabilities", ["capability", ...RUNS.map((run) => run.label)], rows, { class: "choices" })] : []));
}
