// SPDX-License-Identifier: MIT
// What servers do with calls that come again: a row for each call, or for each call and run, and the same in words.

function showDuplicates() {
  const { ways, legend, rows, words } = DATA.duplicates;
  const several = RUNS.length > 1;
  const heads = ["call", ...(several ? ["run"] : []), ...ways.map(([way]) => way.replace("-", "- "))];  // two lines: all columns fit
  const lines = rows.flatMap(([name, runs]) => runs.map((cells, run) => [run ? "" : name, cells, run]).filter(([, cells]) => several || cells.some(Boolean))
    .map(([shown, cells, run]) => [el("strong", { text: shown }), ...(several ? [el("span", { title: RUNS[run].label, text: String(run + 1) })] : []), ...cells.map((cell, number) =>
      el("span", { class: `answer-${cell === "?" ? "either" : cell || "none"}${new Set(runs.map((one) => one[number])).size > 1 ? " differs" : ""}`, title: ways[number][1], text: cell }))]));
  body("duplicates").replaceChildren(
    el("p", { class: "quiet", text: `NFSv2 and NFSv3 promise no exactly-once, so nothing here changes a verdict. ${legend}. “Sent again later” means: after another call has undone the change. The columns are explained below.` }),
    several ? el("p", { class: "quiet", text: `Runs: ${RUNS.map((run, number) => `${number + 1} is ${run.label}`).join("; ")}.` }) : "",
    table("Answers to duplicates", heads, lines, { class: "duplicates" }),
    ...words.flatMap((sentences, run) => sentences.length ? [
      el("h3", { text: several ? RUNS[run].label : "In words" }),
      el("ul", {}, ...sentences.map((text) => el("li", { text }))),
    ] : []),
    el("h3", { text: "Ways of a duplicate" }),
    table("Ways of a duplicate", ["column", "the call is"], ways, { class: "ways" }));
}
