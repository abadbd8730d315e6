// A model on a page: type or pick a case, move prices, and see the decision with its reasons.
// It builds elements only from text, so that no name can be markup, and loads nothing.

const MOST_REASONS = 10;
const MOST_ROWS = 3;
const MOST_COLUMNS = 8;
const MOST_PRICES = 12;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== undefined && value !== false)
      made.setAttribute(name, value === true ? "" : String(value));
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function rounded(value, digits = 3) {
  if (value === Infinity) return "any";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return value.toExponential(digits - 1);
  return String(Number(value.toPrecision(digits)));
}

function signed(value) {
  return `${value < 0 ? "\u2212" : "+"}${rounded(Math.abs(value))}`;
}

function percent(p) {
  if (p > 0 && p < 0.001) return "< 0.1\u00a0%";
  if (p < 1 && p > 0.999) return "> 99.9\u00a0%";
  return `${rounded(100 * p)}\u00a0%`;
}

function tableOf(caption, head, rows) {
  const cell = (tag, { text = "", kind, child, scope }) => {
    const width = text.length > 24 ? "long" : text.length <= 12 ? "short" : "";
    const style = tag === "td" || scope === "row" ? `${kind ?? ""} ${width}`.trim() : kind;
    return element(tag, { class: style || null, scope }, child ?? document.createTextNode(text));
  };
  const body = rows.map(({ cells, chosen }) =>
    element("tr", { class: chosen ? "chosen" : null },
      ...cells.map((each, i) => cell(i === 0 ? "th" : "td", i === 0 ? { ...each, scope: "row" } : each))),
  );
  const heads = head.map((each) => cell("th", { ...each, scope: "col" }));
  return element("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...body)),
  );
}

function bar(share) {
  const inside = element("span");
  inside.style.width = `${100 * Math.min(Math.max(share, 0), 1)}%`;
  return element("span", { class: "bar", "aria-hidden": "true" }, inside);
}

function lean(share) {
  const inside = element("span", { class: share < 0 ? "against" : "for" });
  const width = 50 * Math.min(Math.abs(share), 1);
  inside.style.left = `${share < 0 ? 50 - width : 50}%`;
  inside.style.width = `${width}%`;
  return element("span", { class: "lean", "aria-hidden": "true" }, inside);
}

let pages = 0;

/**
 * Show a model in an element.
 * @param {HTMLElement} root
 * @param {object} model an exported module
 * @param {{cases?: {name: string, x: (number | null)[]}[], note?: string, case?: Record<string, string>,
 *   prices?: number[][], onChange?: (state: object) => void}} [options] cases to pick, of which the first is
 *   shown; a sentence on training rows; what is typed and the prices to begin with
 * @returns {{state: () => object, set: (change: object) => void}}
 */
export function mount(root, model, options = {}) {
  const page = ++pages;
  const columns = model.columns();
  const cases = options.cases ?? [];
  const K = model.CLASSES ? model.CLASSES.length : 0;
  const classes = (model.CLASSES ?? []).map(String);
  const blank = new Array(model.N_FEATURES).fill(NaN);
  let base = blank;
  let typed = new Map();
  let prices = null;

  root.classList.add("rebel-page");
  root.replaceChildren();
  const inputs = element("form", { "aria-label": "The case and the prices" });
  inputs.addEventListener("submit", (event) => event.preventDefault());
  const live = element("div", { class: "live", role: "status", "aria-live": "polite", "aria-atomic": "true" });
  const details = element("div", { class: "details" });
  root.append(inputs, live, details);

  // ---- the case

  const fields = new Map();
  const given = element("fieldset", {}, element("legend", {}, "The case"));
  inputs.append(given);
  const picker = element("select", { id: `rebel-${page}-pick` });
  if (cases.length) {
    picker.append(...cases.map(({ name }, i) => element("option", { value: i }, name)));
    picker.append(element("option", { value: -1 }, "an empty form"));
    given.append(element("label", { for: picker.id }, "Begin with"), picker);
    picker.addEventListener("change", () => begin(Number(picker.value)));
  }
  columns.forEach((column, i) => {
    const id = `rebel-${page}-${i}`;
    const fault = element("p", { class: "fault", id: `${id}-fault` });
    const common = { id, "aria-describedby": fault.id };
    let input;
    if (column.kind === "category") {
      input = element("select", common, element("option", { value: "" }, "(missing)"));
      input.append(...column.levels.map((level) => element("option", { value: level }, level)));
    } else {
      input = element("input", {
        ...common, type: "text", autocomplete: "off", spellcheck: "false",
        inputmode: column.kind === "number" ? "decimal" : null, placeholder: "(missing)",
      });
    }
    const hint = column.hint ? ` (such as ${column.hint})` : "";
    given.append(element("label", { for: id }, `${column.name}${hint}`), input, fault);
    input.addEventListener("input", () => {
      typed.set(column, input.value);
      update();
    });
    fields.set(column, { input, fault });
  });

  function begin(i) {
    base = i >= 0 && cases[i] ? Float64Array.from(cases[i].x, (v) => (v === null ? NaN : v)) : blank;
    typed = new Map();
    fill();
    update();
  }

  function fill() {
    for (const [column, { input }] of fields) {
      const cell = typed.has(column) ? typed.get(column) : model.cellOf(column, base);
      input.value = cell ?? "";
      if (cell === null) input.placeholder = "(as in this row)";
    }
  }

  /** Cells that were typed are read as a table's; the others stay as they are in the case. */
  function sample() {
    const record = Object.fromEntries(columns.map((column) => [column.name, typed.get(column) ?? null]));
    const read = model.encode(record);
    const x = Float64Array.from(base);
    for (const column of typed.keys()) for (const f of column.features) x[f] = read[f];
    return x;
  }

  function tellFaults(x) {
    for (const [column, { input, fault }] of fields) {
      const text = typed.get(column)?.trim() ?? "";
      const isLost = text !== "" && column.features.every((f) => x[f] !== x[f]);
      fault.textContent = isLost ? "This cannot be read, and counts as missing." : "";
      if (isLost) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
  }

  // ---- the prices

  const priced = element("fieldset", {}, element("legend", {}, "Prices of mistakes"));
  const sliders = [];
  let shownPairs = [];
  const others = element("p", { class: "quiet" });
  if (model.WEIGHS_COSTS) {
    const reset = element("button", { type: "button" }, "Prices of the model");
    reset.addEventListener("click", () => {
      prices = null;
      drawPrices(true);
      update();
    });
    inputs.append(priced);
    priced.append(others, reset);
  }

  function present() {
    return prices ?? model.explainSample(sample()).costs;
  }

  function scaleOf(price) {
    return price > 0 ? 4 * price : 4;
  }

  function drawPrices(isNew) {
    if (!model.WEIGHS_COSTS) return;
    const costs = present();
    if (!isNew && sliders.length) return;
    for (const { box } of sliders) box.remove();
    sliders.length = 0;
    shownPairs = [];
    for (let a = 0; a < K; ++a) for (let b = 0; b < K; ++b) if (a !== b) shownPairs.push([a, b]);
    if (shownPairs.length > MOST_PRICES) {
      const { prices: ranges } = model.explainSample(sample(), prices);
      const room = ([a, b]) => {
        const price = costs[a][b] || 1e-300;
        return Math.min(ranges.high[a][b] / price, price / Math.max(ranges.low[a][b], 1e-300));
      };
      shownPairs.sort((p, q) => room(p) - room(q));
      others.textContent = `The ${MOST_PRICES} of ${shownPairs.length} prices whose change would soonest change the decision:`;
      shownPairs = shownPairs.slice(0, MOST_PRICES);
    }
    for (const [a, b] of shownPairs) sliders.push(sliderOf(a, b, costs[a][b]));
  }

  function sliderOf(a, b, price) {
    const id = `rebel-${page}-price-${a}-${b}`;
    const most = scaleOf(price);
    const slider = element("input", { type: "range", id, min: 0, max: 1000, step: 1 });
    const number = element("input", {
      type: "text", inputmode: "decimal", id: `${id}-number`, autocomplete: "off",
      "aria-label": `Price of deciding ${classes[b]} where ${classes[a]} is true`,
    });
    const range = element("p", { class: "quiet", id: `${id}-range` });
    const inside = element("span");
    const track = element("div", { class: "track", "aria-hidden": "true" }, inside);
    slider.setAttribute("aria-describedby", range.id);
    const box = element("div", { class: "price" },
      element("label", { for: id }, `Deciding ${classes[b]} where ${classes[a]} is true`), slider, number, track, range);
    const own = { a, b, box, slider, number, range, inside, most, price };
    slider.addEventListener("input", () => change(own, (own.most * slider.value) / 1000, number));
    number.addEventListener("input", () => {
      const value = Number(number.value.replace(",", "."));
      const isPrice = number.value.trim() !== "" && value >= 0 && value < 1e100;
      if (isPrice) number.removeAttribute("aria-invalid");
      else number.setAttribute("aria-invalid", "true");
      if (isPrice) change(own, value, null);
    });
    priced.insertBefore(box, priced.lastChild);
    return own;
  }

  function change(own, price, alsoIn) {
    prices = present().map((row) => [...row]);
    prices[own.a][own.b] = alsoIn ? Number(price.toPrecision(3)) : price;
    if (alsoIn) alsoIn.value = String(prices[own.a][own.b]);
    update();
  }

  function tellPrices(told) {
    for (const own of sliders) {
      const { a, b, slider, number, range, inside } = own;
      const price = told.costs[a][b];
      if (price > own.most) own.most = scaleOf(price);
      slider.value = Math.round((1000 * price) / own.most);
      slider.setAttribute("aria-valuetext", rounded(price, 4));
      if (document.activeElement !== number) number.value = String(price);
      const [low, high] = [told.prices.low[a][b], told.prices.high[a][b]];
      const place = (value) => `${100 * Math.min(value / own.most, 1)}%`;
      inside.style.left = place(low);
      inside.style.right = `calc(100% - ${place(high)})`;
      if (low === 0 && high === Infinity) range.textContent = "The decision does not depend on it.";
      else if (high === Infinity) range.textContent = `The decision holds from ${rounded(low, 4)} on.`;
      else if (low === 0) range.textContent = `The decision holds up to ${rounded(high, 4)}.`;
      else range.textContent = `The decision holds from ${rounded(low, 4)} to ${rounded(high, 4)}.`;
    }
  }

  // ---- the answer


  function sayDecision(told) {
    const said = element("p", { class: "said" });
    const under = element("p", { class: "quiet" });
    if (!model.CLASSES) {
      said.append("Prediction: ", element("strong", {}, rounded(told.prediction, 6)));
    } else {
      said.append("Decision: ", element("strong", {}, String(told.decision)));
      const [own, rival] = [String(told.leading), String(told.rival)];
      const abstains = String(told.decision) !== own;
      const costs = model.WEIGHS_COSTS ? `, expected cost ${rounded(told.expectedCosts[own])}` : "";
      const next = told.rival === null ? "" :
        ` Next best: ${rival}, probability ${percent(told.probabilities[rival])}` +
        (model.WEIGHS_COSTS ? `, expected cost ${rounded(told.expectedCosts[rival])}.` : ".");
      under.textContent = abstains
        ? `Every decision is expected to cost more than abstaining. The cheapest is ${own}${costs}.`
        : `Probability ${percent(told.probabilities[own])}${costs}.${next}`;
    }
    live.replaceChildren(said, under);
  }

  function classTable(told) {
    const head = [{ text: "class" }, { text: "probability", kind: "n" }, { text: "", kind: "bars" }];
    if (model.WEIGHS_COSTS) head.push({ text: "expected cost", kind: "n" });
    const rows = classes.map((name) => {
      const p = told.probabilities[name];
      const cells = [{ text: name }, { text: percent(p), kind: "n" }, { child: bar(p), kind: "bars" }];
      if (model.WEIGHS_COSTS) cells.push({ text: rounded(told.expectedCosts[name]), kind: "n" });
      return { cells, chosen: name === String(told.decision) };
    });
    if (rows.length > 12) rows.sort((a, b) => parseFloat(b.cells[1].text) - parseFloat(a.cells[1].text));
    return tableOf("Probabilities and expected costs", head, rows.slice(0, 12));
  }

  function reasonTable(told) {
    const rowsByClass = new Map();
    for (const row of told.rows) {
      const key = row.class === null ? "training rows" : String(row.class);
      const own = rowsByClass.get(key) ?? { size: 0, labels: [] };
      own.size += row.size;
      own.labels.push(`row ${row.label}`);
      rowsByClass.set(key, own);
    }
    const parts = told.reasons.map(({ feature, value, size }) => ({
      text: value === "" ? `${feature} is missing` : `${feature} = ${value}`, size,
    }));
    for (const [key, { size, labels }] of rowsByClass) {
      const more = labels.length > 2 ? ` and ${labels.length - 2} more` : "";
      parts.push({ text: `similar to ${key}: ${labels.slice(0, 2).join(", ")}${more}`, size });
    }
    parts.sort((a, b) => Math.abs(b.size) - Math.abs(a.size));
    const rest = parts.slice(MOST_REASONS);
    const listed = parts.slice(0, MOST_REASONS);
    if (rest.length) {
      const size = rest.reduce((sum, part) => sum + part.size, 0);
      listed.push({ text: `${rest.length} other reason${rest.length > 1 ? "s" : ""}`, size });
    }
    listed.push({ text: "baseline: an average training row", size: told.baseline.size });
    const largest = Math.max(...listed.map((part) => Math.abs(part.size))) || 1;
    const rows = listed.map(({ text, size }) => ({
      cells: [{ text }, { text: signed(size), kind: "n" }, { child: lean(size / largest), kind: "bars" }],
    }));
    return tableOf("Reasons", [{ text: "" }, { text: "contribution", kind: "n" }, { text: "", kind: "bars" }], rows);
  }

  function rowTable(told) {
    const near = told.similar.length ? told.similar : told.rows;
    const chosen = near.slice(0, MOST_ROWS);
    if (!chosen.length) return null;
    const head = [{ text: "" }, { text: "this case" }];
    for (const row of chosen)
      head.push({ text: `row ${row.label}${row.class === null ? "" : ` (${row.class})`}` });
    if (!chosen[0].values)
      return element("p", { class: "quiet" }, `Compared with ${head.slice(2).map(({ text }) => text).join(", ")}. ` +
        "The values of training rows are not in this page.");
    const ranked = told.reasons.map(({ feature }) => feature);
    const x = sample();
    const order = model.featureNames().map((name, f) => ({ name, f, rank: ranked.indexOf(name) }));
    order.sort((a, b) => (a.rank < 0 ? 1e9 : a.rank) - (b.rank < 0 ? 1e9 : b.rank));
    const rows = order.slice(0, MOST_COLUMNS).map(({ name, f }) => {
      const own = model.shown(f, x[f]);
      const cells = chosen.map(({ values }) => ({
        text: values[f] || "(empty)", kind: values[f] === own ? null : "differs",
      }));
      return { cells: [{ text: name }, { text: own || "(empty)" }, ...cells] };
    });
    return tableOf("Training rows that the case is compared with", head, rows);
  }

  function tellDetails(told) {
    const parts = [];
    if (model.CLASSES) parts.push(element("h4", {}, "Probabilities"), classTable(told));
    const title = !model.CLASSES ? "Reasons"
      : told.rival === null ? "Reasons"
      : `Reasons for ${told.leading} (+) and ${told.rival} (\u2212), total ${signed(told.lead)}`;
    parts.push(element("h4", {}, title), reasonTable(told));
    const rows = rowTable(told);
    if (rows) parts.push(element("h4", {}, "Training rows it is compared with"), rows);
    if (options.note) parts.push(element("p", { class: "quiet" }, options.note));
    details.replaceChildren(...parts);
  }

  function update() {
    const x = sample();
    tellFaults(x);
    let told;
    try {
      told = model.explainSample(x, prices);
    } catch (error) {
      live.replaceChildren(element("p", { class: "fault" }, `No decision: ${error.message}.`));
      details.replaceChildren();
      return;
    }
    const { decision, prediction, probabilities, expectedCosts, scores, costs } = told;
    const exact = { decision, prediction, probabilities, expectedCosts, scores, prices: costs };
    live.dataset.exact = JSON.stringify(exact); // all digits, for programs
    sayDecision(told);
    tellDetails(told);
    drawPrices(false);
    if (told.prices) tellPrices(told);
    const kept = Array.from(x, (value) => (value !== value ? null : value));
    options.onChange?.({ ...exact, case: typedCase(), sample: kept, prices });
  }

  function typedCase() {
    return Object.fromEntries([...typed].map(([column, text]) => [column.name, text]));
  }

  function set({ case: cells, prices: given }) {
    if (cells) {
      typed = new Map();
      for (const column of columns)
        if (Object.hasOwn(cells, column.name)) typed.set(column, String(cells[column.name] ?? ""));
      fill();
    }
    if (given !== undefined) prices = given && given.length ? given.map((row) => [...row]) : null;
    update();
  }

  begin(cases.length ? 0 : -1);
  const isGiven = (choice) => choice && Object.keys(choice).length > 0;
  if (isGiven(options.case) || isGiven(options.prices)) set({ case: options.case, prices: options.prices });
  return { set };
}
