// What is known of the node that is selected.

const nodePanel = byId("node");
const FEW = 5, // terms of a formula, and bars, that are shown at first
  MANY = 8;

function describe() {
  const tree = shown(),
    node = state.node,
    leaf = leafNow(node);
  const parts = [leaf ? h("h2", {}, ...(numeric ? [] : [swatch(tree.majority[node])]),
    `Leaf ${node}: ${cut(says(tree, node), 80)}`) : h("h2", { text: node ? `Node ${node}` :
      "The first question" })];
  if (node === 0 && !leaf) {
    parts.push(h("p", {
      class: "hint",
      text: tree.tests[0].w ?
        "Every example starts at the top. Each box computes a number for each branch, and the largest wins; a leaf gives the answer." :
        `Every example starts at the top. ${tree.tests.some((test) => test && test.f.length > 1) ? "A box adds up some measurements, each times a weight, and compares the sum with a number" : "A box compares a measurement with a number"}: above it, the example goes right (yes), else left (no). The leaf it ends in gives the ${numeric ? "number" : "class"}.`
    }));
  }
  if (!leaf) parts.push(...describeTest(tree, node));
  else parts.push(h("p", { text: leafSentence(tree, node) }));
  parts.push(...describeCounts(tree, node));
  if (node) {
    const clauses = pathClauses(tree, node);
    parts.push(h("h3", { text: "How examples get here" }), h("p", { class: "where",
      text: `An example comes here if ${clauses.join(", and ")}.` }));
  }
  for (const words of D.notes) parts.push(h("p", { class: "hint", text: words }));
  nodePanel.replaceChildren(...parts.filter(Boolean));
}

function leafSentence(tree, node) {
  const n = tree.weight[node];
  if (numeric) return `Examples that end here are given the number ${fmt(tree.values[node], 5)}, from ${examplesWord(n)}.`;
  if (n === 0) return `Examples that end here are called ${says(tree, node)}.`;
  const own = shareOf(tree, node);
  return `Examples that end here are called ${says(tree, node)}, as ${own === 1 ? "was" : "were"} ${count(own)} of the ${examplesWord(n)} that came here.`;
}

/** The test as a formula: the largest terms, and the others behind a button. */
function equationBlock(tree, node) {
  const test = tree.tests[node];
  const block = h("div", { class: "equation" });
  if (test.s || test.q) {
    block.append(test.s || `${D.attributes[test.f[0]].name} is missing`);
    return block;
  }
  const terms = termsOf(tree, node).map((term, i) => h("span", { class: term.name.length > 25 ? "term long" : "term" },
    termWords({ ...term, name: "" }, i === 0, 80), h("span", { class: "name", text: cut(term.name, 60), title: term
        .name })));
  const few = terms.length > FEW + 1 ? FEW : terms.length;
  block.append(...terms.slice(0, few));
  if (few < terms.length) {
    const rest = h("span", { hidden: "" }, ...terms.slice(few));
    const words = ` + … ${terms.length - few} more`;
    const button = h("button", { type: "button", class: "more", "aria-expanded": "false", text: words, onclick: () => {
        rest.hidden = !rest.hidden;
        button.setAttribute("aria-expanded", !rest.hidden);
        button.textContent = rest.hidden ? words : "show fewer";
      } });
    block.append(rest, " ", button);
  }
  const also = test.m ? (test.m > 0 ? " or missing" : " and not missing") : "";
  block.append(" ", h("span", { class: "term limit", text: `> ${thresholdWords(test)}${also}` }));
  return block;
}

function describeTest(tree, node) {
  const test = tree.tests[node];
  if (test.w) return describeMachine(tree, node);
  const terms = termsOf(tree, node),
    sides = sidesOf(tree, node),
    parts = [branchLines(tree, node)];
  const stop = state.example && state.example.ways[state.tree].find((own) => own.node === node);
  if (stop) parts.push(arithmetic(tree, stop));
  if (terms.length > 1) parts.push(h("h3", { text: "What counts" }), weights(terms, sides));
  parts.push(h("h3", { text: "The test" }), equationBlock(tree, node));
  const condition = terms.length > 1 ? `the sum is above ${thresholdWords(test)}` : clause(tree, node, 1);
  parts.push(h("p", { class: "where", text: `Goes right (yes) if ${condition}; else left (no).` }));
  if (test.m && !test.q) parts.push(h("p", { class: "hint",
    text: `Where the value is missing, an example goes ${test.m > 0 ? "right" : "left"}.` }));
  else if (!test.m) parts.push(missingHint(tree, terms));
  for (const term of terms.filter((own) => test.f.length > 1 && D.attributes[own.m].categories)) parts.push(codeHint(
    tree, term));
  const histogram = tree.histograms[node];
  if (histogram) {
    const title = terms.length > 1 ? "Where the examples lie along this sum" : "Where the examples lie";
    parts.push(h("h3", { text: title }), histogramPlot(tree, node, histogram, stop, sides));
  }
  return parts;
}

function missingHint(tree, terms) {
  if (!tree.average) return h("p", { class: "hint", text: "A missing value counts as 0." });
  const words = terms.filter((term) => !D.attributes[term.m].categories).slice(0, 3).map((term) =>
    `${cut(term.name, 30)} ${fmt(tree.fill[term.m])}`);
  if (!words.length) return null;
  return h("p", { class: "hint",
    text: `A missing value counts as the average: ${words.join(", ")}${terms.length > words.length ? ", …" : "."}` });
}

function codeHint(tree, term) {
  const known = Object.entries(tree.codes[term.m] || {}).sort((a, b) => a[1] - b[1]);
  const words = known.slice(0, 12).map(([label, code]) => `${cut(label, 24)} ${fmt(code)}`);
  return h("p", { class: "hint",
    text: `${cut(term.name, 40)}: ${words.join(", ")}${known.length > 12 ? ", …" : ""}; missing or unknown ${fmt(tree.fill[term.m])}.` });
}

/** Bars for the terms of a test, towards the side that larger values speak for. */
function weights(terms, sides) {
  const largest = terms[0].share || 1;
  const colours = sides.map((side) => (side.k === null ? "var(--soft)" : colour(side.k)));
  const lines = (list) => list.flatMap((term) => {
    const half = (0.5 * term.share) / largest,
      yes = term.c > 0;
    return line({ title: term.name, parts: [term.name] }, yes ? 0.5 : 0.5 - half, yes ? 0.5 + half : 0.5,
      percent(term.share), colours[yes ? 1 : 0], true);
  });
  const [no, yes] = sides.map((side, i) => side.words || (i ? "yes" : "no"));
  const heading = h("p", { class: "ends" }, h("b", { text: `←\u00a0${no}`, title: no }), h("span", { class: "hint",
    text: "larger values speak for" }), h("b", { text: `${yes}\u00a0→`, title: yes }));
  const most = terms.length > MANY + 1 ? MANY : terms.length;
  const content = h("div", {}, heading, h("div", { class: "lines" }, ...lines(terms.slice(0, most))));
  if (terms.length > most) content.append(h("details", {}, h("summary", { text: `… ${terms.length - most} more` }), h(
    "div", { class: "lines" }, ...lines(terms.slice(most)))));
  content.append(h("p", { class: "hint",
    text: `Share of each attribute in the test${shown().average ? ": its weight times how much it varies" : ", by weight alone: how much it varies is not known"}.` }));
  return content;
}

/** How the sum of the example adds up at a node. */
function arithmetic(tree, stop) {
  const test = tree.tests[stop.node];
  const content = h("div", { class: "box mine" }, h("b", { text: "Your example here" }));
  content.append(h("p", { text: stopSentence(tree, stop) }));
  if (stop.sum !== undefined && test.f.length > 1) {
    const x = numbersFor(tree, state.example.row);
    const rows = test.f.map((m, i) => {
      const missing = Number.isNaN(x[m]),
        value = missing ? tree.fill[m] ?? 0 : x[m];
      return h("tr", {}, h("td", { text: D.attributes[m].name, title: D.attributes[m].name }), h(
        "td", { text: `${fmt(value, 4)}${missing ? (tree.average ? " (average)" : " (not known)") : ""}` }),
        h("td", { text: `× ${fmt(test.c[i])}` }), h("td", { text: `= ${fmt(test.c[i] * value)}` }));
    });
    const table = h("table", {}, h("tbody", {}, ...rows, h("tr", { class: "sum" }, h("td", { text: "Sum" }), h("td"),
      h("td"), h("td", { text: fmt(stop.sum, sumDigits(stop, test)) }))));
    content.append(rows.length > 8 ? h("details", {}, h("summary", { text: "How the sum adds up" }), table) :
      table);
  }
  return content;
}
/** Digits that show on which side of the threshold a sum is. */
function sumDigits(stop, test) {
  let digits = Math.max(3, test.d || 3);
  while (digits < 15 && fmt(stop.sum, digits) === thresholdWords(test)) digits += 1;
  return digits;
}

function describeMachine(tree, node) {
  const test = tree.tests[node];
  const stop = state.example && state.example.ways[state.tree].find((own) => own.node === node);
  const parts = [h(
  "p", { text: `Each of ${plural(test.k.length, "class", "classes")} here has a linear function: the attributes, each times a weight of that class, and a constant are added up. An example takes the branch of the class whose function gives it the largest number.` })];
  if (stop) parts.push(arithmetic(tree, stop));
  parts.push(h("h3", { text: "The functions" }));
  test.k.forEach((k, i) => {
    const terms = test.f.map((m, j) => ({ c: test.w[i][j], name: D.attributes[m].name })).filter((term) => term
      .c !== 0);
    const words = terms.map((term, j) => termWords(term, j === 0, 40)).join("");
    const constant =
      `${words ? (test.b[i] < 0 ? " − " : " + ") : test.b[i] < 0 ? "−" : ""}${fmt(Math.abs(test.b[i]))}`;
    parts.push(h("div", { class: "box" }, h("b", {}, swatch(k), cut(NAMES[k], 60)), stop ? h(
      "span", { class: "hint", text: `  your example: ${fmt(stop.values[i])}` }) : null,
      h("p", { class: "where", text: words + constant })));
  });
  const terms = termsOf(tree, node).map((term) => ({ ...term, c: 1 })).sort((a, b) => b.share - a.share).slice(0, 12);
  parts.push(h("h3", { text: "Weight of each attribute" }), h("div", { class: "lines" }, ...terms.flatMap((term) =>
    line({ title: term.name, parts: [term.name] }, 0, term.share / (terms[0].share || 1), percent(term.share)))));
  return parts;
}

function describeCounts(tree, node) {
  const n = tree.weight[node];
  if (numeric) {
    return [h("h3", { text: "Training examples" }), h(
    "p", { text: `${count(n)}; as a leaf this node would say ${fmt(tree.values[node], 5)}.` })];
  }
  const rows = [];
  for (let i = 0; i < tree.counts[node].length; i += 2) rows.push([tree.counts[node][i], tree.counts[node][i + 1]]);
  rows.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const lines = (list) => h("div", { class: "lines" }, ...list.flatMap(([k, weight]) => line({ title: NAMES[k],
      parts: [swatch(k), NAMES[k]] }, 0, weight / (n || 1), `${count(weight)} · ${percent(weight / (n || 1))}`,
    colour(k))));
  const parts = [h("h3", { text: `${count(n)} training example${n === 1 ? "" : "s"} by class` }), lines(rows.slice(0,
    8))];
  if (rows.length > 8) parts.push(h("details", {}, h("summary", { text: plural(rows.length - 8, "more class", "more classes") }), lines(
    rows.slice(8))));
  return parts;
}

function histogramPlot(tree, node, histogram, stop, sides) {
  const W = 368,
    H = 150,
    top = 24,
    floor = H - 22;
  const [low, high] = histogram.e, [left, bins] = histogram.n, t = tree.tests[node].t;
  const x = (value) => ((value - low) / (high - low)) * W;
  const edges = [];
  for (let i = 0; i <= left; i++) edges.push(low + ((t - low) * i) / left);
  for (let i = 1; i <= bins - left; i++) edges.push(t + ((high - t) * i) / (bins - left));
  const sums = histogram.c.map((own) => own.slice(1).reduce((sum, part, i) => (i % 2 ? sum + part : sum), 0));
  const most = Math.max(1, ...sums);
  const plot = s("svg", { class: "plot", viewBox: `0 0 ${W} ${H}`,
  role: "img", "aria-label": "Histogram of the examples along this test, by class; the threshold is marked" });
  for (const own of histogram.c) {
    let y = floor;
    for (let i = 1; i < own.length; i += 2) {
      const tall = ((floor - top) * own[i + 1]) / most;
      y -= tall;
      plot.append(s("rect", { x: x(edges[own[0]]) + 0.5, y, width: Math.max(1, x(edges[own[0] + 1]) - x(edges[own[
            0]]) - 1), height: tall, style: { fill: colour(own[i]) } },
        s(
        "title", { text: `${numeric ? "" : `${NAMES[own[i]]}: `}${own[i + 1]} of ${fmt(edges[own[0]])} to ${fmt(edges[own[0] + 1])}` })
        ));
    }
  }
  plot.append(s("line", { class: "axis", x1: 0, x2: W, y1: floor, y2: floor }));
  const tx = Math.min(W - 1, Math.max(1, x(t)));
  plot.append(s("line", { x1: tx, x2: tx, y1: 4, y2: floor + 4,
  style: { stroke: "var(--ink)", "stroke-width": "2" } }));
  const words = (at, text, anchor, y, strong) => s("text", { x: at, y, "text-anchor": anchor, text, style: strong ?
    { fill: "var(--ink)", "font-weight": "600" } : {} });
  const [no, yes] = sides.map((side, i) => `${i ? "yes" : "no"}${side.words ? `: ${side.words}` : ""}`);
  if (tx > 44) plot.append(words(tx - 6, `← ${fitted(no, tx - 24, "600 11px")}`, "end", 14, true));
  if (tx < W - 44) plot.append(words(tx + 6, `${fitted(yes, W - tx - 24, "600 11px")} →`, "start", 14, true));
  const label = thresholdWords(tree.tests[node]),
    half = widthOf(label, "11px") / 2;
  const middle = Math.min(W - half, Math.max(half, tx));
  plot.append(words(middle, label, "middle", H - 6, true));
  if (middle - half > 60) plot.append(words(0, fmt(low), "start", H - 6));
  if (middle + half < W - 60) plot.append(words(W, fmt(high), "end", H - 6));
  if (stop && stop.sum !== undefined) {
    const at = Math.min(W - 5, Math.max(5, x(stop.sum)));
    plot.append(s("path", { d: `M${at},${floor}l-6,-11h12z`, style: { fill: "var(--ink)",
      stroke: "var(--card)", "stroke-width": "1.5" } }, s("title", { text: "Your example" })));
  }
  const note = stop && stop.sum !== undefined ? "The triangle is your example." : "";
  const all = sums.reduce((a, b) => a + b, 0);
  return h("div", {}, plot, h("p", { class: "hint", text: `${plural(all, "example")} of the data. ${note}` }));
}
