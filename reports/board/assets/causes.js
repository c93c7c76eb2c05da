// SPDX-License-Identifier: MIT
// What the failures come from: one entry a cause, and which targets share it.

const CAUSES = DATA.causes;
const CAUSE_BY_KEY = new Map(CAUSES.map((cause) => [cause.key, cause]));

/** Numbers of the checks that show a cause in a run, those included in which only the lint saw it. */
function checksOfCause(cause, run) {
  const of = cause.of[run];
  return of === undefined ? [] : [...of.checks, ...of.rules.flatMap(([, checks]) => checks)];
}

const checksOfCauses = new Map();
/** The same of all runs, as a set. */
function allOfCause(key) {
  const cause = CAUSE_BY_KEY.get(key);
  if (!checksOfCauses.has(key)) checksOfCauses.set(key, new Set(cause === undefined ? [] : RUNS.flatMap((_, run) => checksOfCause(cause, run))));
  return checksOfCauses.get(key);
}

/** The cause of a red check in a run, if it has one. */
function causeOf(run, check) {
  return CAUSES.find((cause) => cause.of[run]?.checks.includes(check));
}

/** Causes with a check that the filters leave, in one of the targets that are looked at. */
function causesShown() {
  const scope = runNumber(state.target, null);
  const inScope = CAUSES.filter((cause) => scope === null || cause.of[scope] !== undefined);
  if (!isFiltered()) return inScope;
  const left = new Set(filtered());
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const isNamed = (cause) => words.length > 0 && !state.protocol && !state.section && !state.levels && !state.verdicts
    && words.every((word) => [cause.text, cause.clause, cause.gist, ...Object.values(cause.of).flatMap((of) => of.rules.map(([rule]) => rule))]
      .join("\n").toLowerCase().includes(word));
  return inScope.filter((cause) => isNamed(cause) || [...allOfCause(cause.key)].some((check) => left.has(check)));
}

/** The check that shows a cause best, and the run that it is of. */
function exampleOf(cause) {
  const scope = runNumber(state.target, null);
  const run = scope !== null && cause.of[scope] ? scope : cause.best;
  return { run, check: cause.of[run].first ?? checksOfCause(cause, run)[0] };
}

const SEVERITIES = new Map(DATA.severities.map((one) => [one.name, one]));
const ADVICE = { title: "advice not followed", why: "a SHOULD that the server does not follow: no program relies on it" };

/** What a cause does to the users of the server; a broken SHOULD that does little harm is listed after all others. */
function severityShown(cause) {
  const severity = SEVERITIES.get(cause.severity) ?? { title: cause.severity, why: "", grave: true };
  return cause.verdict === "NONSTRICT" && !severity.grave ? ADVICE : severity;
}

/** The causes in the order of the data, the worst harm first, in groups of one severity: [[severity, causes]]. */
function bySeverity(causes) {
  const groups = new Map();
  for (const cause of causes) {
    const severity = severityShown(cause);
    groups.set(severity, [...(groups.get(severity) ?? []), cause]);
  }
  return [...groups];
}

function showCauses() {
  const causes = causesShown();
  body("causes").replaceChildren(causesTold(causes), runLegend(),
    ...bySeverity(causes).map(([severity, of]) => el("section", { class: "causes" },
      el("h3", { title: severity.why }, `${severity.title} (${of.length.toLocaleString("en")})`, el("span", { class: "quiet why", text: severity.why })),
      portioned(el("ol", { class: "bare" }), of, causeItem))),
    causes.length ? "" : el("p", { class: "nothing", text: "No cause matches these filters." }));
  announce(causes.length === CAUSES.length ? plural(CAUSES.length, "cause") : `${causes.length.toLocaleString("en")} of ${plural(CAUSES.length, "cause")}`);
}

function causesTold(causes) {
  const counts = RUNS.map((_, run) => tally(run, new Set(causes.flatMap((cause) => cause.of[run]?.checks ?? []))));
  const of = (run) => causes.filter((cause) => cause.of[run] !== undefined).length;
  const note = el("p", { class: "quiet", text: "Checks and rules of the lint that show the same have one cause." });
  if (RUNS.length === 1) {
    const red = [...DEVIATES].filter((letter) => counts[0].get(letter)).map((letter) => `${counts[0].get(letter).toLocaleString("en")} ${VERDICTS.get(letter).name}`);
    note.prepend(el("strong", { text: `${red.length ? `${red.join(", ")} from ` : ""}${plural(causes.length, "cause")}. ` }));
    return note;
  }
  const rows = RUNS.map((run, number) => [number + 1, nameOf(run), of(number), ...[...DEVIATES].map((letter) => counts[number].get(letter) ?? 0)]);
  const heads = ["", "target", { text: "causes", numeric: true }, ...[...DEVIATES].map((letter) => ({ text: badge(VERDICTS.get(letter)), numeric: true }))];
  return el("div", {}, table("Causes by target", heads, rows, { class: "runs" }), note);
}

/** Numbers of the runs, over the columns of the entries. */
function runLegend() {
  if (RUNS.length < 2) return "";
  return el("div", { class: "strip legend", "aria-hidden": "true" },
    ...RUNS.map((run, number) => el("span", { title: run.label, text: String(number + 1) })));
}

function causeItem(cause) {
  const example = exampleOf(cause);
  const of = cause.of[example.run];
  const list = el("div", { class: "members" });
  const opener = lazily(RUNS.length > 1 ? `checks, by target` : of.counts, () => { fillMembers(list, cause); return list; });
  return el("li", { class: `cause v-${cause.verdict}` },
    badge(verdictNamed(cause.verdict)),
    el("div", { class: "what" },
      button(of.text, () => openCheck(example.check, RUNS.length > 1 ? example.run : null), { class: "choose", disabled: example.check === undefined }),
      cause.clause ? el("p", { class: "quiet" }, link(cause.url, cause.clause), el("span", { class: "tag", text: cause.level }), ` ${cause.gist}`) : null,
      of.elsewhere.length ? el("p", { class: "quiet", text: `also on ${of.elsewhere.join(", ")}` }) : null,
      opener),
    RUNS.length > 1 ? causeStrip(cause, example.run) : null);
}

/** A cell a target: how many checks show the cause there. */
function causeStrip(cause) {
  return el("span", { class: "strip" }, ...RUNS.map((run, number) => {
    const of = cause.of[number];
    if (of === undefined) return el("span", { class: "v-not-run", title: `${run.label}: not seen`, role: "img", "aria-label": `${run.label}: not seen`, text: "·" });
    return button(of.checks.length ? of.checks.length.toLocaleString("en") : verdictNamed(of.verdict).symbol,
      () => openCheck(of.first ?? checksOfCause(cause, number)[0], number),
      { class: `v-${of.verdict}`, title: `${run.label}: ${of.verdict}, ${of.counts}`, "aria-label": `${run.label}: ${of.verdict}, ${of.counts}` });
  }));
}

function fillMembers(list, cause) {
  const show = button("Show them among the checks", () => go({ view: "checks", cause: cause.key }, { step: true }), { class: "plain small" });
  list.append(show);
  for (const [run, of] of Object.entries(cause.of)) {
    if (RUNS.length > 1) list.append(el("h4", {}, badge(verdictNamed(of.verdict)), ` ${RUNS[run].label}: ${of.counts}`));
    if (RUNS.length > 1 && of.text !== cause.text) list.append(el("p", { class: "short", text: of.text }));
    const item = (check) => el("li", {}, checkLink(CHECKS[check][0], check, RUNS.length > 1 ? Number(run) : null));
    if (of.checks.length) list.append(portioned(el("ul", { class: "bare" }), of.checks, item, 60));
    for (const [rule, checks] of of.rules) {
      list.append(lazily(`${rule} in ${plural(checks.length, "check")}`, () => portioned(el("ul", { class: "bare" }), checks, item, 60)));
    }
  }
}

function fillCauses() {
  fill(byId("cause"), CAUSES.map((cause) => [cause.key, `${cause.verdict}: ${cause.text.slice(0, 90)}`]), "all");
}
