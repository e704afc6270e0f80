// What is in a box of the tree: as much as there is room for, in letters that can be read at any scale.

const BAR = 9,
  PAD = 8;

/** Sizes of letters in the units of the drawing: never under 11 pixels on the screen. */
const letterSizes = () => ({ text: Math.max(12, 11 / view.k), small: Math.max(11, 11 / view.k) });
const widthAt = (text, size, bold = false) => (widthOf(text, bold ? "600 12px" : "12px") * size) / 12;
const fittedAt = (text, width, size, bold = false, inside = false) =>
  fitted(text, (width * 12) / size, bold ? "600 12px" : "12px", inside);

/** The answer that leads along a branch, on the branch. */
function branchTag(tree, node, branch, at, to, on, { small }) {
  const words = tree.tests[node].w ? fittedAt(NAMES[tree.tests[node].k[branch]], 100, small) : branch ? "yes" : "no";
  const wide = widthAt(words, small) + 8,
    tall = 1.3 * small;
  const x = 0.3 * at.x + 0.7 * to.x,
    y = at.y + HEIGHT + 0.58 * (to.y - at.y - HEIGHT); // a point of the curve, nearer to the child
  return [s("rect", { class: "tag", x: x - wide / 2, y: y - tall / 2, width: wide, height: tall, rx: 3 }),
    s("text", { class: on ? "small strong" : "small", x, y: y + 0.35 * small, "text-anchor": "middle", text: words })];
}

function drawnNode(tree, node, at, on, open, letters) {
  const leaf = leafNow(node),
    siblings = tree.parent[node] < 0 ? [node] : tree.children[tree.parent[node]];
  const group = s("g", {
    class: ["node", leaf ? "leaf" : "inner", on ? "way" : "", node === state.node ? "chosen" : ""].join(" ").trim(),
    "data-node": node,
    role: "treeitem",
    tabindex: node === state.focus ? 0 : -1,
    "aria-level": tree.depth[node] + 1,
    "aria-posinset": siblings.indexOf(node) + 1,
    "aria-setsize": siblings.length,
    "aria-selected": node === state.node,
    "aria-expanded": leaf ? null : open,
    "aria-label": spoken(tree, node, leaf),
    transform: `translate(${at.x - at.width / 2},${at.y})`,
  });
  group.append(s("rect", { class: "ring", x: -5, y: -5, width: at.width + 10, height: HEIGHT + 10, rx: 12 }));
  group.append(s("rect", { class: "frame", width: at.width, height: HEIGHT, rx: 8 }));
  if (leaf || drawn.coarse) {
    const share = tree.most > tree.least ? (tree.values[node] - tree.least) / (tree.most - tree.least) : 0.5;
    const tint = numeric ? { fill: "var(--class-0)", "fill-opacity": 0.1 + 0.55 * share } :
      { fill: colour(tree.majority[node]), "fill-opacity": drawn.coarse && leaf ? 0.9 : 0.2 };
    group.append(s("rect", { width: at.width, height: HEIGHT, rx: 8, style: tint }));
  }
  if (leaf && !numeric)
    group.append(s("rect", { width: 7, height: HEIGHT, rx: 3, style: { fill: colour(tree.majority[node]) } }));
  if (drawn.coarse) return group;
  const left = leaf && !numeric ? 15 : PAD,
    inside = at.width - left - PAD;
  writeBox(group, leaf ? leafRows : testRows, tree, node, left, inside, letters);
  bar(group, tree, node, left, HEIGHT - BAR - 7, inside);
  if (!leaf && !open) group.append(opener(node, at.width, letters));
  group.append(s("title", { text: `${node}: ${leaf ? says(tree, node) : testWords(tree, node, 12)}` }));
  return group;
}

/** A button below a closed node, which says what it hides. */
function opener(node, width, { small }) {
  const leaves = leavesBelow(node),
    long = `+ ${plural(leaves, "leaf", "leaves")}`;
  const words = widthAt(long, small) + 1.3 * small > width ? `+ ${count(leaves)}` : long;
  const wide = widthAt(words, small) + 1.3 * small,
    x = width / 2;
  return s("g", { class: "opener", "data-open": node },
    s("rect", { class: "more", x: x - wide / 2, y: HEIGHT + 2, width: wide, height: 1.6 * small, rx: 0.8 * small }),
    s("text", { class: "small", x, y: HEIGHT + 2 + 1.15 * small, "text-anchor": "middle", text: words }));
}

/** Write the number of a node and as many rows below or beside it as fit; a row is a list of [words, whether strong]. */
function writeBox(group, rowsOf, tree, node, left, inside, { text, small }) {
  const tall = 1.25 * text,
    rows = Math.min(6, Math.max(1, Math.floor((HEIGHT - BAR - 12) / tall)));
  const badge = widthAt(String(node), small) + 0.8 * small,
    name = leafNow(node) ? says(tree, node) : "",
    tight = rows < 3 && name && widthAt(name, text, true) > inside - badge - 0.4 * small, // the answer matters more
    first = Math.max(0, (HEIGHT - BAR - 10 - rows * tall) / 2) + 0.95 * text + 2;
  const weight = `n = ${count(tree.weight[node])}`;
  if (!tight) group.append(s("rect", { class: "badge", x: left - 1, y: first - 0.98 * small, width: badge, height: 1.28 * small,
      rx: 0.4 * small }),
    s("text", { class: "small", x: left - 1 + badge / 2, y: first, "text-anchor": "middle", text: node }));
  const beside = tight ? inside : inside - badge - 0.4 * small; // the row of the number
  const lines = rows > 2 ? [[], ...rowsOf(tree, node, new Array(rows - 1).fill(inside), text)] :
    rowsOf(tree, node, [beside, inside].slice(0, rows), text);
  lines.slice(0, rows).forEach((row, i) => {
    const x = i ? left : left + inside - beside;
    group.append(s("text", { x, y: first + i * tall }, ...row.map(([words, strong]) => s("tspan",
      { class: strong ? "strong" : null, text: words }))));
  });
  const where = rows > 2 ? 0 : 1;
  if (rows > 1 && rowsOf === testRows) {
    const used = (lines[where] || []).reduce((sum, [words, strong]) => sum + widthAt(words, text, strong), 0);
    const room = (where ? inside : beside) - used - 6;
    if (widthAt(weight, small) <= room) group.append(s("text", { class: "small", x: left + inside, y: first + where * tall,
      "text-anchor": "end", text: weight }));
  }
}

/** The class of a leaf, and how many of its training examples have it: with fewer letters where there is little room. */
function leafRows(tree, node, widths, size) {
  const n = tree.weight[node],
    own = shareOf(tree, node);
  const ways = numeric || n === 0 ? [plural(n, "example"), `n = ${count(n)}`, count(n)] :
    [`${count(own)} of ${count(n)}`, percent(own / n)];
  const words = ways.find((one) => widthAt(one, size) <= last(widths)) || "";
  return [[[fittedAt(says(tree, node), widths[0], size, true), true]], [[words, false]]];
}

/** What a node asks, in rows of these widths: as many of its terms, the largest first, as there is room for. */
function testRows(tree, node, widths, size) {
  const test = tree.tests[node];
  if (test.w) return packed([["largest of", false], [test.k.map((k) => NAMES[k]).join(", "), true]], widths, size, true);
  if (test.q) return packed([[D.attributes[test.f[0]].name, false], [" missing?", true]], widths, size, true);
  if (test.s) {
    const at = test.s.lastIndexOf("{");
    const words = at < 0 ? [[test.s, true]] : [[test.s.slice(0, at).trim(), false], [` ${test.s.slice(at)}`, true]];
    return packed(words, widths, size, true);
  }
  const terms = termsOf(tree, node),
    limit = [` > ${thresholdWords(test)}${test.m > 0 ? " or missing" : ""}`, true];
  for (let most = Math.min(terms.length, 2 * widths.length); most > 0; most--) {
    const left = terms.length - most;
    for (const more of left ? [` + … ${left} more`, " + …"] : [""]) {
      const words = terms.slice(0, most).map((term, i) => [termWords(term, i === 0, most > 1 ? 24 : 60), false]);
      if (more) words.push([more, false]);
      const rows = packed([...words, limit], widths, size);
      if (rows) return rows;
    }
  }
  // The largest term alone would look like all of the test, and a threshold is never left out.
  const alone = (test.c[0] < 0 ? "−" : "") + terms[0].name,
    room = widths[0] - widthAt(limit[0], size, true);
  const ways = terms.length > 1 ? [`${terms.length} terms`, "…"] : [alone, fittedAt(alone, room, size)];
  for (const way of ways) {
    const rows = packed([[way, false], limit], widths, size);
    if (rows) return rows;
  }
  return packed([limit], widths, size, true);
}

/** Put pieces of text into rows, word by word; null if they do not fit, or, where they must, the first in short. */
function packed(pieces, widths, size, must = false) {
  const rows = [[]];
  let used = 0;
  // A sign stays with its number, a number with its name, and a short piece is not divided.
  const words = pieces.flatMap(([text, strong]) => (strong || /…/.test(text) ? [[text, strong]] : text.replace(
    /^( ?[−+]?)( ?)([\d.e−]+ )?/, (_, sign, space, size) => sign + (space + (size || "")).replaceAll(" ", "\u00a0"))
    .split(/(?= )/).map((word) => [word, strong])));
  for (const [word, strong] of words) {
    const own = used ? word : word.trimStart(),
      wide = widthAt(own, size, strong);
    if (used + wide <= widths[rows.length - 1]) {
      last(rows).push([own, strong]);
      used += wide;
    } else {
      const alone = word.trimStart();
      used = widthAt(alone, size, strong);
      rows.push([[alone, strong]]);
      if (rows.length > widths.length || used > last(widths)) return must ? inShort(pieces, widths, size) : null;
    }
  }
  return rows;
}

/** The first two pieces, or one, a row each; what is too long is cut. */
function inShort(pieces, widths, size) {
  return pieces.slice(0, Math.min(2, widths.length)).map(([text, strong], i) => [[fittedAt(text.trimStart(), widths[i],
    size, strong, true), strong]]);
}

function testWords(tree, node, most) {
  const test = tree.tests[node];
  if (test.w) return `largest of ${test.k.map((k) => NAMES[k]).join(", ")}`;
  return clause(tree, node, 1, most, 200).replace(" is above ", " > ");
}

function bar(group, tree, node, x, y, width) {
  group.append(s("rect", { x, y, width, height: BAR, rx: 2, style: { fill: "var(--faint)" } }));
  if (numeric) {
    const share = tree.most > tree.least ? (tree.values[node] - tree.least) / (tree.most - tree.least) : 0.5;
    group.append(s("rect", { x, y, width: Math.max(2, width * share), height: BAR, rx: 2,
      style: { fill: "var(--class-0)" } }));
    return;
  }
  const row = tree.counts[node];
  let from = x;
  for (let i = 0; i < row.length; i += 2) {
    const wide = (width * row[i + 1]) / (tree.weight[node] || 1);
    if (wide > 0.3) group.append(s("rect", { x: from, y, width: wide, height: BAR, style: { fill: colour(row[i]) } }));
    from += wide;
  }
}

function spoken(tree, node, leaf) {
  const n = examplesWord(tree.weight[node]);
  if (leaf) return `Leaf ${node}: ${says(tree, node)}, ${n}`;
  return `Node ${node} asks whether ${testWords(tree, node, 4)}; ${n}`;
}
