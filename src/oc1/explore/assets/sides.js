// What the two sides of a test stand for, in the names of classes.

/** The share of each class among the training examples at a node. */
function sharesAt(tree, node) {
  const shares = new Array(D.classes.length).fill(0);
  for (let i = 0; i < tree.counts[node].length; i += 2)
    shares[tree.counts[node][i]] = tree.counts[node][i + 1] / (tree.weight[node] || 1);
  return shares;
}

/**
 * What speaks for no (first) and for yes (second): the class that is more frequent on that side than on the other, or
 * two where no single one makes half of the difference, or the second at least half as much of it as the first. A side
 * of many classes is that of the others; `k` is the class of a side that has just one, and `words` are null where
 * nothing can be said.
 */
function sidesOf(tree, node) {
  const [no, yes] = tree.children[node];
  if (numeric) {
    const larger = tree.values[yes] > tree.values[no];
    if (tree.values[yes] === tree.values[no]) return [{ words: null, k: null }, { words: null, k: null }];
    return [!larger, larger].map((up) => ({ words: up ? "larger numbers" : "smaller numbers", k: null }));
  }
  const [without, having] = [sharesAt(tree, no), sharesAt(tree, yes)];
  const sides = [-1, 1].map((sign) => {
    const ranked = having.map((share, k) => [sign * (share - without[k]), k]).filter(([by]) => by > 1e-9).sort((a, b) =>
      b[0] - a[0]);
    const half = ranked.reduce((sum, [by]) => sum + by, 0) / 2;
    const taken = [];
    const isAsMuch = (i) => i > 0 && (ranked[i][0] > ranked[i - 1][0] - 1e-9 || ranked[i][0] > ranked[0][0] / 2 - 1e-9);
    for (let sum = 0, i = 0; i < ranked.length && (sum < half - 1e-9 || isAsMuch(i)); i++) {
      sum += ranked[i][0];
      taken.push(ranked[i][1]);
    }
    const names = taken.map((k) => cut(NAMES[k], 30));
    return { words: names.length && names.length < 3 ? names.join(" or ") : null, k: taken.length === 1 ? taken[0] :
      null };
  });
  return sides.map((side, i) => (side.words || !sides[1 - i].words ? side : { words: "the other classes", k: null }));
}

/** What the examples at a node mostly are: “malignant, 207 of 209”; at a leaf, what it says. */
function mostly(tree, node) {
  const n = tree.weight[node],
    own = shareOf(tree, node),
    name = cut(says(tree, node), 40);
  if (numeric) return `${plural(n, "example")}, on average ${fmt(tree.values[node], 4)}`;
  if (!n) return name;
  if (leafNow(node) || own > n / 2) return `${leafNow(node) ? "" : "mostly "}${name}, ${count(own)} of ${count(n)}`;
  return `${plural(n, "example")}, most often ${name} (${percent(own / n)})`;
}

/** A line for each branch of a test: where it leads, and what is mostly there. */
function branchLines(tree, node) {
  return h("div", { class: "branches" }, ...tree.children[node].map((child, i) => h("button", { type: "button",
      onclick: () => select(child), title: `Show node ${child}` },
    h("b", { text: i ? "yes" : "no" }), h("span", { class: "badge", text: child }),
    h("span", {}, ...(numeric ? [] : [swatch(tree.majority[child])]),
      mostly(tree, child)))).reverse());
}
