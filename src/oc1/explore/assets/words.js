// Numbers and tests in words.

const sign = (text) => text.replace(/-/g, "−");

/** A number for people. */
function fmt(x, digits = 3) {
  if (x === null || x === undefined || Number.isNaN(x)) return "?";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e9 || size < 1e-5) return sign(Number(x.toPrecision(digits)).toExponential().replace("e+", "e"));
  if (size >= 10 ** digits) return sign(String(Math.round(x)));
  return sign(String(Number(x.toPrecision(digits))));
}
const count = (x) => (Number.isInteger(x) ? x.toLocaleString("en") : fmt(x, 4));
const percent = (x) => (x > 0 && x < 0.001 ? "<0.1%" : x < 1 && x > 0.999 ? ">99.9%" :
  `${Number((100 * x).toFixed(1))}%`);
const cut = (text, most) => ([...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);
const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
const examplesWord = (n) => `${count(n)} training example${n === 1 ? "" : "s"}`;

/** A size that is not smaller than what it rounds. */
function roundedUp(x, digits = 2) {
  if (x === 0) return 0;
  const unit = 10 ** (Math.floor(Math.log10(x)) - digits + 1);
  return Number((Math.ceil(x / unit - 1e-9) * unit).toPrecision(digits + 1));
}

/** The terms of a test, those with the largest share in it first. */
function termsOf(tree, node) {
  const test = tree.tests[node];
  const sizes = test.f.map((m, i) => Math.abs((test.c ? test.c[i] : spread(test.w, i)) * tree.scale[m]));
  const total = sizes.reduce((a, b) => a + b, 0);
  return test.f.map((m, i) => ({
    m,
    c: test.c ? test.c[i] : null,
    share: total > 0 ? sizes[i] / total : 1 / sizes.length,
    name: D.attributes[m].categories && test.f.length > 1 ? `code(${D.attributes[m].name})` : D.attributes[m]
      .name,
  })).sort((a, b) => b.share - a.share);
}

function spread(rows, j) {
  const mean = rows.reduce((sum, row) => sum + row[j], 0) / rows.length;
  return Math.sqrt(rows.reduce((sum, row) => sum + (row[j] - mean) ** 2, 0) / rows.length);
}

function termWords(term, first, most) {
  const size = fmt(Math.abs(term.c)) === "1" ? "" : `${fmt(Math.abs(term.c))} `;
  const before = first ? (term.c < 0 ? "−" : "") : term.c < 0 ? " − " : " + ";
  return `${before}${size}${cut(term.name, most)}`;
}

/** The left side of a test, with its most important terms only. */
function sumWords(tree, node, most = Infinity, width = 40) {
  const terms = termsOf(tree, node),
    words = terms.slice(0, most).map((term, i) => termWords(term, i === 0, width)).join("");
  return terms.length > most ? `${words} + … ${terms.length - most} more` : words;
}
const thresholdWords = (test) => fmt(test.t, test.d || 3);

/** What values that are not known count as: “a is not known and counts as the average, 1.2”; empty if all are known. */
function unknownWords(tree, node, x) {
  const holes = tree.tests[node].f.filter((m) => Number.isNaN(x[m]));
  const words = holes.slice(0, 3).map((m) => {
    const kind = !tree.average ? "" : D.attributes[m].categories ? "the average code, " : "the average, ";
    return `${cut(D.attributes[m].name, 40)} is not known and counts as ${kind}${fmt(tree.fill[m] ?? 0)}`;
  });
  if (holes.length > 3) words.push(`${holes.length - 3} more are not known`);
  return words.join(", ");
}

/** The largest function of a linear machine and the one after it. */
function machineWords(test, stop) {
  const next = stop.values.map((_, i) => i).filter((i) => i !== stop.branch).sort((a, b) => stop.values[b] - stop
    .values[a])[0];
  let digits = 4;
  const value = (i) => fmt(stop.values[i], digits);
  while (digits < 16 && value(stop.branch) === value(next)) digits += 1;
  return `${machineClause(test, stop.branch)} (${value(stop.branch)}; next ${value(next)} for class ${cut(NAMES[test.k[next]], 40)})`;
}
const machineClause = (test, branch, width = 40) =>
  `the linear function for class ${cut(NAMES[test.k[branch]], width)} is the largest of ${test.k.length}`;

/** What is true of the examples that take a branch, in words. */
function clause(tree, node, branch, most = 4, width = 40) {
  const test = tree.tests[node];
  if (test.w) return machineClause(test, branch, width);
  if (test.q) return `${cut(D.attributes[test.f[0]].name, width)} is ${branch ? "" : "not "}missing`;
  if (test.s) return branch ? cut(test.s, 120) : `not (${cut(test.s, 120)})`;
  const where = branch ? "above" : "at most";
  const also = test.m && (test.m > 0) === (branch === 1) ? " or is missing" : "";
  return `${sumWords(tree, node, most, width)} is ${where} ${thresholdWords(test)}${also}`;
}

function pathClauses(tree, node) {
  const clauses = [];
  for (let at = node; tree.parent[at] >= 0; at = tree.parent[at]) {
    const above = tree.parent[at];
    clauses.unshift(clause(tree, above, tree.children[above].indexOf(at)));
  }
  return clauses;
}
const says = (tree, node) => (numeric ? fmt(tree.values[node], 4) : NAMES[tree.majority[node]]);

function shareOf(tree, node) {
  const row = tree.counts[node];
  for (let i = 0; i < row.length; i += 2)
    if (row[i] === tree.majority[node]) return row[i + 1];
  return 0;
}

/** A class in a sentence: “benign”, “class 3”; the same words as in oc1.explaining. */
function classWords(k, width = 40) {
  const name = cut(NAMES[k], width);
  const isWord = /^\p{L}/u.test(name) && [...name].length > 2 && !["yes", "no", "true", "false", "none"].includes(name
    .toLowerCase());
  return isWord ? name : `class ${name}`;
}

/** What the training examples at a node look like: “benign (62.7% of 569 training examples)”. */
function looksWords(tree, node, what = "") {
  const n = tree.weight[node];
  if (numeric) return `${fmt(tree.values[node], 4)} (${count(n)}${what || " training examples"})`;
  const own = shareOf(tree, node),
    named = classWords(tree.majority[node]);
  const equal = tree.counts[node].filter((part, i) => i % 2 && part === own).length;
  const share = `(${percent(n ? own / n : 1)} ${equal > 1 ? "each " : ""}of ${count(n)}${what})`;
  if (equal > 1) return `like any of ${equal} classes ${share}`;
  if (own < n / 2) return `most like ${named} ${share}`;
  return `${named.startsWith("class ") || /[0-9_]/.test(named) ? "like " : ""}${named} ${share}`;
}

/** What an example looks like after a test. */
function outcomeWords(tree, node, child) {
  const after = looksWords(tree, child);
  if (numeric) {
    const [from, to] = [tree.values[node], tree.values[child]];
    return from === to ? `The prediction stays at ${after}.` :
      `The prediction ${to > from ? "rises" : "falls"} from ${fmt(from, 4)} to ${after}.`;
  }
  const words = looksWords(tree, node).replace(/ \([^()]*\)$/, "");
  if (/like any of/.test(words + after)) return `Now it looks ${after}.`;
  return tree.majority[node] === tree.majority[child] ? `It still looks ${after}.` :
    `So it no longer looks ${words}, but ${after}.`;
}
