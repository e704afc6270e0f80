// Reading an example, and telling its way through the tree.

const fields = D.attributes.map((attribute, m) => {
  const input = h("input", {
    id: `field-${m}`,
    inputmode: attribute.categories ? "text" : "decimal",
    spellcheck: "false",
    placeholder: attribute.categories ? cut(attribute.categories.join(", "), 30) : attribute.rough ?
      "" : `${fmt(attribute.low)} to ${fmt(attribute.high)}`
  });
  if (attribute.categories) {
    byId("fields").append(h("datalist", { id: `known-${m}` }, ...attribute.categories.slice(0, 500).map((label) =>
      h("option", { value: label }))));
    input.setAttribute("list", `known-${m}`);
  }
  input.addEventListener("input", readFields);
  byId("fields").append(h("div", {}, h("label", { for: `field-${m}`, text: attribute.name, title: attribute
      .name }), input));
  return input;
});

/** The attributes that the trees ask for, pruned as they are shown. */
function usedAttributes() {
  const used = new Set();
  D.trees.forEach((tree, i) => {
    const step = i === state.tree ? state.step : stepOf(tree),
      stack = [0];
    while (stack.length) {
      const node = stack.pop();
      if (isLeaf(tree, node, step)) continue;
      tree.tests[node].f.forEach((m) => used.add(m));
      stack.push(...tree.children[node]);
    }
  });
  return D.attributes.map((_, m) => m).filter((m) => used.has(m));
}

/** Ask for what the tree uses, and nothing else. */
function askForUsed() {
  const used = usedAttributes(),
    all = D.attributes.length,
    unused = all - used.length;
  fields.forEach((input, m) => {
    input.parentElement.hidden = !used.includes(m);
  });
  byId("fieldbox").hidden = !used.length;
  byId("asked").textContent = !used.length ? "The tree has no test: every example is given the same answer." : unused ?
    `A row of the data (${plural(all, "value")}), or only ${used.length === 1 ? "the one value" : `the ${used.length} values`} that the tree uses, in order; or name=value. Leave out what you do not know.` :
    "Values in order, or name=value; leave out what you do not know";
  byId("unused").textContent = unused ? `The tree does not use the other ${plural(unused, "attribute")}.` : "";
}

function number(text) {
  const plain = text.trim().replaceAll("−", "-");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return null;
  const value = Number(plain);
  return Number.isFinite(value) ? value : null;
}

/** Turn the text of one cell into a value; an unknown category counts as missing, with a note. */
function cell(text, m, notes) {
  const attribute = D.attributes[m],
    plain = text.trim();
  if (attribute.categories) {
    if (attribute.categories.includes(text)) return text;
    if (attribute.categories.includes(plain)) return plain;
    const same = attribute.categories.find((label) => number(label) !== null && number(label) === number(plain));
    if (same !== undefined) return same;
    if (!MISSING.has(plain.toLowerCase())) notes.push(
      `${cut(attribute.name, 40)} is never “${cut(plain, 40)}” in the training data; it counts as missing`);
    return null;
  }
  if (MISSING.has(plain.toLowerCase())) return null;
  const value = number(plain);
  if (value === null) throw new Error(`“${cut(plain, 40)}” is not a number (${cut(attribute.name, 40)})`);
  return value;
}

/** Split a line at separators outside of quotes. */
function split(text, separators) {
  const cells = [];
  let own = "",
    quote = false;
  for (let i = 0; i < text.length; i++) {
    const letter = text[i];
    if (quote) {
      if (letter !== '"') own += letter;
      else if (text[i + 1] === '"') {
        own += letter;
        i += 1;
      } else quote = false;
    } else if (letter === '"' && own.trim() === "") {
      quote = true;
      own = "";
    } else if (separators.includes(letter)) {
      cells.push(own);
      own = "";
    } else own += letter;
  }
  cells.push(own);
  return cells;
}
const separatorOf = (text) => (text.includes("\t") ? "\t" : text.includes(",") ? "," : text.includes(";") ? ";" :
" ");
const cellsOf = (text) => {
  const separator = separatorOf(text);
  return split(separator === " " ? text.trim().replace(/\s+/g, " ") : text, separator);
};

/** The attribute that a piece of text names before an equals sign, and what comes after it. */
function named(piece) {
  let best = null;
  D.attributes.forEach(({ name }, m) => {
    const plain = piece.trimStart();
    if (!plain.startsWith(name) || (best && D.attributes[best.m].name.length >= name.length)) return;
    const rest = plain.slice(name.length).match(/^\s*[=:]\s*([\s\S]*)$/);
    if (rest) best = { m, value: split(rest[1], "")[0] };
  });
  return best;
}

const SEVERAL = "That is more than one example; only the first is followed";

function noAttribute(piece) {
  const name = piece.split("=")[0].trim();
  const known = D.attributes.slice(0, 20).map((attribute) => cut(attribute.name, 40)).join(", ");
  return new Error(
    `There is no attribute “${cut(name, 40)}”; the attributes are ${known}${D.attributes.length > 20 ? ", …" : ""}.`);
}

/** Read a pasted example: values in order (the class may follow), or name=value pairs, or a header and a line. */
function parse(text) {
  const n = D.attributes.length,
    row = new Array(n).fill(null),
    notes = [];
  const lines = text.split(/\r?\n/).filter((own) => own.trim());
  if (!lines.length) throw new Error("There is nothing to follow: type or paste the values of an example.");
  const separator = separatorOf(text);
  let pieces = split(lines.join(separator === " " ? "," : separator), separator === " " ? "," : separator);
  if (pieces.some(named) || (n === 1 && named(text))) {
    if (pieces.some((piece) => /\s\S+\s*=/.test(piece.trim()))) pieces = pieces.flatMap((piece) => (named(piece) &&
      number(named(piece).value) === null && !D.attributes[named(piece).m].categories ? piece.trim().split(
      /\s+/) : [piece]));
    const given = new Set();
    for (const piece of pieces.filter((own) => own.trim())) {
      const found = named(piece);
      if (!found) throw noAttribute(piece);
      if (given.has(found.m)) {
        notes.push(SEVERAL);
        break;
      }
      given.add(found.m);
      row[found.m] = cell(found.value, found.m, notes);
    }
    return { row, notes };
  }
  let cells = cellsOf(lines[0]);
  const heads = cells.map((own) => D.attributes.findIndex(({ name }) => name === own.trim()));
  if (lines.length > 1 && heads.some((m) => m >= 0)) {
    if (lines.length > 2) notes.push(SEVERAL);
    cellsOf(lines[1]).forEach((own, i) => {
      if (heads[i] >= 0) row[heads[i]] = cell(own, heads[i], notes);
    });
    return { row, notes };
  }
  if (lines.length > 1) notes.push(SEVERAL);
  const odd = cells.slice(0, n).find((own, m) => /^[^=]*[^=\s][^=]*=/.test(own) && !(D.attributes[m].categories || [])
    .includes(own.trim()));
  if (odd !== undefined) throw noAttribute(odd);
  let truth = null;
  if (cells.length === n + 1) truth = cells.pop().trim();
  const used = usedAttributes(),
    given = cells.length === used.length ? used : row.map((_, m) => m);
  if (cells.length !== given.length) throw new Error(
    `The model has ${plural(n, "attribute")}${used.length < n ? `, of which it uses ${used.length}` : ""}, but here ${cells.length === 1 ? "is 1 value" : `are ${cells.length} values`}. Give them in order, or as name=value.`
    );
  cells.forEach((own, i) => {
    row[given[i]] = cell(own, given[i], notes);
  });
  return { row, notes, truth };
}

const category = (value) => cut(String(value).trim() || "(empty)", 40);
const written = (value) => (value === null ? "" : String(value));
const quoted = (text) => (/[",;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function follow(row, truth = null) {
  return { row, truth, ...answer(row, currentSteps()) };
}

function setExample(row, truth, notes = [], source = "") {
  byId("problem").textContent = notes.join(". ");
  state.example = follow(row, truth);
  if (source !== "fields") fields.forEach((input, m) => {
    input.value = written(row[m]);
  });
  if (source !== "paste") byId("paste").value = row.map((value) => quoted(written(value))).join(", ");
  const leaf = last(state.example.ways[state.tree]).node;
  state.node = state.focus = leaf;
  openTo(leaf);
  refresh();
  showWay();
  tellResult();
  openTab("example");
}

/** Take away what was said of an example that is no longer there; `source` is where another one is being written. */
function forget(source, words = "") {
  byId("problem").textContent = words;
  if (source !== "fields") fields.forEach((input) => {
    input.value = "";
  });
  if (source !== "paste") byId("paste").value = "";
  if (!state.example) return;
  state.example = null;
  byId("result").replaceChildren();
  refresh();
}

function complain(problem, source) {
  forget(source, problem.message);
  openTab("example");
}

function readFields() {
  const notes = [];
  try {
    const row = fields.map((input, m) => cell(input.value, m, notes));
    if (row.every((value) => value === null)) forget("fields", notes.join(". "));
    else setExample(row, null, notes, "fields");
  } catch (problem) {
    complain(problem, "fields");
  }
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  try {
    const { row, notes, truth } = parse(byId("paste").value);
    setExample(row, truth ?? null, notes, "paste");
  } catch (problem) {
    complain(problem, "paste");
  }
});
byId("paste").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    byId("form").requestSubmit();
  }
});
byId("paste").addEventListener("input", () => forget("paste"));
byId("clear").addEventListener("click", () => forget(""));
byId("random").addEventListener("click", () => {
  const row = D.examples[Math.floor(Math.random() * D.examples.length)];
  setExample(row.slice(0, -1), row[row.length - 1]);
});

/** What a branch of a test speaks for, after some words; where nothing can be said, which branch it is. */
function speaks(tree, stop, before, otherwise) {
  const side = stop.values ? null : sidesOf(tree, stop.node)[stop.branch];
  if (!side || !side.words) return otherwise;
  return `${before} ${side.k === null ? side.words : classWords(side.k)}`;
}

/** What happened at one stop, in sentences: the answer, and what the example looks like then. */
function stopSentence(tree, stop) {
  const test = tree.tests[stop.node];
  const x = numbersFor(tree, state.example.row),
    unknown = unknownWords(tree, stop.node, x);
  const side = speaks(tree, stop, ": that speaks for", stop.branch ? ": yes" : ": no");
  const then = outcomeWords(tree, stop.node, tree.children[stop.node][stop.branch]);
  if (stop.values) return `${capital(machineWords(test, stop))}${unknown ? `, where ${unknown}` : ""}. ${then}`;
  const name = cut(D.attributes[test.f[0]].name, 40);
  if (stop.directed) return `${name} is not known${side}. ${then}`;
  if (test.q) return `${name} is known${side}. ${then}`;
  if (test.s) {
    const value = unknown ? "not known, and counts so that" : `${category(state.example.row[test.f[0]])}:`;
    return `${name} is ${value} ${clause(tree, stop.node, stop.branch)}${side.replace(":", ",")}. ${then}`;
  }
  const by = stop.margin ? ` by ${fmt(Math.abs(stop.margin))}` : " exactly";
  return `${sumClause(tree, stop, test.f.length > 1 ? "The sum" : null, x)}${by}${side}. ${then}`;
}
const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** The sum of an example, where it lies, and what of it is not known. */
function sumClause(tree, stop, subject, x) {
  const test = tree.tests[stop.node];
  const unknown = unknownWords(tree, stop.node, x);
  const where = `${stop.branch ? "above" : stop.margin ? "below" : "at"} ${thresholdWords(test)}`;
  if (unknown && test.f.length === 1 && test.c[0] === 1) return `${unknown}, ${where}`;
  const sum = fmt(stop.sum, sumDigits(stop, test));
  return `${subject ?? sumWords(tree, stop.node, 4, 30)} is ${sum}${unknown ? ` (${unknown})` : ""}, ${where}`;
}

/** How little would send the example the other way at a stop: the attribute that counts most, and by how much. */
function otherWay(tree, stop) {
  const test = tree.tests[stop.node];
  if (stop.values || stop.directed || test.q) return null;
  const x = numbersFor(tree, state.example.row);
  if (test.s) {
    const m = test.f[0];
    const others = Object.entries(tree.codes[m] || {}).filter(([, code]) => (test.c[0] * code > test.t) !== Boolean(
      stop.branch)).map(([label]) => label);
    return others.length ?
      `${cut(D.attributes[m].name, 40)} would have to be ${cut(others.slice(0, 5).join(" or "), 80)}` : null;
  }
  const usable = termsOf(tree, stop.node).filter((term) => term.c && !D.attributes[term.m].categories && !Number
    .isNaN(x[term.m]));
  if (!usable.length) return null;
  const term = usable.sort((a, b) => b.share - a.share)[0];
  const exact = Math.abs(stop.margin / term.c);
  let by = roundedUp(exact) || roundedUp(Math.abs(test.t) * 1e-3 || 1e-3);
  const direction = (stop.branch === 1) === term.c > 0 ? -1 : 1;
  const changed = state.example.row.slice(),
    old = x[term.m];
  const changes = (value) => {
    changed[term.m] = value;
    return ask(tree, stop.node, numbersFor(tree, changed)).branch !== stop.branch;
  };
  for (let tries = 0; tries < 60 && !changes(old + direction * by); tries++) by = roundedUp(by * 1.01);
  if (!changes(old + direction * by)) return null;
  // What is shown must do what is said of it: with few digits it might not change sides, or lie on the wrong one.
  const near = (digits, value) => Math.abs(number(fmt(value, digits)) - value) <= 0.1 * by;
  let digits = 3,
    before = 4;
  while (digits < 17 && !(near(digits, old + direction * by) && changes(number(fmt(old + direction * by, digits)))))
    digits += 1;
  while (before < 17 && !near(before, old)) before += 1;
  const shownValue = fmt(old + direction * by, digits);
  changes(number(shownValue));
  const attribute = D.attributes[term.m];
  const beyond = !attribute.rough && (changed[term.m] < attribute.low || changed[term.m] > attribute.high) ?
    ", beyond anything seen" : "";
  const words =
    `${cut(attribute.name, 40)} would have to be ${fmt(by)} ${direction < 0 ? "smaller" : "larger"} (${shownValue} instead of ${fmt(old, before)}${beyond})`;
  const then = answer(changed, currentSteps());
  const result = numeric ? `, and then it would be given ${fmt(then.value, 4)}` : then.winner !== state.example.winner ?
    `, and then it would be called ${cut(NAMES[then.winner], 40)}` :
    `, but it would still be called ${cut(NAMES[then.winner], 40)}`;
  return words + result;
}

/** The parts of a sum that speak most for the side that was taken, against the average of the examples at the node. */
function helped(tree, stop, x) {
  const test = tree.tests[stop.node],
    averages = tree.averages[stop.node];
  if (!averages) return "";
  const all = test.f.map((m, i) => {
    const value = Number.isNaN(x[m]) ? tree.fill[m] ?? 0 : x[m],
      average = averages[i] ?? value;
    return { m, value, average, by: (stop.branch ? 1 : -1) * test.c[i] * (value - average) };
  });
  const total = (list) => list.reduce((sum, { by }) => sum + by, 0);
  const pushes = all.filter(({ by }) => by > 0).sort((a, b) => b.by - a.by);
  if (!(total(all) > 0)) return ""; // it is where it is although, not because, its values differ from the average
  const half = total(pushes) / 2;
  const words = pushes.slice(0, pushes[0].by >= half ? 1 : 2).map(({ m, value, average }) => {
    const name = cut(D.attributes[m].name, 40);
    if (Number.isNaN(x[m])) return `${name} counts as ${fmt(value)} (average here ${fmt(average)})`;
    if (D.attributes[m].categories) return `${name} is ${category(state.example.row[m])}`;
    let digits = 3;
    while (digits < 16 && fmt(value, digits + 1) === fmt(average, digits)) digits += 1;
    return `${name} is ${value > average ? "high" : "low"} (${fmt(value, digits + 1)}; average here ${fmt(average, digits)})`;
  });
  return `, mostly because ${words.join(" and ")}`;
}

/** Why an example gets its answer: what it looked like at first, and what each test said. */
function why(tree, way) {
  const leaf = last(way).node,
    stops = way.slice(0, -1);
  const x = numbersFor(tree, state.example.row);
  const told = (stop) => {
    const test = tree.tests[stop.node],
      unknown = unknownWords(tree, stop.node, x);
    if (stop.values) return machineWords(test, stop) + (unknown ? `, where ${unknown}` : "");
    const name = cut(D.attributes[test.f[0]].name, 40),
      side = speaks(tree, stop, ", which speaks for", "");
    if (stop.directed) return `${name} is not known${side}`;
    if (test.s && unknown) return `${name} is not known, which counts as ${clause(tree, stop.node, stop.branch)}`;
    if (test.q || test.s) return clause(tree, stop.node, stop.branch) + side;
    return sumClause(tree, stop, null, x) + side + helped(tree, stop, x);
  };
  const called = numeric ? `Given ${says(tree, leaf)}` : `Called ${classWords(tree.majority[leaf])}`;
  if (!stops.length) return `${called}: the tree has no test. ${leafWords(tree, leaf)}`;
  const looked = numeric ? "it was" : "it looked";
  const parts = stops.map((stop, i) => {
    const child = way[i + 1].node;
    const link = !numeric && tree.majority[stop.node] !== tree.majority[child] ? "but" : "and";
    const before = i ? `Then ${looked} ${looksWords(tree, stop.node)}` :
      `At first ${looked} ${looksWords(tree, stop.node, " training examples")}`;
    return `${before}, ${link} ${told(stop)}.`;
  });
  const kept = parts.length > 4 ? [...parts.slice(0, 2), last(parts).replace("Then", `After ${parts.length - 3} more tests`)] :
    parts;
  return `${called}. ${kept.join(" ")} ${leafWords(tree, leaf)}`;
}

function leafWords(tree, leaf) {
  const n = tree.weight[leaf];
  if (!n) return "";
  if (numeric) return `That is what the ${examplesWord(n)} with these answers suggest${n === 1 ? "s" : ""}.`;
  const own = shareOf(tree, leaf);
  if (n === 1 && own === 1) return `The one training example with these answers was ${says(tree, leaf)}.`;
  return own === n ? `All ${examplesWord(n)} with these answers were ${says(tree, leaf)}.` :
    `Of the ${examplesWord(n)} with these answers, ${count(own)} ${own === 1 ? "was" : "were"} ${says(tree, leaf)}.`;
}

function tellResult() {
  const tree = shown(),
    { example } = state,
    way = example.ways[state.tree];
  const parts = [];
  const verdict = numeric ? fmt(example.value, 5) : NAMES[example.winner];
  const box_ = h("div", { class: "box mine" }, h("div", { class: "verdict", id: "verdict" }, ...(numeric ? [] : [
    swatch(example.winner)
  ]), cut(verdict, 120)));
  if (example.truth !== null && example.truth !== undefined && example.truth !== "") {
    const truth = numeric ? fmt(Number(example.truth), 5) : String(example.truth);
    const right = numeric ? "" : truth === example.label ? ", so this is right" : ", so this is wrong";
    box_.append(h("p", { class: "hint", text: `In the data it is ${cut(truth, 60)}${right}.` }));
  }
  if (D.task === "vote") {
    const agree = example.votes.filter((vote) => vote === example.winner).length;
    box_.append(h("p", { id: "why",
      text: `Called ${classWords(example.winner, 60)} by ${count(agree)} of ${count(D.trees.length)} trees.` }));
  } else if (averaged) {
    box_.append(h("p", { id: "why",
      text: `The mean of what ${count(D.trees.length)} trees say${numeric ? "" : ": the shares in their leaves"}.` }));
  } else {
    box_.append(h("p", { id: "why", class: "where", text: why(tree, way) }));
  }
  parts.push(box_);
  if (!numeric) {
    const ranked = example.shares.map((share, k) => [share, k]).filter(([share]) => share > 0).sort((a, b) => b[0] -
      a[0] || a[1] - b[1]).slice(0, 6);
    parts.push(h("h3", { text: D.task === "vote" ? "Votes" : "Probability of each class" }), h(
    "div", { class: "lines" }, ...ranked.flatMap(([share, k]) =>
        line({ title: NAMES[k], parts: [swatch(k), NAMES[k]] }, 0, share, D.task === "vote" ?
          `${example.votes.filter((vote) => vote === k).length} · ${percent(share)}` : percent(share), colour(k)))
      ));
  }
  if (several) {
    parts.push(h("h3", { text: "What each tree says" }), h("div", { class: "row" }, ...example.leaves.map((_, i) =>
      h("button", {
        type: "button",
        "aria-pressed": i === state.tree,
        onclick: () => {
          showTree(i);
          openTab("example");
        },
        title: `Show tree ${i + 1}`
      }, ...(numeric ? [] : [swatch(example.votes[i])]),
      `${i + 1}: ${numeric ? fmt(example.said[i], 4) : cut(NAMES[example.votes[i]], 16)}`))));
    parts.push(h("p", { class: "where", text: `Tree ${state.tree + 1}: ${why(tree, way)}` }));
  }
  if (way.length > 1) parts.push(h("h3", { text: several ? `The path through tree ${state.tree + 1}` :
      "The path through the tree" }));
  parts.push(h("ol", { class: "steps" }, ...way.slice(0, -1).map((stop) => {
    const other = otherWay(tree, stop);
    return h("li", {}, h("button", { type: "button", onclick: () => select(stop.node), text: "Show" }),
      h("div", { class: "where" }, h("b", { text: stop.values ? testWords(tree, stop.node, 3) :
          `${clause(tree, stop.node, 1, 3).replace(" is above ", " > ")}?` })),
      h("p", { class: "where", text: stopSentence(tree, stop) }),
      strip(tree, stop),
      other ? h("p", { class: "hint", text: `To change sides, ${other}.` }) : null);
  })));
  byId("result").replaceChildren(...parts);
}

/** Where the example lies on a line, the threshold in the middle, as far as examples of the data lie. */
function strip(tree, stop) {
  if (stop.sum === undefined || tree.tests[stop.node].s || tree.tests[stop.node].q) return null;
  const histogram = tree.histograms[stop.node],
    t = tree.tests[stop.node].t;
  if (!histogram) return null;
  const W = 340,
    H = 34,
    floor = 26;
  const reach = Math.max(t - histogram.e[0], histogram.e[1] - t);
  const x = (value) => Math.min(W - 4, Math.max(4, W / 2 + ((value - t) / reach) * (W / 2)));
  const plot = s("svg", { class: "plot", viewBox: `0 0 ${W} ${H}`,
  role: "img", "aria-label": "Where the example lies among the others" });
  const [left, bins] = histogram.n, [low, high] = histogram.e;
  const edge = (i) => (i <= left ? low + ((t - low) * i) / left : t + ((high - t) * (i - left)) / (bins - left));
  const sums = histogram.c.map((own) => own.slice(1).reduce((sum, part, i) => (i % 2 ? sum + part : sum), 0));
  const most = Math.max(1, ...sums);
  for (const own of histogram.c) {
    let y = floor;
    for (let i = 1; i < own.length; i += 2) {
      const tall = ((floor - 4) * own[i + 1]) / most;
      y -= tall;
      plot.append(s("rect", { x: x(edge(own[0])), y, width: Math.max(1, x(edge(own[0] + 1)) - x(edge(own[0])) - 0.5),
        height: tall, style: { fill: colour(own[i]), "fill-opacity": "0.75" } }));
    }
  }
  plot.append(s("line", { class: "axis", x1: 0, x2: W, y1: floor, y2: floor }),
    s("line", { x1: W / 2, x2: W / 2, y1: 0, y2: floor + 3, style: { stroke: "var(--ink)", "stroke-width": "2" } }),
    s("path", { d: `M${x(stop.sum)},${floor - 3}l-5,11h10z`, style: { fill: "var(--ink)", stroke: "var(--card)" } })
    );
  return plot;
}
