// The tree: where its boxes are, and drawing what is in view.

const GAP = 16,
  BETWEEN = 42,
  LARGEST = 64; // nodes that are open at first
// Width of a box that asks, and height of all boxes: the shape that makes the most of the room is taken.
const SHAPES = [[196, 72], [196, 104], [196, 136], [260, 72], [260, 104], [330, 72]];
let [INNER, HEIGHT] = SHAPES[0];
const SMALLEST = 0.34, // the view that the tree is fitted into opens no more levels than can be read at this scale
  COARSE = 0.3; // boxes of a smaller scale have no room for letters
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
const LEAF = leafWidth();
const widthNow = (node) => (leafNow(node) ? LEAF : INNER);

/** Wide enough for the names of most classes and for the counts. */
function leafWidth() {
  const counts = numeric ? "" : `${count(D.trees[0].weight[0])} of ${count(D.trees[0].weight[0])}`;
  const widths = [counts, ...(numeric ? ["−1,234.5"] : NAMES)].map((words) => widthOf(words, "600 12px"));
  return Math.min(140, Math.max(72, ...widths) + 26);
}

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

/** Open levels from the top for as long as all of them fit into the view and can be read. */
function openFirst(most = LARGEST) {
  state.opened.clear();
  [INNER, HEIGHT] = SHAPES[0];
  let level = [0],
    total = 1;
  while (level.length) {
    const inner = level.filter((node) => !leafNow(node));
    const next = inner.flatMap((node) => shown().children[node]);
    if (total + next.length > most && level[0] !== 0) break;
    inner.forEach((node) => state.opened.add(node));
    if (level[0] !== 0) {
      layOut();
      if (scaleToFit() < SMALLEST) {
        inner.forEach((node) => state.opened.delete(node));
        break;
      }
    }
    total += next.length;
    level = next;
  }
}

function openTo(node) {
  for (let at = shown().parent[node]; at >= 0; at = shown().parent[at]) state.opened.add(at);
}

/** Nodes of a level keep apart, and parents are above the middle of their children (Reingold and Tilford 1981). */
function layOut() {
  places = new Map();
  order = [];
  const stack = [0];
  while (stack.length) {
    const node = stack.pop();
    order.push(node);
    stack.push(...[...childrenNow(node)].reverse());
  }
  const shifts = new Map(), // from the parent
    outlines = new Map(); // the left and right end of each level, the node's own first
  for (let i = order.length - 1; i >= 0; i--) {
    const node = order[i],
      below = childrenNow(node),
      half = widthNow(node) / 2;
    let outline = [];
    for (const child of below) {
      const own = outlines.get(child);
      let shift = 0;
      for (let level = 0; level < Math.min(own.length, outline.length); level++)
        shift = Math.max(shift, outline[level][1] + GAP - own[level][0]);
      shifts.set(child, shift);
      const moved = own.map(([left, right]) => [left + shift, right + shift]);
      outline = outline.length > moved.length ? outline.map((ends, level) => (level < moved.length ? [ends[0], moved[
        level][1]] : ends)) : moved.map((ends, level) => (level < outline.length ? [outline[level][0], ends[1]] : ends));
      outlines.delete(child);
    }
    const middle = below.length ? (shifts.get(below[0]) + shifts.get(last(below))) / 2 : 0;
    below.forEach((child) => shifts.set(child, shifts.get(child) - middle));
    // Below a closed node is what opens it.
    if (!below.length && !leafNow(node)) outline.push([-half, half]);
    outlines.set(node, [[-half, half], ...outline.map(([left, right]) => [left - middle, right - middle])]);
  }
  extent = { left: Infinity, right: -Infinity, bottom: 0 };
  for (const node of order) {
    const above = places.get(shown().parent[node]),
      width = widthNow(node);
    const at = { x: above ? above.x + shifts.get(node) : 0, y: above ? above.y + HEIGHT + BETWEEN : 0, width };
    places.set(node, at);
    extent.left = Math.min(extent.left, at.x - width / 2);
    extent.right = Math.max(extent.right, at.x + width / 2);
    extent.bottom = Math.max(extent.bottom, at.y + HEIGHT);
  }
}

const box = () => ({ width: canvas.clientWidth || 800, height: canvas.clientHeight || 500 });

/** The scale at which the whole tree is in view, with room for what hangs below its boxes. */
function scaleToFit() {
  const { width, height } = box();
  return Math.min(1.15, (width - 24) / (extent.right - extent.left), (height - 48) / extent.bottom);
}

/** Give the boxes the shape that leaves the most room for letters when the whole tree is in view. */
function shapeBoxes() {
  let best = null;
  for (const shape of SHAPES) {
    [INNER, HEIGHT] = shape;
    layOut();
    const k = scaleToFit(),
      value = k > 0.99 ? 1 + k / 1e3 : k; // a larger scale first, then larger boxes
    if (!best || value > 1.01 * best.value || (value < 1 && value > 0.985 * best.value)) best = { value, shape };
  }
  [INNER, HEIGHT] = best.shape;
  layOut();
}

function fit(least = 0.05) {
  shapeBoxes();
  const { width, height } = box(),
    k = scaleToFit();
  view.k = Math.max(k, least);
  view.x = width / 2 - ((extent.left + extent.right) / 2) * view.k;
  view.y = Math.max(16, (height - 12 - extent.bottom * view.k) / 2);
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
    window_.bottom <= drawn.bottom;
  // Letters keep their size on the screen where boxes get small, so what fits into a box depends on the scale.
  if (!inside || (view.k !== drawn.k && !(drawn.coarse && view.k < COARSE) && Math.min(view.k, drawn.k) < 1)) draw();
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
  drawn.k = view.k;
  drawn.coarse = view.k < COARSE;
  const letters = letterSizes();
  layer.style.setProperty("--text", `${letters.text}px`);
  layer.style.setProperty("--small", `${letters.small}px`);
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
      if (BETWEEN * view.k > 1.35 * letters.small * view.k) tags.push(...branchTag(tree, node, i, at, to, on, letters));
    });
    const hidden = at.x + at.width < drawn.left || at.x - at.width > drawn.right || at.y + HEIGHT + 30 < drawn.top ||
      at.y > drawn.bottom;
    if (!hidden || node === state.focus) nodes.push(drawnNode(tree, node, at, way.has(node), below.length > 0, letters));
  }
  layer.replaceChildren(...branches, ...tags, ...nodes);
  if (held) focusNode(state.focus, false);
}

