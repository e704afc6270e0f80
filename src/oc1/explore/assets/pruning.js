// The slider along the pruning path, larger trees to the right, and the trees of a vote.

const slider = byId("slider");
/** Where the slider is at a step of pruning, and the other way round: step 0 is the largest tree. */
const turned = (step) => shown().path.leaves.length - 1 - step;

function preparePruning() {
  const { path } = shown();
  byId("pruning").hidden = !path || path.leaves.length < 2;
  state.step = stepOf(shown());
  askForUsed();
  if (!path) return;
  slider.max = path.leaves.length - 1;
  slider.value = turned(state.step);
  byId("mark").replaceChildren(h("option", { value: turned(path.chosen), label: "the model" }));
  tellSize();
}

function tellSize() {
  const { path } = shown(), at = state.step;
  const parts = [h("b", { text: plural(path.leaves[at], "leaf", "leaves") })];
  const also = (words) => parts.push(` · ${words}`);
  if (path.score === "accuracy") {
    also(`${percent(path.training[at])} of the training examples right`);
    if (path.data) also(`${percent(path.data[at])} of the ${plural(D.n, "example")} given`);
    if (path.judged && path.judged[at] !== null) also(`${percent(path.judged[at])} ${path.judgedBy}`);
  } else {
    also(`mean loss ${fmt(path.training[at])}`);
    if (path.data) also(`root mean square error ${fmt(Math.sqrt(path.data[at]))} on the examples given`);
  }
  also(at === path.chosen ? "the model" : at < path.chosen ? "larger than the model" : "smaller than the model");
  byId("size").replaceChildren(...parts);
  slider.setAttribute("aria-valuetext", byId("size").textContent);
  byId("back").hidden = at === path.chosen;
}

function prune(step) {
  const before = order.length;
  state.step = step;
  slider.value = turned(step);
  tellSize();
  askForUsed();
  // What was cut off cannot stay selected.
  for (let at = state.node; at >= 0; at = shown().parent[at])
    if (leafNow(at)) state.node = at;
  state.focus = state.node;
  openFirst();
  openTo(state.node);
  if (state.example) state.example = follow(state.example.row, state.example.truth);
  refresh();
  if (state.example) tellResult();
  if (order.length !== before) home();
}
slider.addEventListener("input", () => prune(turned(Number(slider.value))));
byId("back").addEventListener("click", () => {
  prune(stepOf(shown()));
  slider.focus();
});

function showTree(number) {
  state.tree = number;
  state.node = state.focus = 0;
  byId("which").value = number;
  preparePruning();
  openFirst();
  if (state.example) openTo(last(state.example.ways[number]).node);
  refresh();
  home();
  if (state.example) tellResult();
}
