// The tree: where its boxes are, and drawing what is in view.

const INNER = 196,
  LEAF = 128,
  GAP = 18,
  BETWEEN = 58;
let HEIGHT = 66;
const board = byId("tree"),
  canvas = byId("canvas");
const view = { x: 0, y: 0, k: 1 };
let places = new Map(),
  order = [],
  extent = { left: 0, right: 0, bottom: 0 },
  drawn = null;
const layer = s("g", {});
board.append(layer);

const childrenNow = (node) => (leafNow(node) || !state.opened.has(node) ? [] : shown().children[node]);
const widthNow = (node) => (leafNow(node) ? LEAF : INNER);

function leavesBelow(node) {
  let total = 0;
  const stack = [node];
  while (stack.length) {
    const at = stack.pop();
    if (leafNow(at)) total += 1;
    else stack.push(...shown().children[at]);
  }
  return total;
}

/** Open levels from the top for as long as the tree stays small. */
function openFirst(most = LARGEST) {
  state.opened.clear();
  let level = [0],
    total = 1;
  while (level.length) {
    const inner = level.filter((node) => !leafNow(node));
    const next = inner.flatMap((node) => shown().children[node]);
    if (total + next.length > most && level[0] !== 0) break;
    inner.forEach((node) => state.opened.add(node));
    total += next.length;
    level = next;
  }
}

function openTo(node) {
  for (let at = shown().parent[node]; at >= 0; at = shown().parent[at]) state.opened.add(at);
}

/** Boxes are taller where a sum takes two lines. */
function heightNow() {
  const stack = [0];
  for (let looked = 0; stack.length && looked < 400; looked++) {
    const node = stack.pop();
    if (!leafNow(node) && shortTest(shown(), node, INNER - 16).length > 2) return 82;
    stack.push(...childrenNow(node));
  }
  return 66;
}

/** Leaves side by side, parents above the middle of their children. */
function layOut() {
  places = new Map();
  order = [];
  HEIGHT = heightNow();
  let edge = 0,
    deepest = 0;
  const place = (node, depth) => {
    order.push(node);
    const below = childrenNow(node);
    const y = depth * (HEIGHT + BETWEEN),
      width = widthNow(node);
    deepest = Math.max(deepest, y);
    let x;
    if (below.length) {
      const at = below.map((child) => place(child, depth + 1));
      x = (at[0] + at[at.length - 1]) / 2;
    } else {
      x = edge + width / 2;
      edge += width + GAP;
    }
    places.set(node, { x, y, width });
    return x;
  };
  place(0, 0);
  extent = { left: 0, right: Math.max(edge - GAP, INNER), bottom: deepest + HEIGHT + 22 };
}

const box = () => ({ width: canvas.clientWidth || 800, height: canvas.clientHeight || 500 });

function fit(least = 0.05) {
  const { width, height } = box();
  const k = Math.min(1.15, (width - 40) / (extent.right - extent.left), (height - 40) / extent.bottom);
  view.k = Math.max(k, least);
  const middle = (extent.left + extent.right) / 2;
  view.x = width / 2 - middle * view.k;
  view.y = 20;
  if (view.k > k) centre(state.node);
  place();
}

function centre(node) {
  const at = places.get(node);
  if (at) view.x = box().width / 2 - at.x * view.k;
}

function zoom(factor, x, y) {
  const { width, height } = box();
  const k = Math.min(3, Math.max(0.05, view.k * factor));
  const px = x ?? width / 2,
    py = y ?? height / 2;
  view.x = px - ((px - view.x) * k) / view.k;
  view.y = py - ((py - view.y) * k) / view.k;
  view.k = k;
  place();
}

/** Move the drawing; draw anew where the view has left what is drawn. */
function place() {
  layer.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.k})`);
  const window_ = windowNow(0);
  const inside = drawn && window_.left >= drawn.left && window_.right <= drawn.right && window_.top >= drawn.top &&
    window_.bottom <= drawn.bottom && (view.k < 0.28) === drawn.coarse;
  if (!inside) draw();
}

function windowNow(margin) {
  const { width, height } = box();
  return {
    left: (-margin * width - view.x) / view.k,
    right: ((1 + margin) * width - view.x) / view.k,
    top: (-margin * height - view.y) / view.k,
    bottom: ((1 + margin) * height - view.y) / view.k,
  };
}

function draw() {
  const tree = shown();
  const way = new Set(state.example ? state.example.ways[state.tree].map((stop) => stop.node) : []);
  const held = board.contains(document.activeElement);
  const large = order.length > 300;
  drawn = large ? windowNow(0.5) : { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };
  drawn.coarse = view.k < 0.28;
  const branches = [],
    tags = [],
    nodes = [];
  for (const node of order) {
    const at = places.get(node);
    const below = childrenNow(node);
    below.forEach((child, i) => {
      const to = places.get(child);
      if (Math.max(at.x, to.x) < drawn.left || Math.min(at.x, to.x) > drawn.right || to.y < drawn.top || at.y >
        drawn.bottom) return;
      const share = tree.weight[child] / (tree.weight[0] || 1);
      const on = way.has(node) && way.has(child);
      const y0 = at.y + HEIGHT,
        y1 = to.y,
        bend = (y0 + y1) / 2;
      branches.push(s("path", {
        class: on ? "branch way" : "branch",
        "stroke-width": on ? 4.5 : 1 + 5 * share,
        d: `M${at.x},${y0}C${at.x},${bend} ${to.x},${bend} ${to.x},${y1}`,
      }));
      if (!drawn.coarse) {
        const words = tree.tests[node].w ? fitted(NAMES[tree.tests[node].k[i]], 100, "10.5px") : i ? "yes" : "no";
        const wide = widthOf(words, "10.5px") + 8;
        const x = 0.3 * at.x + 0.7 * to.x,
          y = y0 + 0.58 * (y1 - y0); // a point of the curve, nearer to the child
        tags.push(s("rect", { class: "tag", x: x - wide / 2, y: y - 8, width: wide, height: 15, rx: 3 }),
          s("text", { class: on ? "small strong" : "small", x, y: y + 3.5, "text-anchor": "middle",
            text: words }));
      }
    });
    const hidden = at.x + at.width < drawn.left || at.x - at.width > drawn.right || at.y + HEIGHT + 30 < drawn.top ||
      at.y > drawn.bottom;
    if (!hidden || node === state.focus) nodes.push(drawnNode(tree, node, at, way.has(node), below.length > 0));
  }
  layer.replaceChildren(...branches, ...tags, ...nodes);
  if (held) focusNode(state.focus, false);
}

function drawnNode(tree, node, at, on, open) {
  const leaf = leafNow(node);
  const left = at.x - at.width / 2,
    inside = at.width - 16;
  const classes = ["node", leaf ? "leaf" : "inner", on ? "way" : "", node === state.node ? "chosen" : ""].join(" ")
    .trim();
  const siblings = tree.parent[node] < 0 ? [node] : tree.children[tree.parent[node]];
  const group = s("g", {
    class: classes,
    "data-node": node,
    role: "treeitem",
    tabindex: node === state.focus ? 0 : -1,
    "aria-level": tree.depth[node] + 1,
    "aria-posinset": siblings.indexOf(node) + 1,
    "aria-setsize": siblings.length,
    "aria-selected": node === state.node,
    "aria-expanded": leaf ? null : open,
    "aria-label": spoken(tree, node, leaf),
    transform: `translate(${left},${at.y})`,
  });
  group.append(s("rect", { class: "ring", x: -5, y: -5, width: at.width + 10, height: HEIGHT + 10, rx: 12 }));
  group.append(s("rect", { class: "frame", width: at.width, height: HEIGHT, rx: 8 }));
  const tint = numeric ?
    { fill: "var(--class-0)", "fill-opacity": 0.1 + 0.55 * (tree.most > tree.least ? (tree.values[node] - tree
        .least) / (tree.most - tree.least) : 0.5) } :
    { fill: colour(tree.majority[node]), "fill-opacity": drawn.coarse && leaf ? 0.9 : 0.2 };
  if (leaf) {
    group.append(s("rect", { width: at.width, height: HEIGHT, rx: 8, style: tint }));
    if (!numeric) group.append(s("rect", { width: 7, height: HEIGHT, rx: 3, style: { fill: colour(tree.majority[
        node]) } }));
  }
  if (drawn.coarse) {
    if (!leaf) group.append(s("rect", { width: at.width, height: HEIGHT, rx: 8, style: tint }));
    return group;
  }
  const weight = count(tree.weight[node]);
  if (leaf) {
    group.append(s("text", { class: "strong", x: 15, y: HEIGHT / 2 - 14, text: fitted(says(tree, node), inside - 8,
        "600 12px") }));
    const words = numeric || tree.weight[node] === 0 ? plural(tree.weight[node], "example") :
      `${count(shareOf(tree, node))} of ${weight}`;
    group.append(s("text", { class: "small", x: 15, y: HEIGHT / 2 + 4, text: fitted(words, inside - 8, "10.5px") }));
    bar(group, tree, node, 15, HEIGHT / 2 + 15, at.width - 25);
  } else {
    const words = shortTest(tree, node, inside),
      low = HEIGHT - 31;
    const top = words.length > 2 ? 18 : HEIGHT / 2 - 15;
    words.slice(0, -1).forEach((text, i) => group.append(s("text", { x: 8, y: top + 16 * i, text })));
    group.append(s("text", { class: "strong", x: 8, y: low, text: last(words) }));
    group.append(s("text", { class: "small", x: at.width - 8, y: low, "text-anchor": "end", text: `n = ${weight}` }));
    bar(group, tree, node, 8, HEIGHT - 19, at.width - 16);
    if (!open) {
      const words = `+ ${plural(leavesBelow(node), "leaf", "leaves")}`;
      const wide = widthOf(words, "10.5px") + 16;
      group.append(s("g", { class: "opener", "data-open": node },
        s("rect", { class: "more", x: at.width / 2 - wide / 2, y: HEIGHT + 2, width: wide, height: 18, rx: 9 }),
        s("text", { class: "small", x: at.width / 2, y: HEIGHT + 15, "text-anchor": "middle", text: words })));
    }
  }
  group.append(s("title", { text: leaf ? says(tree, node) : testWords(tree, node, 12) }));
  return group;
}

function testWords(tree, node, most) {
  const test = tree.tests[node];
  if (test.w) return `largest of ${test.k.map((k) => NAMES[k]).join(", ")}`;
  return clause(tree, node, 1, most, 200).replace(" is above ", " > ");
}

/** Lines for a box: what is added up (most important terms), and the threshold. */
function shortTest(tree, node, width) {
  const test = tree.tests[node];
  if (test.w) return ["largest function of", fitted(test.k.map((k) => NAMES[k]).join(", "), width - 60, "600 12px")];
  if (test.q) return [fitted(D.attributes[test.f[0]].name, width), "missing?"];
  if (test.s) {
    const at = test.s.lastIndexOf("{");
    return [fitted(test.s.slice(0, at).trim(), width), fitted(at < 0 ? "" : test.s.slice(at), width - 62,
    "600 12px")];
  }
  const terms = termsOf(tree, node),
    limit = `> ${thresholdWords(test)}${test.m > 0 ? " or missing" : ""}`;
  if (terms.length === 1) return [fitted(termWords(terms[0], true, 60), width), limit];
  const ranked = [...terms].sort((a, b) => b.share - a.share);
  for (let most = Math.min(terms.length, 4); most > 0; most--) {
    const chosen = new Set(ranked.slice(0, most));
    const pieces = terms.filter((term) => chosen.has(term)).map((term, i) => termWords(term, i === 0, most > 1 ? 24 :
      60).trim());
    if (most < terms.length) pieces.push("+ …");
    const lines = [""];
    for (const piece of pieces) {
      const longer = `${last(lines)} ${piece}`.trim();
      if (widthOf(longer, "12px") <= width) lines[lines.length - 1] = longer;
      else lines.push(piece);
    }
    const filled = lines.filter(Boolean);
    if (most === 1 || (filled.length <= 2 && filled.every((own) => widthOf(own, "12px") <= width))) {
      return [...filled.slice(0, 2).map((own) => fitted(own, width)), limit];
    }
  }
  return [limit];
}

function bar(group, tree, node, x, y, width) {
  group.append(s("rect", { x, y, width, height: 9, rx: 2, style: { fill: "var(--faint)" } }));
  if (numeric) {
    const share = tree.most > tree.least ? (tree.values[node] - tree.least) / (tree.most - tree.least) : 0.5;
    group.append(s("rect", { x, y, width: Math.max(2, width * share), height: 9, rx: 2,
      style: { fill: "var(--class-0)" } }));
    return;
  }
  const row = tree.counts[node];
  let from = x;
  for (let i = 0; i < row.length; i += 2) {
    const wide = (width * row[i + 1]) / (tree.weight[node] || 1);
    if (wide > 0.3) group.append(s("rect", { x: from, y, width: wide, height: 9, style: { fill: colour(row[i]) } }));
    from += wide;
  }
}

function spoken(tree, node, leaf) {
  const n = examplesWord(tree.weight[node]);
  if (leaf) return `Leaf: ${says(tree, node)}, ${n}`;
  return `Node ${node} asks whether ${testWords(tree, node, 4)}; ${n}`;
}
