// Tabs, light and dark, and what is done when the page opens.

const TABS = ["node", "example"];

function openTab(name) {
  for (const own of TABS) {
    byId(own).hidden = own !== name;
    byId(`tab-${own}`).setAttribute("aria-selected", own === name);
    byId(`tab-${own}`).tabIndex = own === name ? 0 : -1;
  }
}
for (const name of TABS) {
  byId(`tab-${name}`).addEventListener("click", () => openTab(name));
  byId(`tab-${name}`).addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const other = TABS.find((own) => own !== name);
    openTab(other);
    byId(`tab-${other}`).focus();
  });
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const setTheme = (name) => {
  document.documentElement.dataset.theme = name;
};
setTheme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" :
  "dark"));

function start() {
  paint();
  byId("title").textContent = D.title;
  byId("title").title = D.title;
  const leaves = D.trees.reduce((sum, tree) => sum + (tree.path ? tree.path.leaves[tree.path.chosen] : tree.children
    .filter((row) => !row.length).length), 0);
  const size = several ?
    `${averaged ? "forest" : "vote"} of ${D.trees.length} trees, ${plural(leaves, "leaf", "leaves")}` :
    `tree with ${plural(leaves, "leaf", "leaves")}`;
  preparePruning();
  const used = usedAttributes().length,
    all = D.attributes.length;
  byId("subtitle").textContent =
    `${D.learner}: ${size}, ${used < all ? `uses ${used} of ` : ""}${plural(all, "attribute")}${worth()}${D.n === null ? "" : `; ${plural(D.n, "example")} of data`}`;
  if (!numeric) byId("legend").append(...NAMES.map((label, k) => h("li", { title: label }, swatch(k), cut(label,
    30))));
  if (several) {
    byId("chooser").hidden = false;
    byId("which").append(...D.trees.map((_, i) => h("option", { value: i, text: `${i + 1} of ${D.trees.length}` })));
    byId("which").addEventListener("change", () => showTree(Number(byId("which").value)));
  }
  byId("random").hidden = !D.examples.length;
  const typical = D.examples.length ? D.examples[0].slice(0, -1) : D.attributes.map((attribute, m) => (attribute
    .categories ? attribute.categories[0] : Number(Number(D.trees[0].fill[m] ?? 0).toPrecision(3))));
  byId("paste").placeholder = cut(`${typical.map(written).join(", ")}`, 120);
  byId("mapbox").hidden = !flat;
  byId("fieldbox").open = used <= 8;
  openFirst();
  layOut();
  byId("open").hidden = byId("close").hidden = D.trees.length === 1 && order.length === D.trees[0].children.length;
  home();
  describe();
  drawMap();
  let width = canvas.clientWidth;
  new ResizeObserver(() => {
    if (canvas.clientWidth !== width) home();
    else place();
    width = canvas.clientWidth;
    drawMap();
  }).observe(byId("views"));
}
start();

window.oc1 = Object.freeze({
  data: D,
  /** The class (or number) of a row, as the model gives it; null is missing. */
  classify: (row) => {
    const own = answer(row, modelSteps());
    return numeric ? own.value : own.label;
  },
  probabilities: (row) => answer(row, modelSteps()).shares,
  parse,
});

/** How well the model did on examples that it had not seen, when it was trained. */
function worth() {
  if (!D.heldOut) return "";
  const [measure, value, n] = D.heldOut;
  return measure === "accuracy" ? `; right on ${percent(value)} of ${plural(n, "held-out example")}` :
    `; R² ${fmt(value)} on ${plural(n, "held-out example")}`;
}
