// SPDX-License-Identifier: MIT
// The fragment of the URL holds what is shown: a link to the page opens it in the same state.

const VIEWS = [
  ["clients", "Clients", DATA.clients !== null],
  ["causes", "Causes", DATA.causes.length > 0],
  ["checks", "Checks", true],
  ["compare", "Compare", RUNS.length > 1],
  ["history", "History", new Set(RUNS.map((run) => run.series)).size < RUNS.length],
  ["requirements", "Requirements", CLAUSES.length > 0],
  ["findings", "Findings", DATA.findings.length > 0],
  ["choices", "Choices", DATA.observations.length > 0],
  ["duplicates", "Duplicates", DATA.duplicates !== null],
  ["statistics", "Statistics", RUNS.some((run) => run.statistics.length > 0)],
  ["charts", "Charts", document.querySelector("#view-charts figure") !== null],
  ["workloads", "Workloads", document.querySelector("#view-workloads section") !== null],
  ["targets", RUNS.length > 1 ? "Targets" : "Target", RUNS.length > 0],
].filter(([, , isThere]) => isThere);

/** What a page without a fragment opens with: what the failures come from, if somebody has to look at a run; of clients alone, their tables. */
const START = DATA.clients !== null && RUNS.every((run) => run.client) ? "clients" : DATA.causes.length > 0 && RUNS.some((run) => run.red) ? "causes" : "checks";
const FRESH = Object.freeze({
  view: "checks", q: "", protocol: "", procedure: "", section: "", target: "", levels: "", verdicts: "", differ: "", cause: "",
  by: "", open: "", closed: "", check: "", run: "", a: "", b: "", changes: "", series: "", event: "",
});
const FILTERS = ["q", "protocol", "procedure", "section", "target", "levels", "verdicts", "differ", "cause"];
let state = { ...FRESH };
const listeners = [];

/** Values of the state that are lists are joined with commas. */
function listed(value) {
  return value === "" ? [] : value.split(",");
}

function toggled(value, one) {
  const all = listed(value);
  return (all.includes(one) ? all.filter((other) => other !== one) : [...all, one]).join(",");
}

/** Number of a run that the state names; `otherwise` where it names none. */
function runNumber(value, otherwise) {
  const number = value === "" ? NaN : Number(value);
  return Number.isInteger(number) && number >= 0 && number < RUNS.length ? number : otherwise;
}

function readFragment() {
  const text = location.hash.slice(1);
  if (text === "") return { ...FRESH, view: START };
  const whole = decoded(text);
  if (NUMBERS.has(whole)) return { ...FRESH, check: whole };  // a bare id, as in links of old
  const found = { ...FRESH };
  for (const pair of text.split("&")) {
    const [key, ...rest] = pair.split("=");
    if (Object.hasOwn(FRESH, key)) found[key] = decoded(rest.join("="));
  }
  if (!VIEWS.some(([name]) => name === found.view)) found.view = "checks";
  return found;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function fragment() {
  const pairs = Object.entries(state).filter(([key, value]) => key !== "view" && value !== FRESH[key]);
  if (state.view !== (pairs.length > 0 ? FRESH.view : START)) pairs.unshift(["view", state.view]);
  return pairs.map(([key, value]) => `${key}=${encodeURIComponent(value).replaceAll("%2F", "/").replaceAll("%2C", ",")}`).join("&");
}

/** Changes the state and shows it. Opening a check or a view is a step that "back" undoes; filtering is none. */
function go(changes, { step = false } = {}) {
  const before = state;
  state = { ...state, ...changes };
  const url = `#${fragment()}`;
  if (url !== location.hash && !(url === "#" && location.hash === "")) {
    if (step) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
  }
  for (const listener of listeners) listener(state, before);
}

window.addEventListener("hashchange", () => {
  const before = state;
  state = readFragment();
  for (const listener of listeners) listener(state, before);
});
window.addEventListener("popstate", () => {
  const before = state;
  state = readFragment();
  for (const listener of listeners) listener(state, before);
});
