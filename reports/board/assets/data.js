// SPDX-License-Identifier: MIT
// What the page was given, and how to ask it. Everything here came from records: it is text, never markup.

const DATA = JSON.parse(document.getElementById("index").textContent);
const { runs: RUNS, checks: CHECKS, groups: GROUPS, requirements: CLAUSES, results: RESULTS } = DATA;

/** Verdicts by letter: {name, symbol, meaning, letter, rank}; rank 0 deserves a look first. */
const VERDICTS = new Map(
  DATA.verdicts.map(([name, symbol, meaning, letter], rank) => [letter, { name, symbol, meaning, letter, rank }]),
);
const LETTERS = [...VERDICTS.keys()];
const ABSENT = { name: "not run", symbol: "·", meaning: "this run does not contain the check", letter: "-", rank: 99 };
/** In a run of the other kind: a server has no checks of clients, and a client has no others. */
const NOT_FOR_IT = { name: "n/a", symbol: "", meaning: "servers and clients have different checks", letter: "-", rank: 99 };
const BY_NAME = new Map([...VERDICTS.values()].map((one) => [one.name, one]));
const INFO = { name: "INFO", symbol: "i", meaning: "legal, and rare", letter: "I", rank: 50 };

/** What tells a run from the others in a narrow place: when it began, if all are of one target; else its label. */
function nameOf(run) {
  return new Set(RUNS.map((one) => one.series)).size === 1 ? run.brief : run.label;
}

const LEVEL_ORDER = ["MUST", "STATED", "SHOULD", "MAY"];
const NUMBERS = new Map(CHECKS.map(([id], number) => [id, number]));
const GROUP_OF = new Map(GROUPS.flatMap(([, , first, last], group) => range(first, last).map((one) => [one, group])));

/** The claim of a check, in a sentence. */
function titleOf(check) {
  return DATA.strings[CHECKS[check][2]];
}

function range(first, last) {
  return Array.from({ length: last - first }, (_, offset) => first + offset);
}

/** The letter of a check's verdict in a run, "-" if the run does not have it. */
function letterOf(run, check) {
  return RESULTS[run].letters[check];
}

function verdictOf(run, check) {
  return VERDICTS.get(letterOf(run, check)) ?? (isFor(run, check) ? ABSENT : NOT_FOR_IT);
}

/** Whether a check is about the kind of target that a run has: a server or a client. */
function isFor(run, check) {
  return RUNS[run].client === CHECKS[check][0].startsWith(DATA.of_clients);
}

function verdictNamed(name) {
  return BY_NAME.get(name) ?? { ...INFO, name };
}

/** What was said of a check that is not green, in short. */
function saidOf(run, check) {
  const number = RESULTS[run].said[check];
  return number === undefined ? "" : DATA.strings[number];
}

function symptomOf(run, check) {
  return RESULTS[run].symptoms[check] ?? -1;
}

/** A clause by number: {rfc, section, part, level, gist, harm, url, citation}. */
function clauseOf(number) {
  if (number === undefined || number === null) return null;
  const [rfc, section, part, level, gist, harm, url] = CLAUSES[number];
  return { rfc, section, part, level, gist, harm, url, citation: `${rfc} section ${section}` };
}

/** The clause that a row is filed under: what a red verdict is about, or the check's first. */
function mainClause(check) {
  return clauseOf(CHECKS[check][1][0]);
}

/** The level at which a run has judged a check. */
function levelIn(run, check) {
  return (clauseOf(RESULTS[run].clauses[check]) ?? mainClause(check))?.level ?? "";
}

/** Details of a check in a run, read and parsed when they are requested the first time; null: the run lacks it. */
const portions = new Map();
function detailsOf(run, check) {
  const name = `portion-${run}-${GROUP_OF.get(check)}`;
  if (!portions.has(name)) {
    const block = document.getElementById(name);
    portions.set(name, block === null ? null : JSON.parse(block.textContent));
  }
  const portion = portions.get(name);
  const details = portion?.checks[check];
  if (details === undefined) return null;
  return { ...details, lines: (numbers) => (numbers ?? []).map((one) => portion.strings[one]) };
}

/** Lower-case text of a check in which a search looks: id, title, clauses, what was said in any run. */
const searchable = [];
function searchText(check) {
  searchable[check] ??= [
    CHECKS[check][0],
    titleOf(check),
    ...CHECKS[check][1].map(clauseOf).flatMap((one) => [one.citation, one.gist]),
    ...RUNS.map((_, run) => saidOf(run, check)),
  ].join("\n").toLowerCase();
  return searchable[check];
}

/** Counts of verdicts of checks in a run: Map letter -> number. */
function tally(run, checks) {
  const counts = new Map();
  const { letters } = RESULTS[run];
  for (const check of checks) counts.set(letters[check], (counts.get(letters[check]) ?? 0) + 1);
  return counts;
}
