// SPDX-License-Identifier: MIT
// How clients came through faults: a table for each client, with a row for each plan and version, and a column for each work.

const OUTCOME_CLASS = { right: "right", error: "error", stuck: "error", ended: "error", WRONG: "wrong" };

function showClients() {
  const { legend, tables } = DATA.clients;
  const cell = (word, check, run) => word === "" || check === null ? word
    : button(word, () => openCheck(check, run), { class: `outcome outcome-${OUTCOME_CLASS[word] ?? "none"}`, title: CHECKS[check][0] });
  body("clients").replaceChildren(
    el("p", { class: "quiet", text: `${legend}; ?: not judged; -: no rule of the plan acted.` }),
    ...tables.flatMap(({ works, rows }, run) => rows.length === 0 ? [] : [
      el("h3", { text: RUNS[run].target }),
      table(`How ${RUNS[run].target} came through`, ["plan", "version", ...works],
        rows.map(([plan, version, cells]) => [el("strong", { text: plan }), el("span", { text: version }), ...cells.map(([word, check]) => cell(word, check, run))]),
        { class: "clients" }),
    ]));
}
