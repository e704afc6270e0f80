// The plane of a model on two attributes.

const map = byId("map");
const flat = D.attributes.length === 2 && D.attributes.every((attribute) => !attribute.categories && attribute.low !==
  null);
const frame = flat ? D.attributes.map(({ low, high }) => {
  const margin = high > low ? 0.05 * (high - low) : 0.5;
  return [low - margin, high + margin];
}) : null;

/** Cut a convex polygon by normal . x = t: what is at most t, what is above, and the line inside. */
function cutPolygon(polygon, normal, t) {
  const heights = polygon.map(([a, b]) => normal[0] * a + normal[1] * b - t);
  if (!heights.some((own) => own > 0)) return [polygon, [],
    []
  ];
  if (!heights.some((own) => own < 0)) return [
    [], polygon, []
  ];
  const below = [],
    above = [],
    ends = [];
  polygon.forEach((corner, i) => {
    const before = (i + polygon.length - 1) % polygon.length,
      h0 = heights[before],
      h1 = heights[i];
    if (h0 * h1 < 0) {
      const share = h0 / (h0 - h1),
        from = polygon[before];
      const crossing = [from[0] + share * (corner[0] - from[0]), from[1] + share * (corner[1] - from[1])];
      ends.push(crossing);
      below.push(crossing);
      above.push(crossing);
    }
    if (h1 === 0) ends.push(corner);
    if (h1 <= 0) below.push(corner);
    if (h1 >= 0) above.push(corner);
  });
  return [below, above, ends];
}

function regions(tree, step) {
  const [
    [left, right],
    [bottom, top]
  ] = frame;
  const polygons = new Map([
      [0, [
        [left, bottom],
        [right, bottom],
        [right, top],
        [left, top]
      ]]
    ]),
    cuts = new Map();
  const vector = (features, weights_) => {
    const out = [0, 0];
    features.forEach((m, i) => {
      out[m] = weights_[i];
    });
    return out;
  };
  const stack = [0];
  while (stack.length) {
    const node = stack.pop();
    if (isLeaf(tree, node, step)) continue;
    const test = tree.tests[node],
      own = polygons.get(node);
    if (test.w) {
      tree.children[node].forEach((child, i) => {
        let part = own;
        test.k.forEach((_, j) => {
          if (i === j || !part.length) return;
          const normal = vector(test.f, test.f.map((__, n) => test.w[i][n] - test.w[j][n]));
          part = cutPolygon(part, normal, test.b[j] - test.b[i])[1];
        });
        polygons.set(child, part);
        stack.push(child);
      });
      continue;
    }
    const [no, yes, ends] = cutPolygon(own, vector(test.f, test.c), test.t);
    polygons.set(tree.children[node][0], no);
    polygons.set(tree.children[node][1], yes);
    if (ends.length === 2) cuts.set(node, ends);
    stack.push(...tree.children[node]);
  }
  return { polygons, cuts };
}

function niceTicks(low, high, most) {
  const raw = (high - low) / most,
    power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((own) => own * power).find((own) => own >= raw);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(i * step);
  return ticks;
}

/** The numbers of nodes: on their lines, and in the middle of the regions that are leaves, where there is room. */
function mapNumbers(leaves, cuts, x, y) {
  const taken = [];
  const number = (node, px, py, kind) => {
    if (taken.some(([qx, qy]) => Math.abs(px - qx) < 26 && Math.abs(py - qy) < 18)) return [];
    taken.push([px, py]);
    const wide = widthOf(String(node), "600 11px") + 8;
    return [s("rect", { class: `badge ${kind}`, x: px - wide / 2, y: py - 8, width: wide, height: 16, rx: 5 }),
      s("text", { class: "number", x: px, y: py + 4, "text-anchor": "middle", text: node })];
  };
  const lines = [...cuts].map(([node, [a, b]]) => ({ node, ends: [x(a[0]), y(a[1]), x(b[0]), y(b[1])] }));
  lines.forEach((own) => {
    own.long = Math.hypot(own.ends[0] - own.ends[2], own.ends[1] - own.ends[3]);
  });
  const onLines = lines.filter(({ long }) => long > 30).sort((a, b) => b.long - a.long).slice(0, 40).flatMap(({ node,
    ends: [x0, y0, x1, y1] }) => {
    // Where the middle is taken, a place beside it on the line.
    for (const share of [0.5, 0.4, 0.6, 0.3, 0.7]) {
      const found = number(node, x0 + share * (x1 - x0), y0 + share * (y1 - y0), "of-line");
      if (found.length) return found;
    }
    return [];
  });
  const inRegions = leaves.flatMap(([node, polygon]) => {
    const corners = polygon.map(([a, b]) => [x(a), y(b)]);
    const [px, py, area] = middleOf(corners);
    return area > 900 ? number(node, px, py, "of-leaf") : [];
  });
  return [...onLines, ...inRegions];
}

/** The centre of gravity of a polygon, and its area. */
function middleOf(corners) {
  let area = 0,
    px = 0,
    py = 0;
  corners.forEach(([x0, y0], i) => {
    const [x1, y1] = corners[(i + 1) % corners.length],
      own = (x0 * y1 - x1 * y0) / 2;
    area += own;
    px += (own * (x0 + x1)) / 3;
    py += (own * (y0 + y1)) / 3;
  });
  return [px / area, py / area, Math.abs(area)];
}

let scales = null;

function drawMap() {
  if (!flat || byId("mapbox").hidden) return;
  const W = map.clientWidth,
    H = map.clientHeight;
  if (!W || !H) return;
  const tree = shown(),
    { polygons, cuts } = regions(tree, state.step);
  const left = 56,
    right = W - 14,
    top = 8,
    floor = H - 38,
    [
      [x0, x1],
      [y0, y1]
    ] = frame;
  const x = (value) => left + ((value - x0) / (x1 - x0)) * (right - left),
    y = (value) => floor - ((value - y0) / (y1 - y0)) * (floor - top);
  scales = { left, right, top, floor };
  const dots = (polygon) => polygon.map(([a, b]) => `${x(a).toFixed(2)},${y(b).toFixed(2)}`).join(" ");
  const parts = [],
    leaves = [...polygons].filter(([node, polygon]) => isLeaf(tree, node, state.step) && polygon.length);
  for (const [node, polygon] of leaves) {
    const share = numeric && tree.most > tree.least ? (tree.values[node] - tree.least) / (tree.most - tree.least) :
      0.5;
    parts.push(s("polygon", { class: tree.tests.some((test) => test.w) ? "region edged" : "region", points: dots(
          polygon), style: numeric ? { fill: colour(0), "fill-opacity": 0.08 + 0.7 * share } : { fill: colour(tree
            .majority[node]) } },
      s("title", { text: `${node}: ${says(tree, node)}` })));
  }
  const radius = D.points.length > 800 ? 2 : 2.8;
  if (!numeric)
    for (const [a, b, k] of D.points) parts.push(s("circle", { cx: x(a).toFixed(1), cy: y(b).toFixed(1), r: radius,
      style: { fill: colour(k), stroke: "var(--ink)", "stroke-width": "0.35" } }));
  else
    for (const [a, b] of D.points) parts.push(s("circle", { cx: x(a).toFixed(1), cy: y(b).toFixed(1), r: 1.8,
      style: { fill: "var(--soft)" } }));
  for (const [node, [a, b]] of cuts) parts.push(s("line", { class: node === state.node ? "cut chosen" : "cut", x1: x(
      a[0]), y1: y(a[1]), x2: x(b[0]), y2: y(b[1]) }));
  const chosen = polygons.get(state.node);
  if (chosen && chosen.length && state.node) parts.push(s("polygon", { class: "outline", points: dots(chosen) }));
  parts.push(...mapNumbers(leaves, cuts, x, y));
  parts.push(s("path", { class: "axis", fill: "none", d: `M${left},${top}V${floor}H${right}` }));
  for (const tick of niceTicks(x0, x1, Math.max(2, (right - left) / 90))) parts.push(s("line", { class: "axis", x1: x(
      tick), x2: x(tick), y1: floor, y2: floor + 4 }), s("text", { x: x(tick), y: floor +
    16, "text-anchor": "middle", text: fmt(tick) }));
  for (const tick of niceTicks(y0, y1, Math.max(2, (floor - top) / 45))) parts.push(s("line", { class: "axis",
    x1: left - 4, x2: left, y1: y(tick), y2: y(tick) }), s("text", { x: left - 7, y: y(tick) +
    4, "text-anchor": "end", text: fmt(tick) }));
  parts.push(s("text", { x: (left + right) / 2, y: H - 6, "text-anchor": "middle", text: fitted(D.attributes[0].name,
      right - left, "11px") }));
  parts.push(s("text", { transform: `translate(13,${(top + floor) / 2}) rotate(-90)`, "text-anchor": "middle",
    text: fitted(D.attributes[1].name, floor - top, "11px") }));
  if (state.example && state.example.row.every((value) => value !== null)) {
    const [a, b] = state.example.row;
    parts.push(s("circle", { class: "you", cx: Math.min(right, Math.max(left, x(a))), cy: Math.min(floor, Math.max(
        top, y(b))), r: 7 }, s("title", { text: "Your example" })));
  }
  map.replaceChildren(...parts);
}
map.addEventListener("click", (event) => {
  const place_ = map.getBoundingClientRect(),
    { left, right, top, floor } = scales;
  const across = (event.clientX - place_.left - left) / (right - left),
    up = (floor - (event.clientY - place_.top)) / (floor - top);
  if (across < 0 || across > 1 || up < 0 || up > 1) return;
  const value = ([low, high], share) => Number((low + share * (high - low)).toPrecision(4));
  setExample([value(frame[0], across), value(frame[1], up)], null);
});
