
// ---- reasons: scores = baseline + features + training rows, added in the order of Python's `explain`

const D = MODEL.names.length;

/** Mean outputs of all splits of a tree, weighted by the training rows in each leaf. */
function valuesOf(table, own, t) {
  const unit = table.units.length ? table.units[t] : 1;
  const values = [];
  const visit = (split, n, at) => {
    if (n === 0) return [own.cover[at], NAMES.map((k) => unit * table.outputs[at * K + k])];
    const place = values.push(null) - 1;
    const skip = table.nodes[3 * split + 2];
    const [leftWeight, left] = visit(split + 1, skip, at);
    const [rightWeight, right] = visit(split + 1 + skip, n - 1 - skip, at + skip + 1);
    const total = leftWeight + rightWeight;
    const share = total > 0 ? leftWeight / total : 0.5;
    values[place] = NAMES.map((k) => share * left[k] + (1 - share) * right[k]);
    return [total, values[place]];
  };
  visit(table.firsts[t], table.sizes[t], table.firsts[t] + t);
  return values;
}

/** Trees of equal depth, so many at a time, in the order of their first occurrence. */
function* chunksOf(depths) {
  for (const depth of new Set(depths)) {
    const chosen = [...depths.keys()].filter((t) => depths[t] === depth);
    const step = Math.max(1, Math.floor(EXPLAINED.at_once / (2 ** (depth + 1) * Math.max(1, K))));
    for (let first = 0; first < chosen.length; first += step)
      yield [depth, chosen.slice(first, first + step)];
  }
}

function shareTrees(table, own, x, features) {
  own.values ??= table.sizes.map((_, t) => valuesOf(table, own, t));
  const { nodes, sets, units, outputs } = table;
  const codes = codesOf(table, x);
  for (const [depth, trees] of chunksOf(own.depths)) {
    const sums = Array.from({ length: depth }, () => new Float64Array(D * K));
    for (const t of trees) {
      const unit = units.length ? units[t] : 1;
      const root = table.firsts[t];
      let split = root;
      let at = root + t;
      let said = own.values[t][0];
      for (let left = table.sizes[t], step = 0; left > 0; ++step) {
        const layer = own.layers.length ? own.layers[split] : step;
        const column = table.features[nodes[3 * split]];
        const feature = column < D ? column : table.mean_features[column - D];
        const code = codes[nodes[3 * split]];
        const test = nodes[3 * split + 1];
        const skip = nodes[3 * split + 2];
        if (test < 256 ? code > test : (sets[32 * (test - 256) + (code >> 3)] >> (code & 7)) & 1) {
          at += skip + 1;
          split += skip + 1;
          left -= skip + 1;
        } else {
          split += 1;
          left = skip;
        }
        const here = at;
        const then = left > 0 ? own.values[t][split - root] : NAMES.map((k) => unit * outputs[here * K + k]);
        const was = said;
        NAMES.forEach((k) => (sums[layer][feature * K + k] += then[k] - was[k]));
        said = then;
      }
    }
    for (const sum of sums) sum.forEach((value, i) => (features[i] += value));
  }
}

function shareComparisons(table, own, x, pulls) {
  const distances = distancesOf(table.space, x);
  const sums = own.rows.map(() => new Float64Array(K));
  table.kinds.forEach((kind, t) => {
    const [anchor, rival] = [table.anchors[t], table.rivals[t]];
    const f = LEVELS[levelOf(respond(kind, distances[anchor], distances[rival], table.apart[t]))];
    const response = f + (kind >= 2 ? 1 : 0); // with one point, f goes to -1 far away
    const sum = sums[response > 0 ? anchor : rival];
    for (const k of NAMES) sum[k] += response * table.slopes[t * K + k];
  });
  own.rows.forEach((row, e) => {
    if (!pulls.has(row)) pulls.set(row, new Float64Array(K));
    sums[e].forEach((value, k) => (pulls.get(row)[k] += value));
  });
}

/** Derivatives along the line from the mean of the training rows, integrated. */
function shareSmooth(table, own, x, features, near) {
  const { space, tau } = table;
  const point = placed(space, x);
  const n = point.length;
  const distances = distancesOf(space, x);
  distances.forEach((d, e) =>
    near.push([own.rows[e], (tau - d) / Math.fround(Math.fround(tau) + d)]),
  );
  const added = new Float64Array(n * K);
  EXPLAINED.nodes.forEach((node, i) => {
    const slopes = new Float64Array(n * K);
    const apart = new Float64Array(n);
    for (let e = 0; e < distances.length; ++e) {
      let squared = 0;
      for (let j = 0; j < n; ++j) {
        apart[j] = node * point[j] - space.points[e * n + j];
        squared += apart[j] * apart[j];
      }
      const fading = (-4 * tau) / (tau + squared) ** 2;
      for (let j = 0; j < n; ++j)
        for (let k = 0; k < K; ++k) slopes[j * K + k] += fading * apart[j] * table.outputs[e * K + k];
    }
    for (let j = 0; j < n; ++j)
      for (let k = 0; k < K; ++k)
        added[j * K + k] += EXPLAINED.node_weights[i] * point[j] * slopes[j * K + k];
  });
  const atPoint = new Array(K).fill(0);
  const atMean = new Array(K).fill(0);
  addSmooth(table, distances, atPoint);
  addSmooth(table, distancesFrom(space, new Float32Array(n)), atMean);
  for (const k of NAMES) {
    let total = 0;
    let sizes = 0;
    for (let j = 0; j < n; ++j) {
      total += added[j * K + k];
      sizes += Math.abs(added[j * K + k]) + 2.2250738585072014e-308;
    }
    const missing = atPoint[k] - atMean[k] - total;
    for (let j = 0; j < n; ++j) {
      const size = Math.abs(added[j * K + k]) + 2.2250738585072014e-308;
      features[own.features[j] * K + k] += added[j * K + k] + (missing * size) / sizes;
    }
  }
}

/**
 * Parts of the scores of a sample. They add up to the scores.
 * @param {ArrayLike<number>} x encoded sample
 * @returns {{baseline: number[], features: number[][], rows: Map<number, number[]>, near: [number, number][]}}
 *   contributions by class: of every sample, of each feature, of training rows by their numbers; and
 *   training rows with their similarities, the most similar first
 */
export function contributions(x) {
  const features = new Float64Array(D * K);
  const pulls = new Map();
  const near = [];
  const { tables } = MODEL.sums[0];
  for (const i of EXPLAINED.order) {
    const own = EXPLAINED.tables[i];
    if (tables[i].kind === "trees") shareTrees(tables[i], own, x, features);
    else if (tables[i].kind === "comparisons") shareComparisons(tables[i], own, x, pulls);
    else if (tables[i].kind === "smooth") shareSmooth(tables[i], own, x, features, near);
  }
  near.sort((a, b) => b[1] - a[1]);
  return {
    baseline: EXPLAINED.baseline,
    features: MODEL.names.map((_, f) => Array.from(features.subarray(f * K, (f + 1) * K))),
    rows: new Map([...pulls].sort((a, b) => a[0] - b[0]).map(([row, sums]) => [row, [...sums]])),
    near,
  };
}

function dated(days) {
  const date = new Date(Math.round(days * 86400e3));
  if (Number.isNaN(date.getTime())) return String(days);
  const text = date.toISOString();
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ");
}

/** The value of a feature as text; empty if it is missing. */
export function shown(f, value) {
  if (value === null || value !== value) return "";
  const { kind, levels } = MODEL.features[f];
  if (levels.length) return levels[value] ?? "";
  if (kind === "date") return dated(value);
  if (kind === "time") {
    const minutes = Math.round(value * 60);
    return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
  }
  return String(Number(value.toPrecision(6)));
}

/** A training row that the model keeps: what it is called, its class, and its values as text, if kept. */
export function trainingRow(row) {
  const { label, code, cells } = EXPLAINED.rows[row] ?? { label: row, code: -1, cells: [] };
  return {
    row,
    label,
    class: code < 0 ? null : MODEL.classes[code],
    values: cells.length ? cells.map((value, f) => shown(f, value)) : null,
  };
}

function strongest(parts, toward) {
  const found = parts.filter((part) => part.contributions.some((value) => value !== 0));
  for (const part of found) part.size = toward(part.contributions);
  return found.sort((a, b) => Math.abs(b.size) - Math.abs(a.size));
}

/** Reasons, the strongest first; `toward` is what contributions add to the lead of the decision. */
function reasonsOf(x, toward) {
  const { baseline, features, rows, near } = contributions(x);
  const listed = features.map((own, f) => ({
    feature: MODEL.names[f],
    value: shown(f, x[f]),
    contributions: own,
  }));
  const similar = [...new Set(near.map(([row]) => row))];
  return {
    baseline: { contributions: baseline, size: toward(baseline) },
    reasons: strongest(listed, toward),
    rows: strongest(
      [...rows].map(([row, own]) => ({ ...trainingRow(row), contributions: own })),
      toward,
    ),
    similar: similar.map(trainingRow),
  };
}

// ---- forms

function padded(number, n = 2) {
  return String(number).padStart(n, "0");
}

function writtenMoment(moment, micros) {
  const date = new Date(Math.floor(micros / 1000));
  const fraction = padded(((micros % 1e6) + 1e6) % 1e6, 6).replace(/0+$/, "");
  const month = MONTHS.slice(3 * date.getUTCMonth(), 3 * date.getUTCMonth() + 3);
  const pieces = {
    Y: padded(date.getUTCFullYear(), 4), m: padded(date.getUTCMonth() + 1), d: padded(date.getUTCDate()),
    H: padded(date.getUTCHours()), M: padded(date.getUTCMinutes()), S: padded(date.getUTCSeconds()),
    b: month[0].toUpperCase() + month.slice(1), f: fraction ? `.${fraction}` : "", z: "Z",
  };
  return [...moment].map((letter) => pieces[letter] ?? letter).join("");
}

function writtenNumber({ decimals }, value) {
  return String(value).replace(".", decimals[0] === "," ? "," : ".");
}

/** A cell that is read as these features of a column; null if it cannot be told, as of texts. */
function written(features, values) {
  const [first] = features;
  if (values.some((value) => value === null || value !== value)) return "";
  if (first.levels.length && first.kind === "category") return first.levels[values[0]] ?? "";
  if (first.kind === "date") return writtenMoment(first.moment, Math.round(values[0] * DAY));
  if (first.kind === "time") return writtenMoment(first.moment, Math.round(values[0] * 3.6e9));
  if (first.kind !== "number") return null;
  return values.map((value) => writtenNumber(first.numbers, value)).join("/");
}

/**
 * Columns of the table, for a form: name, kind ("number", "category", "date", "time" or "text"), levels of a
 * category, features, and a cell as an example of the form.
 */
export function columns() {
  const found = new Map();
  MODEL.features.forEach((feature, f) => {
    const own = found.get(feature.column) ?? { name: feature.column, features: [] };
    own.features.push(f);
    found.set(feature.column, own);
  });
  return [...found.values()].map((column) => {
    const first = MODEL.features[column.features[0]];
    const kind = { word: "text", words: "text", month: "date", weekday: "date" }[first.kind] ?? first.kind;
    const example = { date: 19082, time: 13.5 }[first.kind];
    return { ...column, kind, levels: first.levels, hint: example ? written([first], [example]) : "" };
  });
}

/** The cell of a column of an encoded sample; null if it cannot be told. */
export function cellOf(column, x) {
  const own = column.features.filter((f) => !["month", "weekday"].includes(MODEL.features[f].kind));
  return written(own.map((f) => MODEL.features[f]), own.map((f) => x[f]));
}

/** Names of the features. */
export function featureNames() {
  return MODEL.names;
}
