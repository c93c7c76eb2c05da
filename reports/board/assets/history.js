// SPDX-License-Identifier: MIT
// One target over its runs: which failure came, and went, in which of them.

/** Targets that were run more than once: {label, runs}, their runs from the oldest to the newest. */
const SERIES = (() => {
  const found = new Map();
  RUNS.forEach((run, number) => found.set(run.series, [...(found.get(run.series) ?? []), number]));
  const age = (number) => RUNS[number].started;
  return [...found].filter(([, runs]) => runs.length > 1)
    .map(([label, runs]) => ({ label, runs: runs.sort((x, y) => (age(x) < age(y) ? -1 : Number(age(x) > age(y)))) }));
})();

const DEVIATES = "FVN";

/** From letters of verdicts, one a run: when it deviated, as pairs of the first such run and the first PASS after it (null: none yet). */
function spansOf(letters) {
  const spans = [];
  letters.forEach((letter, number) => {
    const last = spans.at(-1);
    const isOpen = last !== undefined && last[1] === null;
    if (DEVIATES.includes(letter) && !isOpen) spans.push([number, null]);
    else if (letter === "P" && isOpen) last[1] = number;  // SKIP and UNSUPPORTED do not tell that it is gone
  });
  return spans;
}

/** What deviated in a run of the series, causes or checks: {id, title, letters, spans, open}. */
function historyOf(runs, by) {
  return (by === "cause" ? causesOver(runs) : checksOver(runs)).map((one) => ({ ...one, spans: spansOf(one.letters) })).filter((one) => one.spans.length > 0);
}

/** A cause is gone where a run judged all checks that showed it, and it is not there. */
function causesOver(runs) {
  return causesShown().map((cause) => {
    const inRuns = runs.map((run) => cause.of[run]);
    const letters = inRuns.map((of, number) => {
      if (of !== undefined) return verdictNamed(of.verdict).letter;
      const shown = inRuns.slice(0, number).findLast(Boolean) ?? inRuns.slice(number).find(Boolean);
      return shown !== undefined && isJudged(shown, runs[number]) ? "P" : "-";
    });
    return { id: cause.text, title: [cause.clause, cause.gist].filter(Boolean).join(": "), letters, isText: true,
      open: (number) => openCheck(cause.of[runs[number]].first ?? checksOfCause(cause, runs[number])[0], runs[number]) };
  });
}

function isJudged(of, run) {
  const isLinted = RUNS[run].lint !== "off";
  return of.checks.every((check) => "PFN".includes(letterOf(run, check)))
    && of.rules.every(([, checks]) => isLinted && checks.every((check) => letterOf(run, check) !== "-"));
}

function checksOver(runs) {
  const ofChecks = filtered(false).map((check) => ({
    id: CHECKS[check][0], title: titleOf(check), open: (number) => openCheck(check, runs[number]),
    letters: runs.map((run) => letterOf(run, check)),
  }));
  return [...ofChecks, ...rulesOver(runs)];
}

/** The rules of the lint in the same way. A rule that a run looked for and did not find broken counts as followed. */
function rulesOver(runs) {
  if (["protocol", "procedure", "section", "levels"].some((key) => state[key] !== "")) return [];
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const ids = [...new Set(DATA.findings.filter((one) => runs.includes(one.run)).map((one) => one.id))].sort();
  return ids.filter((id) => words.every((word) => id.toLowerCase().includes(word))).map((id) => {
    const found = runs.map((run) => DATA.findings.find((one) => one.run === run && one.id === id));
    const one = found.find(Boolean);
    return { id, title: "", open: () => go({ view: "findings" }, { step: true }),
      letters: runs.map((run, number) => (found[number] ? verdictNamed(found[number].verdict).letter : heldIn(run, one) ? "P" : "-")) };
  });
}

const dayOf = (run) => RUNS[run].started.slice(0, 10);

function runName(runs, number) {
  return [`run ${number + 1}`, dayOf(runs[number])].filter(Boolean).join(", ");
}

function spansTold(one, runs) {
  const name = (number) => runName(runs, number);
  const told = one.spans.map(([from, to]) => {
    const came = from === 0 ? "there since the first run" : `came in ${name(from)}`;
    return to === null ? came : `${came}, went in ${name(to)}`;
  });
  const isSilent = one.spans.at(-1)[1] === null && !DEVIATES.includes(one.letters.at(-1));
  return [...told, isSilent ? "not judged in the last run" : ""].filter(Boolean).join("; ");
}

function showHistory() {
  if (SERIES.length === 0) return;
  const { label, runs } = SERIES.find((one) => one.label === state.series) ?? SERIES[0];
  const by = state.by === "check" || CAUSES.length === 0 ? "check" : "cause";
  const all = historyOf(runs, by);
  const came = runs.map((_, number) => all.filter((one) => number > 0 && one.spans.some(([from]) => from === number)));
  const went = runs.map((_, number) => all.filter((one) => one.spans.some(([, to]) => to === number)));
  const [kind, at] = state.event.split("-");
  const chosen = (kind === "came" ? came : kind === "went" ? went : [])[Number(at)];
  const parts = chosen
    ? [historyList(`${kind === "came" ? "Came" : "Went"} in ${runName(runs, Number(at))}`, kind, chosen, runs)]
    : historyParts(all, runs);
  body("history").replaceChildren(...chooseSeries(label), chooseBy(by), runsTable(runs, all, came, went),
    el("p", { class: "quiet", text: `${by === "cause" ? "Causes" : "Checks, and rules of the lint,"} that were seen in one of these runs. What was not judged any more is not gone.` }),
    chosen ? button("Show all", () => go({ event: "" }), { class: "plain" }) : "",
    ...(parts.length ? parts : [el("p", { class: "nothing", text: "No failure in these runs matches the filters." })]));
  announce(`${plural(all.length, by === "cause" ? "cause" : "failure")} in ${plural(runs.length, "run")} of ${label}`);
}

function chooseSeries(label) {
  if (SERIES.length < 2) return [];
  const select = el("select", { id: "series", on: { change: () => go({ series: select.value, event: "" }) } },
    ...SERIES.map((one) => el("option", { value: one.label, text: `${one.label} (${plural(one.runs.length, "run")})` })));
  select.value = label;
  return [el("div", { class: "field" }, el("label", { for: "series", text: "Target" }), select)];
}

function chooseBy(by) {
  if (CAUSES.length === 0) return "";
  return el("div", { class: "segments", role: "group", "aria-label": "Show" }, el("span", { class: "quiet", text: "Show" }),
    ...["cause", "check"].map((way) => button(`${way}s`, () => go({ by: way, event: "" }), { "aria-pressed": String(way === by) })));
}

/** Newest first: what is there now and when it came, and then what is gone. */
function historyParts(all, runs) {
  const isThere = (one) => one.spans.at(-1)[1] === null;
  const newest = (place) => (x, y) => y.spans.at(-1)[place] - x.spans.at(-1)[place];
  const now = all.filter(isThere).sort(newest(0)), gone = all.filter((one) => !isThere(one)).sort(newest(1));
  return [["There now", "came", now], ["Gone", "went", gone]].filter(([, , found]) => found.length)
    .map(([title, kind, found]) => historyList(title, kind, found, runs));
}

function runsTable(runs, all, came, went) {
  const numeric = (text) => ({ text, numeric: true });
  const events = (kind, found, number) => (found.length === 0 ? "0" : button(String(found.length),
    () => go({ event: state.event === `${kind}-${number}` ? "" : `${kind}-${number}` }),
    { class: "count", "aria-pressed": String(state.event === `${kind}-${number}`), "aria-label": `${found.length} ${kind} in ${runName(runs, number)}: show them` }));
  const suite = (run) => RUNS[run].environment.find(([key]) => key === "nfsproof")?.[1] ?? "";
  const more = [["target", (run) => RUNS[run].target], ["nfsproof", suite]].filter(([, of]) => new Set(runs.map(of)).size > 1);
  const rows = runs.map((run, number) => {
    const count = (letter) => all.filter((one) => one.letters[number] === letter).length;
    return [number + 1, el("span", { class: "when", text: moment(RUNS[run].started) }), ...[...DEVIATES].map(count),
      number ? events("came", came[number], number) : "", number ? events("went", went[number], number) : "", ...more.map(([, of]) => of(run))];
  });
  const verdicts = [...DEVIATES].map((letter) => ({ text: badge(VERDICTS.get(letter)), numeric: true }));
  const heads = [numeric("run"), "started", ...verdicts, numeric("came"), numeric("went"), ...more.map(([name]) => name)];
  return table("Runs, from the oldest to the newest", heads, rows, { class: "runs" });
}

function historyList(title, kind, found, runs) {
  const cell = (letter, number) => {
    const verdict = VERDICTS.get(letter) ?? ABSENT;
    return el("span", { class: `v-${verdict.name.replaceAll(" ", "-")}`, role: "img", title: `${runName(runs, number)}: ${verdict.name}`,
      "aria-label": `${runName(runs, number)}: ${verdict.name}`, text: verdict.symbol });
  };
  const item = (one) => el("li", {},
    button(one.id, () => one.open(one.letters.findLastIndex((letter) => DEVIATES.includes(letter))), { class: one.isText ? "choose text" : "choose" }),
    el("span", { class: "strip" }, ...one.letters.map(cell)),
    one.title ? el("p", { class: "short quiet", text: one.title }) : null,
    el("p", { class: "short", text: spansTold(one, runs) }));
  return el("section", { class: `changed ${kind}` }, el("h3", { text: `${title} (${found.length.toLocaleString("en")})` }),
    portioned(el("ul", { class: "bare differences" }), found, item));
}
