// SPDX-License-Identifier: MIT
// Puts the page together and keeps it in step with the state.

const CLEAR = Object.fromEntries(FILTERS.map((key) => [key, ""]));
const byId = (id) => document.getElementById(id);
const FILTERED_VIEWS = ["causes", "checks", "compare", "history", "requirements", "choices"];
const OF_RUNS = ["compare", "history"];  // they choose their runs, and show what has changed

function announce(text) {
  byId("status").textContent = text;
}

function fill(select, options, all) {
  select.replaceChildren(el("option", { value: "", text: all }), ...options.map(([value, text]) => el("option", { value, text })));
}

function fillFilters() {
  const protocols = [...new Set(GROUPS.map(([protocol]) => protocol))];
  fill(byId("protocol"), protocols.map((one) => [one, one]), "all");
  fillProcedures();
  fillCauses();
  const sections = [...new Set(CHECKS.flatMap(([, clauses]) => clauses.map((one) => `${CLAUSES[one][0]} ${CLAUSES[one][1]}`)))];
  const order = (text) => [text.slice(0, text.lastIndexOf(" ")), bySection(text.slice(text.lastIndexOf(" ") + 1))];
  sections.sort((x, y) => {
    const [[rfcX, sectionX], [rfcY, sectionY]] = [order(x), order(y)];
    return rfcX.localeCompare(rfcY, "en", { numeric: true }) || sectionX.localeCompare(sectionY);
  });
  fill(byId("section"), sections.map((one) => [one, one.replace(/ (\S*)$/, " § $1")]), "all");
  fill(byId("target"), RUNS.map((run, number) => [String(number), `${number + 1}: ${run.label}`]), "any");
  byId("levels").append(...levelNames().map((level) => button(level, () => go({ levels: toggled(state.levels, level) }), { class: "chip", "data-value": level })));
  byId("verdicts").append(...[...VERDICTS.values()].map((one) => {
    const chip = button("", () => go({ verdicts: toggled(state.verdicts, one.name) }), { class: `chip v-${one.name}`, title: one.meaning, "data-value": one.name });
    chip.append(badge(one), el("span", { class: "amount" }));
    return chip;
  }));
}

function fillProcedures() {
  const procedures = GROUPS.filter(([protocol, procedure]) => procedure && (!state.protocol || protocol === state.protocol)).map(([, procedure]) => procedure);
  fill(byId("procedure"), [...new Set(procedures)].sort().map((one) => [one, one]), "all");
}

/** The controls say what the state says. */
function showFilters() {
  if (byId("q").value !== state.q) byId("q").value = state.q;
  fillProcedures();
  for (const name of ["protocol", "procedure", "section", "target", "cause"]) byId(name).value = state[name];
  byId("differ").checked = state.differ !== "";
  for (const name of ["levels", "verdicts"]) {
    for (const chip of byId(name).querySelectorAll(".chip")) {
      chip.setAttribute("aria-pressed", String(listed(state[name]).includes(chip.dataset.value)));
    }
  }
  byId("reset").disabled = !isFiltered();
  byId("filters").hidden = !FILTERED_VIEWS.includes(state.view);
  byId("filters").classList.toggle("of-causes", state.view === "causes");
  for (const chip of byId("verdicts").querySelectorAll(".chip")) {
    chip.hidden = state.view === "causes" && !DEVIATES.includes(BY_NAME.get(chip.dataset.value).letter);
  }
  byId("cause-field").hidden = state.view === "causes" || CAUSES.length === 0;
  byId("verdicts").hidden = OF_RUNS.includes(state.view) || state.view === "choices";
  // A filter that acts is never out of sight.
  const isActing = ["protocol", "procedure", "section", "target", "levels", "cause", "differ"].some((key) => state[key] !== "");
  byId("filters").classList.toggle("acting", isActing);
  byId("target-field").hidden = byId("differ-field").hidden = RUNS.length < 2 || OF_RUNS.includes(state.view);
  if (state.view === "causes") byId("differ-field").hidden = true;
}

/** Next to each verdict: the checks that have it in a target that is looked at. */
function showAmounts() {
  const scope = runNumber(state.target, null);
  const runs = scope === null ? RUNS.map((_, run) => run) : [scope];
  const counts = new Map();
  for (const check of filtered(false)) {
    const fitting = runs.filter((run) => levelFits(run, check));
    for (const letter of new Set(fitting.map((run) => letterOf(run, check)))) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  for (const chip of byId("verdicts").querySelectorAll(".chip")) {
    chip.querySelector(".amount").textContent = (counts.get(BY_NAME.get(chip.dataset.value).letter) ?? 0).toLocaleString("en");
  }
}

const SHOW = {
  checks: () => {
    showSummary();
    showAmounts();
    const checks = layMatrix();
    announce(checks.length === CHECKS.length ? plural(CHECKS.length, "check") : `${checks.length.toLocaleString("en")} of ${plural(CHECKS.length, "check")}`);
  },
  causes: showCauses, compare: showCompare, history: showHistory, requirements: showRequirements, findings: showFindings, choices: showChoices, duplicates: showDuplicates, clients: showClients,
  statistics: showStatistics, charts: () => {}, workloads: () => {}, targets: showTargets,
};
const LAID_BY = [...FILTERS, "view", "by", "open", "closed", "a", "b", "changes", "series", "event"];

function show(now, before) {
  const isNew = before === null;
  const isOther = now.check !== (before?.check ?? "");
  const anchor = now.check || (before?.check ?? "");
  const place = isOther && !isNew ? placeOf(anchor) : null;
  if (isNew || LAID_BY.some((key) => now[key] !== before[key])) {
    showFilters();
    for (const [name] of VIEWS) byId(`view-${name}`).hidden = name !== now.view;
    for (const one of byId("views").children) {
      if (one.dataset.view === now.view) {
        one.setAttribute("aria-current", "page");
        byId("views").scrollLeft = Math.min(byId("views").scrollLeft, one.offsetLeft);
        byId("views").scrollLeft = Math.max(byId("views").scrollLeft, one.offsetLeft + one.offsetWidth - byId("views").clientWidth);
      }
      else one.removeAttribute("aria-current");
    }
    if (isNew || now.view !== before.view) announce("");
    SHOW[now.view]();
    if (now.view !== "checks" && FILTERED_VIEWS.includes(now.view)) showAmounts();
    if (!isNew && now.view !== before.view) window.scrollTo(0, 0);
    if (now.view === "checks") fitColumns();
  }
  if (isNew || now.check !== before.check || now.run !== before.run) {
    showPanel();
    if (state.check && !NUMBERS.has(state.check)) announce(`This page has no check ${state.check}`);
    for (const [number, element] of matrix.shown) {
      const row = matrix.rows[number];
      if (row.kind === "check") element.setAttribute("aria-selected", String(row.key === now.check));
    }
    if (isOther && now.view === "checks") {
      fitColumns();
      if (now.check || place !== null) bringTo(anchor, place);
      activate(now.check);
    }
  }
}

// ---- Head of the page

/** Labels of the runs, each target once: `nfs://host/export (3 runs, 2026-11-20 to 2026-11-25)`. */
function targetsNamed() {
  const series = new Map();
  for (const run of RUNS) series.set(run.series, [...(series.get(run.series) ?? []), run]);
  return [...series].map(([label, runs]) => {
    if (runs.length === 1) return label;
    const days = runs.map((run) => run.started.slice(0, 10)).filter(Boolean).sort();
    const span = days.length === 0 ? "" : days[0] === days.at(-1) ? `, ${days[0]}` : `, ${days[0]} to ${days.at(-1)}`;
    return series.size === 1 ? `${label}${span}` : `${label} (${plural(runs.length, "run")}${span})`;
  });
}

function showHead() {
  const run = RUNS[0];
  const about = RUNS.length === 1
    ? [plural(CHECKS.length, "check"), run.ending, run.started && `started ${moment(run.started)}`, run.commit && `commit ${run.commit}`, duration(run.seconds)]
    : [plural(CHECKS.length, "check"), targetsNamed().join(", ")];
  byId("title").replaceChildren(breakable(byId("title").textContent));
  byId("tagline").textContent = about.filter(Boolean).join(" · ");
  showNotes();
  byId("views").append(...VIEWS.map(([name, title]) => el("a", { href: `#view=${name}`, "data-view": name, text: title,
    on: { click: (event) => { event.preventDefault(); go({ view: name, check: "", run: "" }, { step: true }); } } })));
}

/** What limits a run as a whole has a line. Differences from a baseline, and what else was not judged, are a line that opens. */
function showNotes() {
  const name = (one) => (RUNS.length > 1 ? el("strong", { text: `${one.label}: ` }) : null);
  const lines = (runs, of) => runs.flatMap((run) => of(run).map((text) => el("li", {}, name(run), text)));
  const folded = (title, items, isNote = false) => el("details", { class: `remarks${isNote ? " note" : ""}` },
    el("summary", { text: title }), el("ul", {}, ...items));
  const onRuns = (runs) => (RUNS.length > 1 ? ` in ${plural(runs.length, "run")}` : "");
  const limitsOf = (run) => [run.trouble, ...run.problems].filter(Boolean);
  const limited = RUNS.filter((run) => limitsOf(run).length > 0);
  const limits = lines(limited, limitsOf);
  const shown = limits.length > 2 ? [folded(`${plural(limits.length, "note")}${onRuns(limited)}: incomplete, damaged or not judged`, limits, true)]
    : limited.flatMap((run) => limitsOf(run).map((text) => el("p", { class: "note" }, name(run), text)));
  const differing = RUNS.filter((run) => run.differences.length > 0);
  const count = differing.reduce((sum, run) => sum + run.differences.length + run.more, 0);
  if (count) {
    shown.push(folded(`${plural(count, "difference")} from a baseline${onRuns(differing)}`,
      lines(differing, (run) => [...run.differences, ...(run.more ? [`${run.more.toLocaleString("en")} more`] : [])]), true));
  }
  const unjudged = RUNS.filter((run) => run.unjudged.length > 0);
  if (unjudged.length) shown.push(folded(`not judged${onRuns(unjudged)}: ${plural(lines(unjudged, (run) => run.unjudged).length, "protocol")}`, lines(unjudged, (run) => run.unjudged)));
  byId("notes").append(...shown);
}

const THEMES = { "": ["auto", "those of the system"], light: ["light", "light"], dark: ["dark", "dark"] };

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  byId("theme").textContent = `Colours: ${THEMES[name][0]}`;
  byId("theme").title = `Colours: ${THEMES[name][1]}. Click for the next`;
}

function wireTheme() {
  const kept = (() => { try { return localStorage.getItem("nfsproof-theme"); } catch { return null; } })();
  setTheme(Object.hasOwn(THEMES, kept ?? "") ? kept ?? "" : "");
  byId("theme").addEventListener("click", () => {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length];
    setTheme(next);
    try { localStorage.setItem("nfsproof-theme", next); } catch { /* a page from disk may be refused its store */ }
  });
}

const KEYS = [["/", "search"], ["Esc", "close the check, or clear the search"], ["↑ ↓", "move between rows; an open check follows"],
  ["→ ←", "open and close a group; move between targets"], ["Enter", "open the check for the target in focus"],
  ["Home End, Page ↑ ↓", "move further"], ["n p", "next and previous failure, or hit of the search"], ["Enter in the search, or at the start", "the first of them"], ["?", "these keys"]];

function wireKeys() {
  const keys = byId("keys");
  keys.append(el("h2", { id: "keys-title", text: "Keys" }),
    el("dl", {}, ...KEYS.flatMap(([key, what]) => [el("dt", {}, el("kbd", { text: key })), el("dd", { text: what })])),
    button("Close", () => keys.close(), { class: "plain" }));
  byId("help").addEventListener("click", () => keys.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    const isTyping = event.target.matches("input, select, textarea");
    if (event.key === "Escape") {
      if (isTyping && state.q) go({ q: "" });
      else if (state.check) closeCheck();
    } else if (isTyping) {
      if (event.target.id !== "q") return;
      if (event.key === "ArrowDown" && matrix.rows.length) { event.preventDefault(); focusRow(0, -1); }
      else if (event.key === "Enter" && hits().length) { event.preventDefault(); openCheck(hits()[0]); }
    } else if (event.key === "/") {
      event.preventDefault();
      if (!FILTERED_VIEWS.includes(state.view)) go({ view: "checks" }, { step: true });
      byId("q").focus();
    } else if (event.key === "?") keys.showModal();
    else if (event.key === "n" || (event.key === "Enter" && event.target === document.body && !state.check)) stepHit(1);
    else if (event.key === "p") stepHit(-1);
  });
}

function wireFilters() {
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("q").addEventListener("input", () => go({ q: byId("q").value }));
  byId("protocol").addEventListener("change", () => go({ protocol: byId("protocol").value, procedure: "" }));
  for (const name of ["procedure", "section", "target", "cause"]) byId(name).addEventListener("change", () => go({ [name]: byId(name).value }));
  byId("differ").addEventListener("change", () => go({ differ: byId("differ").checked ? "1" : "" }));
  byId("reset").addEventListener("click", () => { go(CLEAR); byId("q").focus(); });
  byId("expand").addEventListener("click", () => go({ open: "*", closed: "" }));
  byId("collapse").addEventListener("click", () => go({ open: "", closed: "*" }));
  byId("more").addEventListener("click", () => {
    const isOpen = byId("filters").classList.toggle("all");
    byId("more").setAttribute("aria-expanded", String(isOpen));
    byId("more").textContent = isOpen ? "Fewer filters" : "More filters";
  });
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    if (state.view === "checks" && matrix.rows.length > 0) focusRow(activeNumber(), -1);
    else byId(`${state.view}-heading`).focus();
  });
}

state = readFragment();
byId("main").hidden = byId("views").hidden = false;
showHead();
fillFilters();
matrixHeads();
wireTheme();
wireKeys();
wireFilters();
wireMatrix();
listeners.push(show);
show(state, null);
document.documentElement.dataset.ready = "yes";
