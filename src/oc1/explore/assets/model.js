// The model, and the way of an example through it; sums are taken as Python takes them.

const D = JSON.parse(document.getElementById("data").textContent);
const numeric = D.task === "number" || D.task === "mean";
const averaged = D.task === "shares" || D.task === "mean"; // a forest: what its trees say is averaged
const several = averaged || D.task === "vote";
const MISSING = new Set(["", "?", "na", "n/a", "nan", "null", "none"]);
const byId = (id) => document.getElementById(id);
const NAMES = D.classes.map((label) => (label.trim() === "" ? "(empty)" : label)); // as they are shown

D.trees.forEach((tree) => {
  tree.parent = new Array(tree.children.length).fill(-1);
  tree.depth = new Array(tree.children.length).fill(0);
  tree.children.forEach((row, node) => row.forEach((child) => {
    tree.parent[child] = node;
    tree.depth[child] = tree.depth[node] + 1;
  }));
  tree.weight = tree.counts.map((row) => row.reduce((sum, part, i) => (i % 2 ? sum + part : sum), 0));
  if (tree.values) {
    tree.least = Math.min(...tree.values);
    tree.most = Math.max(...tree.values);
  }
});

const state = { tree: 0, step: 0, node: 0, focus: 0, opened: new Set(), example: null };
const shown = () => D.trees[state.tree];
const stepOf = (tree) => (tree.path ? tree.path.chosen : 0);

/** Whether a node is a leaf once the tree is pruned so far. */
function isLeaf(tree, node, step) {
  return tree.children[node].length === 0 || Boolean(tree.path && tree.path.steps[node] <= step);
}
const leafNow = (node) => isLeaf(shown(), node, state.step);

/** What one tree reads from a row: numbers, and NaN where a value is missing or a category is unknown. */
function numbersFor(tree, row) {
  return row.map((value, m) => {
    if (value === null || value === undefined) return NaN;
    if (!D.attributes[m].categories) return value;
    const codes = tree.codes[m];
    return codes && Object.hasOwn(codes, value) ? codes[value] : NaN;
  });
}

/** Ask one node: which branch, and the sum (or the functions) that decides; sums are taken in Python's order. */
function ask(tree, node, x) {
  const test = tree.tests[node];
  const read = (m) => (Number.isNaN(x[m]) ? tree.fill[m] ?? 0 : x[m]);
  if (test.w) {
    const values = test.b.slice();
    test.f.forEach((m, j) => {
      const value = read(m);
      for (let i = 0; i < values.length; i++) values[i] += value * test.w[i][j];
    });
    let branch = 0;
    for (let i = 0; i < values.length; i++) {
      if (Number.isNaN(values[i])) {
        branch = i;
        break;
      }
      if (values[i] > values[branch]) branch = i;
    }
    return { node, branch, values };
  }
  if (test.m && Number.isNaN(x[test.f[0]])) return { node, branch: test.m > 0 ? 1 : 0, directed: true };
  let sum = 0;
  for (let i = 0; i < test.f.length; i++) sum += test.c[i] * read(test.f[i]);
  return { node, branch: sum > test.t ? 1 : 0, sum, margin: sum - test.t };
}

/** The path of a row through one tree; the last stop is a leaf. */
function route(tree, row, step) {
  const x = numbersFor(tree, row);
  const stops = [];
  let node = 0;
  while (!isLeaf(tree, node, step)) {
    const stop = ask(tree, node, x);
    stops.push(stop);
    node = tree.children[node][stop.branch];
  }
  stops.push({ node });
  return stops;
}
const last = (list) => list[list.length - 1];

function probabilities(tree, node) {
  const shares = new Array(D.classes.length).fill(0);
  // Classes that this tree has not seen get nothing from smoothing; those of a single tree are all seen.
  for (let i = 0; i < tree.counts[node].length; i += 2) shares[tree.counts[node][i]] = tree.counts[node][i + 1];
  const total = tree.weight[node] + tree.smoothing * shares.length;
  return shares.map((share) => (share + tree.smoothing) / total);
}

/** What the model says of a row (numbers, texts of categories, null for missing), at a step of pruning. */
function answer(row, steps) {
  const ways = D.trees.map((tree, i) => route(tree, row, steps[i]));
  const leaves = ways.map((way) => last(way).node);
  if (numeric) {
    const said = leaves.map((leaf, i) => D.trees[i].values[leaf]);
    return { ways, leaves, said, value: said.reduce((sum, one) => sum + one, 0) / said.length };
  }
  const votes = leaves.map((leaf, i) => D.trees[i].majority[leaf]);
  let shares = null;
  if (D.task === "vote") {
    const voices = new Array(D.classes.length).fill(D.smoothing);
    votes.forEach((vote) => {
      voices[vote] += 1;
    });
    const total = D.trees.length + D.smoothing * D.classes.length;
    shares = voices.map((voice) => voice / total);
  } else if (averaged) {
    shares = new Array(D.classes.length).fill(0);
    leaves.forEach((leaf, i) => probabilities(D.trees[i], leaf).forEach((share, k) => {
      shares[k] += share;
    }));
    shares = shares.map((share) => share / D.trees.length);
  } else {
    shares = probabilities(D.trees[0], leaves[0]);
  }
  const winner = several ? shares.indexOf(Math.max(...shares)) : votes[0];
  return { ways, leaves, votes, shares, winner, label: D.classes[winner] };
}
const modelSteps = () => D.trees.map(stepOf);
const currentSteps = () => D.trees.map((tree, i) => (i === state.tree ? state.step : stepOf(tree)));
