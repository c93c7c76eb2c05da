// SPDX-License-Identifier: MIT
// Checks × targets. Only the rows near the window exist: thousands of checks scroll as a few dozen do.

const rowsBox = document.getElementById("rows");
const grid = document.getElementById("checks");
const FEW = 60;  // with no more checks than this, groups start open
const BEYOND = 12;  // rows kept above and below the window

/** Numbers of the checks that the filters let through; `withVerdicts` false leaves those of the verdict out. */
function filtered(withVerdicts = true) {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const levels = listed(state.levels), wanted = withVerdicts ? listed(state.verdicts) : [];
  const scope = runNumber(state.target, null);
  const scoped = scope === null ? RUNS.map((_, run) => run) : [scope];
  const fits = (check, protocol, procedure) => {
    if (state.protocol && protocol !== state.protocol) return false;
    if (state.procedure && procedure !== state.procedure) return false;
    // Level and verdict of one and the same run: that another one has the other is no match.
    if ((levels.length || wanted.length) && !scoped.some((run) => levelFits(run, check)
      && (!wanted.length || wanted.includes(verdictOf(run, check).name)))) return false;
    if (state.section && !CHECKS[check][1].some((one) => within(clauseOf(one), state.section))) return false;
    if (state.cause && !allOfCause(state.cause).has(check)) return false;
    if (state.differ && new Set(RUNS.map((_, run) => run).filter((run) => isFor(run, check)).map((run) => letterOf(run, check))).size <= 1) return false;
    if (scope !== null && letterOf(scope, check) === "-") return false;
    return words.every((word) => searchText(check).includes(word));
  };
  return GROUPS.flatMap(([protocol, procedure, first, last]) =>
    range(first, last).filter((check) => fits(check, protocol, procedure)));
}

/** Whether the filters let the level through at which a run has judged a check. */
function levelFits(run, check) {
  const levels = listed(state.levels);
  return levels.length === 0 || levels.includes(levelIn(run, check));
}

/** Whether a clause stands in a section, or in one below it. `section`: "RFC 1813 3.3.7". */
function within(clause, section) {
  const [rfc, wanted] = [section.slice(0, section.lastIndexOf(" ")), section.slice(section.lastIndexOf(" ") + 1)];
  return clause.rfc === rfc && (clause.section === wanted || clause.section.startsWith(`${wanted}.`));
}

function isFiltered() {
  return FILTERS.some((key) => state[key] !== "");
}

const matrix = { rows: [], shown: new Map(), active: "", column: -1, height: 32 };

/** Whether the rows below a heading show. */
function isOpen(key) {
  if (listed(state.closed).includes(key)) return false;
  if (listed(state.open).some((one) => one === key || one === "*")) return true;
  if (listed(state.closed).includes("*")) return !key.includes("/");
  return isFiltered() || !key.includes("/") || CHECKS.length <= FEW;
}

/** Headings and checks in order, those in closed groups left out. */
function rowsOf(checks) {
  const rows = [];
  let protocol = null, group = null;
  for (const check of checks) {
    const number = GROUP_OF.get(check);
    const [protocolName, procedure] = GROUPS[number];
    if (protocol?.key !== protocolName) {
      protocol = { kind: "protocol", key: protocolName, name: protocolName, level: 1, checks: [], open: isOpen(protocolName) };
      rows.push(protocol);
      group = null;
    }
    protocol.checks.push(check);
    if (!protocol.open) continue;
    const key = `${protocolName}/${procedure}`;
    if (group?.key !== key) {
      group = { kind: "group", key, name: procedure || "(other)", level: 2, checks: [], open: isOpen(key) };
      rows.push(group);
    }
    group.checks.push(check);
    if (group.open) rows.push({ kind: "check", key: CHECKS[check][0], level: 3, check });
  }
  return rows;
}

function setOpen(key, wanted) {
  const without = (value) => listed(value).filter((one) => one !== key);
  const [open, closed] = [without(state.open), without(state.closed)];
  (wanted ? open : closed).push(key);
  go({ open: open.join(","), closed: closed.join(",") });
}

/** Lays the matrix out again. */
function layMatrix() {
  const checks = filtered();
  matrix.rows = rowsOf(checks);
  matrix.height = parseFloat(getComputedStyle(grid).getPropertyValue("--row")) || 32;
  rowsBox.style.height = `${matrix.rows.length * matrix.height}px`;
  grid.setAttribute("aria-rowcount", matrix.rows.length + 1);
  for (const element of matrix.shown.values()) element.remove();
  matrix.shown.clear();
  if (!matrix.rows.some((row) => row.key === matrix.active)) matrix.active = matrix.rows[0]?.key ?? "";
  if (matrix.rows.length === 0) {
    rowsBox.replaceChildren(el("p", { class: "nothing", text: "No check matches these filters." }));
    rowsBox.style.height = "auto";
  } else {
    rowsBox.replaceChildren();
    showRows();
  }
  return checks;
}

/** Makes the rows near the window, and takes away the others. */
function showRows(all = false) {
  const { rows, shown, height } = matrix;
  if (rows.length === 0 || grid.offsetParent === null) return;
  const top = -rowsBox.getBoundingClientRect().top;
  const first = all ? 0 : Math.max(0, Math.floor(top / height) - BEYOND);
  const last = all ? rows.length : Math.min(rows.length, Math.ceil((top + window.innerHeight) / height) + BEYOND);
  const wanted = new Set();
  const made = new Set();
  for (let number = 0; number < rows.length; number += 1) {
    const isNear = number >= first && number < last;
    if (!isNear && rows[number].key !== matrix.active) continue;  // where the keyboard is stays, so that focus does
    wanted.add(number);
    if (!shown.has(number)) {
      const element = rowElement(rows[number], number);
      shown.set(number, element);
      made.add(element);
    }
  }
  for (const [number, element] of shown) {
    if (!wanted.has(number)) {
      element.remove();
      shown.delete(number);
    }
  }
  // In the order of their numbers: a screen reader reads them as they stand here.
  const order = [...shown.keys()].sort((x, y) => x - y);
  order.forEach((number, place) => {
    const element = shown.get(number);
    if (made.has(element)) rowsBox.insertBefore(element, place === 0 ? rowsBox.firstChild : shown.get(order[place - 1]).nextSibling);
  });
}

function rowElement(row, number) {
  const isHeading = row.kind !== "check";
  const element = el("div", {
    role: "row", class: `row ${row.kind}`, "aria-level": row.level, "aria-rowindex": number + 2, "data-number": number,
    "aria-expanded": isHeading ? String(row.open) : undefined, tabindex: row.key === matrix.active ? "0" : "-1",
    "aria-selected": isHeading ? undefined : String(row.key === state.check),
  });
  element.style.top = `${number * matrix.height}px`;
  element.append(...(isHeading ? headingCells(row) : checkCells(row)));
  return element;
}

function headingCells(row) {
  const count = plural(row.checks.length, "check");
  return [
    el("div", { role: "rowheader", class: "name" },
      el("span", { class: "twist", "aria-hidden": "true", text: row.open ? "▾" : "▸" }),
      el("span", { class: "label", text: row.name }), el("span", { class: "quiet", text: count })),
    ...RUNS.map((run, number) => {
      const counts = tally(number, row.checks);
      const worst = LETTERS.find((letter) => counts.get(letter));
      const verdict = VERDICTS.get(worst) ?? ABSENT;
      const symbol = `${verdict.symbol} ${counts.get(worst) ?? ""}`;
      return el("div", { role: "gridcell", class: "cell", tabindex: "-1", title: `${run.label}: ${told(counts)}` },
        el("span", { class: `worst v-${verdict.name.replaceAll(" ", "-")}`, "aria-hidden": "true", text: symbol }), bar(counts),
        el("span", { class: "unseen", text: `${run.label}: ${told(counts)}` }));
    }),
    ...(RUNS.length === 1 ? [el("div", { role: "gridcell", class: "said quiet", text: told(tally(0, row.checks)) })] : []),
  ];
}

function checkCells(row) {
  const clause = mainClause(row.check);
  const [protocol, procedure] = GROUPS[GROUP_OF.get(row.check)];
  const prefix = procedure ? `${protocol}/${procedure}/` : `${protocol}/`;
  return [
    el("div", { role: "rowheader", class: "name", title: `${row.key}: ${titleOf(row.check)}` },
      el("span", { class: "unseen", text: prefix }),
      el("span", { class: "label", text: row.key.slice(prefix.length) }),
      el("span", { class: "title quiet", text: titleOf(row.check) }),
      el("span", { class: "level quiet", text: clause?.level ?? "" })),
    ...RUNS.map((run, number) =>
      el("div", { role: "gridcell", class: "cell", tabindex: "-1", title: saidOf(number, row.check) || undefined },
        badge(verdictOf(number, row.check)))),
    ...(RUNS.length === 1 ? [el("div", { role: "gridcell", class: "said quiet", text: saidOf(0, row.check) })] : []),
  ];
}

function matrixHeads() {
  const cells = RUNS.map((run, number) =>
    el("div", { role: "columnheader", class: "cell", title: `${run.label}: ${run.target}` },
      el("span", { class: "number", "aria-hidden": "true", text: String(number + 1) }), breakable(nameOf(run))));
  const said = RUNS.length === 1 ? [el("div", { role: "columnheader", class: "said", text: "Outcome" })] : [];
  document.getElementById("heads").replaceChildren(
    el("div", { role: "row", class: "row heads", "aria-rowindex": "1" },
      el("div", { role: "columnheader", class: "name", text: "Check" }), ...cells, ...said));
  grid.setAttribute("aria-colcount", RUNS.length + 1 + said.length);
  grid.style.setProperty("--targets", RUNS.length);
  grid.classList.toggle("single", RUNS.length === 1);
}

/** A label that may be broken after a colon or a slash, and where a URL has another part. */
function breakable(label) {
  const parts = label.split(/(?<=[:/])|(?=[?&])/);
  return el("span", { class: "label" }, ...parts.flatMap((part, number) => (number ? [el("wbr"), part] : [part])));
}

/** Narrow: symbols without words, numbers without labels. */
function fitColumns() {
  grid.classList.toggle("compact", grid.clientWidth > 0 && grid.clientWidth < 260 + RUNS.length * 132);
  document.getElementById("summary").classList.toggle("tight", grid.clientWidth > 0 && grid.clientWidth < 780);
  showRows();
}

// ---- The row of the open check stays where it is in the window while the page around it gets another width.

/** How far below the top of the window a row is; null if it is out of sight, or no row. */
function placeOf(key) {
  const number = matrix.rows.findIndex((row) => row.key === key);
  if (number < 0 || grid.offsetParent === null) return null;
  const top = rowsBox.getBoundingClientRect().top + number * matrix.height;
  return top + matrix.height > 0 && top < window.innerHeight ? top : null;
}

/** Scrolls until a row is at a place. `place` null: into the window, if it is out of sight. */
function bringTo(key, place) {
  const number = matrix.rows.findIndex((row) => row.key === key);
  if (number < 0 || grid.offsetParent === null) return;
  const top = rowsBox.getBoundingClientRect().top + number * matrix.height;
  const [low, high] = [document.getElementById("heads").offsetHeight + 4, window.innerHeight - matrix.height - 4];
  const isSeen = top >= low && top <= high;
  const wanted = place === null ? (isSeen ? top : window.innerHeight / 3) : Math.max(low, Math.min(high, place));
  if (Math.abs(top - wanted) >= 1) window.scrollBy(0, top - wanted);
  showRows();
}

/** Makes a row the one that the keyboard is on. */
function activate(key) {
  if (key === matrix.active || !matrix.rows.some((row) => row.key === key)) return;
  matrix.shown.get(activeNumber())?.setAttribute("tabindex", "-1");
  matrix.active = key;
  showRows();
  matrix.shown.get(activeNumber())?.setAttribute("tabindex", "0");
}

/** What the state needs so that the headings above a check are open. */
function opened(check) {
  const [protocol, procedure] = GROUPS[GROUP_OF.get(check)];
  const closed = [protocol, `${protocol}/${procedure}`].filter((key) => !isOpen(key));
  if (closed.length === 0) return {};
  const without = (value) => listed(value).filter((one) => !closed.includes(one));
  return { open: [...without(state.open), ...closed].join(","), closed: without(state.closed).join(",") };
}

// ---- Keyboard: a row is where the focus is; right goes into its cells, left out of them.

function activeNumber() {
  return matrix.rows.findIndex((row) => row.key === matrix.active);
}

function focusRow(number, column = matrix.column) {
  const row = matrix.rows[Math.max(0, Math.min(matrix.rows.length - 1, number))];
  if (row === undefined) return;
  const place = matrix.rows.indexOf(row);
  activate(row.key);
  matrix.column = column;
  showRows();
  const element = matrix.shown.get(place);
  const heads = document.getElementById("heads").offsetHeight;
  const { top, bottom } = element.getBoundingClientRect();
  if (top < heads + 4) window.scrollBy(0, top - heads - 4);
  else if (bottom > window.innerHeight - 4) window.scrollBy(0, bottom - window.innerHeight + 4);
  showRows();
  element.setAttribute("tabindex", "0");
  (column >= 0 ? element.querySelectorAll("[role=gridcell]")[column] ?? element : element).focus({ preventScroll: true });
  if (state.check && row.kind === "check") go({ check: row.key, run: column >= 0 ? String(column) : state.run });
}

function openRow(number, column) {
  const row = matrix.rows[number];
  matrix.active = row.key;
  if (row.kind !== "check") {
    setOpen(row.key, !row.open);
    focusRow(matrix.rows.findIndex((one) => one.key === row.key), -1);
  } else {
    openCheck(row.check, column >= 0 && column < RUNS.length ? column : null);
  }
}

function page() {
  return Math.max(1, Math.floor(window.innerHeight / matrix.height) - 3);
}

const MOVES = {
  ArrowDown: (now) => focusRow(now + 1),
  ArrowUp: (now) => focusRow(now - 1),
  PageDown: (now) => focusRow(now + page()),
  PageUp: (now) => focusRow(now - page()),
  Home: () => focusRow(0),
  End: () => focusRow(matrix.rows.length - 1),
  Enter: (now) => openRow(now, matrix.column),
  " ": (now) => openRow(now, matrix.column),
  ArrowRight: (now) => {
    const row = matrix.rows[now];
    if (row.open === false) openRow(now, -1);
    else focusRow(now, Math.min(matrix.column + 1, RUNS.length - 1));
  },
  ArrowLeft: (now) => {
    const row = matrix.rows[now];
    if (matrix.column >= 0) focusRow(now, matrix.column - 1);
    else if (row.open) openRow(now, -1);
    else focusRow(matrix.rows.slice(0, now).findLastIndex((one) => one.level < row.level), -1);
  },
};

function wireMatrix() {
  rowsBox.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (move === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move(activeNumber());
  });
  rowsBox.addEventListener("click", (event) => {
    const element = event.target.closest("[data-number]");
    if (element === null || String(getSelection())) return;
    const cell = event.target.closest("[role=gridcell]");
    openRow(Number(element.dataset.number), cell === null ? -1 : [...element.querySelectorAll("[role=gridcell]")].indexOf(cell));
  });
  let isAsked = false;
  const soon = () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => { isAsked = false; showRows(); });
  };
  window.addEventListener("scroll", soon, { passive: true });
  window.addEventListener("beforeprint", () => showRows(true));
  window.addEventListener("afterprint", () => showRows());
  new ResizeObserver(fitColumns).observe(grid);
}
