// Moving about the tree by mouse, touch and keyboard.

function focusNode(node, scroll = true) {
  state.focus = node;
  layer.querySelectorAll("g.node").forEach((group) => group.setAttribute("tabindex", Number(group.dataset.node) ===
    node ? 0 : -1));
  const group = layer.querySelector(`g.node[data-node="${node}"]`);
  if (!group) return;
  if (scroll) show(node);
  group.focus({ preventScroll: true });
}
/** Move the view as far as it takes to see a node. */
function show(node) {
  const at = places.get(node),
    { width, height } = box();
  if (!at) return;
  const x = view.x + at.x * view.k,
    y = view.y + at.y * view.k,
    half = (at.width / 2) * view.k,
    tall = (HEIGHT + 24) * view.k;
  if (x - half < 10) view.x += 10 - (x - half);
  else if (x + half > width - 10) view.x -= x + half - (width - 10);
  if (y < 10) view.y += 10 - y;
  else if (y + tall > height - 10) view.y -= y + tall - (height - 10);
  place();
}

/** Move and, if need be, zoom out to see the whole way of the example. */
function showWay() {
  const ats = state.example.ways[state.tree].map((stop) => places.get(stop.node)).filter(Boolean);
  const { width, height } = box(), leaf = last(state.example.ways[state.tree]).node;
  const left = Math.min(...ats.map((at) => at.x - at.width / 2)),
    right = Math.max(...ats.map((at) => at.x + at.width / 2));
  const bottom = Math.max(...ats.map((at) => at.y)) + HEIGHT + 24;
  const k = Math.min((width - 30) / (right - left), (height - 30) / bottom);
  if (k < view.k) view.k = Math.max(k, Math.min(view.k, SMALLEST));
  const seen = (x, y) => x >= 10 && x <= width - 10 && y >= 10 && y <= height - 10;
  const fits = seen(view.x + left * view.k, view.y) && seen(view.x + right * view.k, view.y + bottom * view.k);
  if (!fits && k >= SMALLEST) {
    view.x = width / 2 - ((left + right) / 2) * view.k;
    view.y = 15;
  }
  place();
  show(leaf);
}

function select(node, tab = true) {
  state.node = node;
  state.focus = node;
  openTo(node);
  refresh();
  show(node);
  if (tab) openTab("node");
}

function toggle(node) {
  if (leafNow(node)) return;
  if (state.opened.has(node)) state.opened.delete(node);
  else state.opened.add(node);
  const before = places.get(node);
  const x = view.x + before.x * view.k;
  layOut();
  view.x = x - places.get(node).x * view.k; // the node stays where it was
  drawn = null;
  place();
  const below = childrenNow(node);
  if (below.length) {
    show(below[0]);
    show(below[below.length - 1]);
    show(node);
  }
}

function refresh() {
  layOut();
  drawn = null;
  place();
  describe();
  drawMap();
}

board.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const tree = shown(),
    node = state.focus,
    above = tree.parent[node];
  const row = order.filter((other) => tree.depth[other] === tree.depth[node]);
  const besides = (step) => row[row.indexOf(node) + step];
  const go = (other) => {
    if (other !== undefined && other >= 0) focusNode(other);
  };
  const moves = {
    ArrowUp: () => go(above),
    ArrowDown: () => {
      if (leafNow(node)) return;
      if (!state.opened.has(node)) toggle(node);
      go(tree.children[node][0]);
    },
    ArrowLeft: () => go(besides(-1)),
    ArrowRight: () => go(besides(1)),
    Home: () => go(0),
    Enter: () => {
      select(node);
      focusNode(node);
    },
    " ": () => {
      toggle(node);
      focusNode(node);
    },
    "+": () => zoom(1.25),
    "=": () => zoom(1.25),
    "-": () => zoom(0.8),
    0: () => fit(),
  };
  if (!moves[event.key]) return;
  event.preventDefault();
  moves[event.key]();
});

const pointers = new Map();
let dragged = false,
  pinch = 0;
board.addEventListener("pointerdown", (event) => {
  if (event.button) return;
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
  if (pointers.size === 1) dragged = false;
  pinch = 0;
});
board.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const dx = event.clientX - before[0],
    dy = event.clientY - before[1];
  if (!dragged && pointers.size === 1 && Math.hypot(dx, dy) < 5) return;
  if (!dragged) {
    dragged = true;
    board.classList.add("moving");
    board.setPointerCapture(event.pointerId);
  }
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
  if (pointers.size === 1) {
    view.x += dx;
    view.y += dy;
    place();
  } else if (pointers.size === 2) {
    const [a, b] = [...pointers.values()];
    const apart = Math.hypot(a[0] - b[0], a[1] - b[1]),
      frame = board.getBoundingClientRect();
    if (pinch) zoom(apart / pinch, (a[0] + b[0]) / 2 - frame.left, (a[1] + b[1]) / 2 - frame.top);
    pinch = apart;
  }
});
const release = (event) => {
  pointers.delete(event.pointerId);
  pinch = 0;
  if (!pointers.size) board.classList.remove("moving");
};
board.addEventListener("pointerup", release);
board.addEventListener("pointercancel", release);
board.addEventListener("click", (event) => {
  if (dragged) return;
  const opener = event.target.closest("[data-open]"),
    group = event.target.closest("g.node");
  if (opener) toggle(Number(opener.dataset.open));
  else if (group) {
    select(Number(group.dataset.node));
    focusNode(state.node, false);
  }
});
board.addEventListener("dblclick", (event) => {
  const group = event.target.closest("g.node");
  if (group) toggle(Number(group.dataset.node));
});
board.addEventListener("wheel", (event) => {
  event.preventDefault();
  const frame = board.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - frame.left, event.clientY -
    frame.top);
}, { passive: false });

byId("in").addEventListener("click", () => zoom(1.25));
byId("out").addEventListener("click", () => zoom(0.8));
byId("fit").addEventListener("click", () => fit());
byId("open").addEventListener("click", () => {
  const ends = order.filter((node) => !leafNow(node) && !state.opened.has(node));
  const nearest = Math.min(...ends.map((node) => shown().depth[node]));
  ends.filter((node) => shown().depth[node] === nearest).forEach((node) => state.opened.add(node));
  refresh();
});
byId("close").addEventListener("click", () => {
  openFirst();
  state.node = state.focus = 0;
  refresh();
  home();
});

/** The view to begin with: all that is open if it can be read, else around the node that is selected. */
function home() {
  fit(SMALLEST);
}
