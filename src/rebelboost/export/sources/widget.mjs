
// A notebook's widget: the page above, whose case and prices are traits that Python sees.
async function render({ model, el }) {
  const url = URL.createObjectURL(new Blob([model.get("module")], { type: "text/javascript" }));
  const exported = await import(url);
  URL.revokeObjectURL(url);
  const root = document.createElement("div");
  el.append(root);
  let isOwn = false;
  const given = () => ({ case: model.get("case"), prices: model.get("prices") });
  const page = mount(root, exported, {
    ...given(),
    cases: model.get("cases"),
    onChange(state) {
      isOwn = true;
      const { decision, prediction, probabilities, expectedCosts, scores } = state;
      const answer = { decision, prediction, probabilities, expectedCosts, scores };
      model.set("case", state.case);
      model.set("sample", state.sample);
      model.set("prices", state.prices ?? []);
      model.set("answer", JSON.parse(JSON.stringify(answer)));
      model.save_changes();
      isOwn = false;
    },
  });
  const follow = () => {
    if (!isOwn) page.set(given());
  };
  model.on("change:case", follow);
  model.on("change:prices", follow);
}

export default { render };
