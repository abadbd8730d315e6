// ---- the terms

/** The nearest integer, the even one of two. */
function nearest(x) {
  const big = 4503599627370496; // 2^52: larger numbers are integers
  if (x >= 0) return x < big ? x + big - big : x;
  return x > -big ? x - big + big : x;
}

/** The place of a pair of categories among those that have numbers of their own; or the place after them. */
function placeOfPair(table, pair, a, b) {
  const first = table.pair_starts[pair];
  const end = table.pair_starts[pair + 1];
  if (!(a >= 0 && a < 65536 && b >= 0 && b < 65536)) return end - first;
  const key = Math.trunc(a) * 65536 + Math.trunc(b);
  let low = first;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (table.pair_keys[middle] < key) low = middle + 1;
    else high = middle;
  }
  return (low < end && table.pair_keys[low] === key ? low : end) - first;
}

/** The number that a category, or a pair of categories, stands for. */
function meanOf(table, i, x) {
  const code = x[table.mean_features[i]];
  const first = table.mean_starts[i];
  const pair = table.mean_pairs.length > 0 ? table.mean_pairs[i] : -1;
  if (pair >= 0) {
    return table.mean_values[first + placeOfPair(table, pair, code, x[table.pair_features[pair]])];
  }
  const n = table.mean_starts[i + 1] - first - 2;
  if (code !== code) return table.mean_values[first + n + 1];
  return table.mean_values[first + (code >= 0 && code < n ? Math.trunc(code) : n)];
}

function codesOf(table, x) {
  const codes = new Uint8Array(Math.max(1, table.features.length));
  const nNumbers = table.starts.length - 1;
  for (let c = 0; c < table.features.length; ++c) {
    const f = table.features[c];
    const value = f < MODEL.names.length ? x[f] : meanOf(table, f - MODEL.names.length, x);
    if (c >= nNumbers) {
      codes[c] = value >= 0 && value < 255 ? Math.trunc(value) : table.missing[c];
    } else if (value !== value) {
      codes[c] = table.missing[c];
    } else {
      let low = table.starts[c];
      let high = table.starts[c + 1];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (value > table.thresholds[middle]) low = middle + 1;
        else high = middle;
      }
      codes[c] = low - table.starts[c];
    }
  }
  return codes;
}

/** A split is followed by those to its left, then those to its right. */
function addTrees(table, codes, first, last, scores) {
  const { sizes, nodes, sets, units, outputs } = table;
  const n = scores.length;
  for (let t = first; t < last; ++t) {
    let split = 3 * table.firsts[t];
    let at = table.firsts[t] + t;
    for (let left = sizes[t]; left > 0; ) {
      const code = codes[nodes[split]];
      const test = nodes[split + 1];
      const skip = nodes[split + 2];
      if (test < 256 ? code > test : (sets[32 * (test - 256) + (code >> 3)] >> (code & 7)) & 1) {
        at += skip + 1;
        split += 3 * (skip + 1);
        left -= skip + 1;
      } else {
        split += 3;
        left = skip;
      }
    }
    const unit = units.length ? units[t] : 1;
    for (let k = 0; k < n; ++k) scores[k] += unit * outputs[at * n + k];
  }
}

function clipped(x, most) {
  return x < -most ? -most : x > most ? most : x;
}

/** The sample as a point of a space. */
function placed(space, x) {
  const columns = [];
  for (const f of space.numeric) columns.push(x[f] !== x[f] ? space.fill[f] : x[f]);
  for (const f of space.indicated) columns.push(x[f] !== x[f] ? 1 : 0);
  space.leveled.forEach((f, i) => {
    for (let level = 0; level < space.counts[i]; ++level) columns.push(x[f] === level ? 1 : 0);
  });
  const n = columns.length;
  for (let i = 0; i < n; ++i)
    columns[i] = clipped((columns[i] - space.offset[i]) * space.factor[i], 1e100);
  const point = new Float32Array(n);
  for (let i = 0; i < n; ++i) {
    let value = columns[i];
    if (space.turn.length) {
      value = 0;
      for (let j = 0; j < n; ++j) value += nearest(columns[j] * 16384) * space.turn[j * n + i];
      value *= space.turn_unit;
    }
    point[i] = clipped(nearest(value * 1073741824) / 1073741824, 1e15);
  }
  return point;
}

/** Squared distances to the training rows of a space, in single precision. */
function distancesOf(space, x) {
  return distancesFrom(space, placed(space, x));
}

function distancesFrom(space, point) {
  const n = point.length;
  const distances = new Float32Array(n ? space.points.length / n : 0);
  for (let e = 0; e < distances.length; ++e) {
    let sum = 0;
    for (let i = 0; i < n; ++i) {
      const apart = Math.fround(point[i] - space.points[e * n + i]);
      sum = Math.fround(sum + Math.fround(apart * apart));
    }
    distances[e] = sum;
  }
  return distances;
}

function respond(kind, near, far, apart) {
  if (kind === 0) {
    const quarter = apart * 0.25;
    const middle = Math.max((near + far) * 0.5 - quarter, 0);
    return (PEAK * quarter * ((far - near) * 0.25)) / (4 * quarter * quarter + middle * middle);
  }
  if (kind === 1) return far > near ? 1 : -1;
  if (kind === 2) return (apart - near) / (apart + near);
  return near < apart ? 1 : -1;
}

const single = new Float32Array(1);
const singleBits = new Int32Array(single.buffer);

/** The level below |f|, from the bits of a float: its exponent and 4 bits of its mantissa. */
function levelOf(f) {
  single[0] = Math.abs(f);
  const level = Math.min(Math.max((singleBits[0] >> 19) - 119 * 16 + 1, 0), 129);
  return f < 0 ? 129 - level : 129 + level;
}

function addComparisons(table, distances, first, last, scores) {
  const n = scores.length;
  for (let t = first; t < last; ++t) {
    const near = distances[table.anchors[t]];
    const far = distances[table.rivals[t]];
    const f = LEVELS[levelOf(respond(table.kinds[t], near, far, table.apart[t]))];
    for (let k = 0; k < n; ++k) scores[k] += f * table.slopes[t * n + k] + table.offsets[t * n + k];
  }
}

function addSmooth(table, distances, scores) {
  const { tau, outputs, offset, unit } = table;
  const n = scores.length;
  for (let k = 0; k < n; ++k) {
    let sum = unit > 0 ? 0 : scores[k];
    for (let e = 0; e < distances.length; ++e)
      sum += ((tau - distances[e]) / (tau + distances[e])) * outputs[e * n + k];
    sum += offset[k];
    scores[k] = unit > 0 ? scores[k] + nearest(sum / unit) * unit : sum;
  }
}

function addConstants(table, first, last, scores) {
  const n = scores.length;
  for (let t = first; t < last; ++t)
    for (let k = 0; k < n; ++k) scores[k] += table.outputs[t * n + k];
}

/** Add steps of a sum; `prepared` keeps codes and distances of the sample by table. */
function addSteps(sum, steps, x, prepared, scores) {
  for (const [t, first, last] of steps) {
    const table = sum.tables[t];
    if (table.kind === "trees") prepared[t] ??= codesOf(table, x);
    else if (table.space) prepared[t] ??= distancesOf(table.space, x);
    if (table.kind === "trees") addTrees(table, prepared[t], first, last, scores);
    else if (table.kind === "comparisons") addComparisons(table, prepared[t], first, last, scores);
    else if (table.kind === "smooth") addSmooth(table, prepared[t], scores);
    else addConstants(table, first, last, scores);
  }
}

function total(sum, x) {
  const scores = new Array(sum.n_outputs).fill(0);
  addSteps(sum, sum.steps, x, [], scores);
  return scores;
}

for (const { tables } of MODEL.sums)
  for (const table of tables) {
    if (table.kind === "trees") {
      let first = 0;
      table.firsts = table.sizes.map((size) => (first += size) - size);
      table.nodes = Uint16Array.from(table.nodes);
      table.sets = Uint8Array.from(table.sets);
      table.outputs = Float64Array.from(table.outputs);
      table.thresholds = Float64Array.from(table.thresholds);
    }
    if (table.space) table.space.points = Float32Array.from(table.space.points);
  }

// ---- exp and log from + - * / and bits: engines round Math.exp and Math.log differently

const bytes = new DataView(new ArrayBuffer(8));
const ROUND_MAGIC = 6755399441055744; // 1.5 * 2^52
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

function powerOfTwo(exponent) {
  bytes.setUint32(0, (exponent + 1023) << 20);
  bytes.setUint32(4, 0);
  return bytes.getFloat64(0);
}

function exponential(x) {
  const inside = x < -800 ? -800 : x > 800 ? 800 : x;
  const n = inside * 1.4426950408889634 + ROUND_MAGIC - ROUND_MAGIC;
  const r = inside - n * LN2_HIGH - n * LN2_LOW;
  let series = INVERSE_FACTORIALS[11];
  for (let i = 11; i-- > 0; ) series = series * r + INVERSE_FACTORIALS[i];
  const y = 1 + (r + r * r * series);
  const half = n * 0.5 + ROUND_MAGIC - ROUND_MAGIC;
  return y * powerOfTwo(half) * powerOfTwo(n - half);
}

function logarithm(x) {
  if (!(x > 0)) return x === 0 ? -Infinity : NaN;
  if (x === Infinity) return x;
  const isSmall = x < 2 ** -1000;
  bytes.setFloat64(0, isSmall ? x * 2 ** 100 : x);
  const bits = bytes.getBigUint64(0) + (0x3ff0000000000000n - 0x3fe6a09e667f3bcdn);
  const n = Number(bits >> 52n) - 1023 - (isSmall ? 100 : 0);
  bytes.setBigUint64(0, (bits & 0x000fffffffffffffn) + 0x3fe6a09e667f3bcdn);
  const f = bytes.getFloat64(0) - 1;
  const s = f / (2 + f);
  const z = s * s;
  let series = 2 / 23;
  for (let k = 10; k > 0; --k) series = series * z + 2 / (2 * k + 1);
  return n * LN2_HIGH + (f - (s * (f - z * series) - n * LN2_LOW));
}

// ---- probabilities

const K = MODEL.sums[0].n_outputs;
const NAMES = [...Array(K).keys()];

function ordered(values) {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

function logistic(x) {
  return 1 / (1 + exponential(-x));
}

function logLambda(x) {
  if (K === 2) return (x[0] + x[1]) / 2;
  const [top, second] = [...x].sort((a, b) => b - a);
  let low = Math.max(top + MODEL.log_least, (top + second) / 2);
  let high = top + MODEL.log_others;
  let at = low;
  for (let s = 0; s < 100; ++s) {
    const P = x.map((value) => logistic(value - at));
    const excess = ordered(P) - 1;
    const slope = ordered(P.map((p) => p * (1 - p)));
    const now = at;
    if (excess > 0) low = now;
    else high = now;
    at = now + excess / Math.max(slope, 1e-300);
    if (!(at > low && at < high)) at = (low + high) / 2;
    if (Math.abs(at - now) < 1e-14 * Math.max(1, Math.abs(at))) break;
  }
  return at;
}

function uniformPosterior(x) {
  if (K === 1) return [1];
  const at = logLambda(x);
  const P = x.map((value) => logistic(value - at));
  const sum = ordered(P);
  return P.map((p) => p / sum);
}

/** q as the mixture D'u with the likeliest u. */
function likeliest(q, { D, Z }) {
  const M = Z.length;
  const u = new Array(M).fill(1 / M);
  const parts = new Float64Array(M);
  const ratio = new Float64Array(K);
  for (let s = 0; s < 500; ++s) {
    for (let k = 0; k < K; ++k) {
      let mixed = 0;
      for (let m = 0; m < M; ++m) mixed += u[m] * D[m * K + k];
      ratio[k] = q[k] / Math.max(mixed, 2.2250738585072014e-308);
    }
    let sum = 0;
    for (let m = 0; m < M; ++m) {
      let part = 0;
      for (let k = 0; k < K; ++k) part += ratio[k] * D[m * K + k];
      parts[m] = u[m] * part;
      sum += parts[m];
    }
    let moved = 0;
    for (let m = 0; m < M; ++m) {
      const following = (parts[m] + 1e-3 / M) / (sum + 1e-3);
      moved = Math.max(moved, Math.abs(following - u[m]));
      u[m] = following;
    }
    if (!(moved > 1e-12)) break;
  }
  return u;
}

function mixturePosterior(x, arrays) {
  const { D, Z, matters, inverse } = arrays;
  const M = Z.length;
  const q = uniformPosterior(x);
  let u = Z.map((_, m) => ordered(NAMES.map((k) => q[k] * inverse[k * M + m])));
  const mixed = NAMES.map((k) => ordered(u.map((share, m) => share * D[m * K + k])));
  if (u.some((share) => share < 0) || mixed.some((value, k) => Math.abs(value - q[k]) > 1e-9))
    u = likeliest(q, arrays);
  const P = new Array(K).fill(0);
  matters.forEach((k, m) => (P[k] = u[m] / Z[m]));
  const sum = ordered(P);
  return P.map((p) => p / sum);
}

/** The last steps of `iterate`, where classes form groups with almost no costs between them. */
function finish(half, Q, B) {
  const A = NAMES.map((k) => NAMES.map((y) => half[k] * B[y * K + k] * half[y]));
  for (let s = 0; s < 30; ++s) {
    const ratios = A.map((row, k) => ordered(row.map((a, y) => a * Q[y])) / Q[k]);
    if (!ratios.every((ratio) => ratio < Infinity)) return Q;
    const most = Math.max(...ratios);
    if (most - Math.min(...ratios) <= 1e-13 * most) return Q;
    const above = most * (1 + 1e-14);
    const left = A.map((row, k) => row.map((a, y) => above * (k === y ? 1 : 0) - a));
    const found = [...Q];
    for (let k = 0; k < K; ++k)
      for (let i = k + 1; i < K; ++i) {
        const share = left[i][k] / left[k][k];
        for (let y = k + 1; y < K; ++y) left[i][y] -= share * left[k][y];
        found[i] -= share * found[k];
      }
    for (let k = K; k-- > 0; ) {
      found[k] /= left[k][k];
      for (let i = 0; i < k; ++i) found[i] -= left[i][k] * found[k];
    }
    const size = ordered(found.map((value, k) => half[k] * value));
    if (!(found.every((value) => value > 0 && value < Infinity) && size > 0)) return Q;
    Q = found.map((value) => value / size);
  }
  return Q;
}

function iterate(logD, B) {
  const top = Math.max(...logD);
  const half = logD.map((value) => exponential((value - top) / 2));
  const first = ordered(half);
  let Q = half.map(() => 1 / first);
  let converged = false;
  for (let s = 0; s < 60 && !converged; ++s) {
    const AQ = half.map((own, k) => own * ordered(Q.map((q, y) => half[y] * q * B[y * K + k])));
    const size = ordered(AQ.map((value, k) => half[k] * value));
    const next = Q.map((q, k) => 0.5 * q + (size > 0 ? AQ[k] / size : 0));
    const sum = ordered(next.map((value, k) => half[k] * value));
    const following = next.map((value) => value / sum);
    converged = !following.some((value, k) => Math.abs(half[k] * (value - Q[k])) >= 1e-12);
    Q = following;
  }
  if (!converged && Q.every((q) => q > 0)) Q = finish(half, Q, B);
  return Q.map((q, k) => half[k] * q);
}

function logSum(x) {
  const most = Math.max(...x);
  const top = Number.isFinite(most) ? most : 0;
  return top + logarithm(ordered(x.map((value) => exponential(value - top))));
}

function lessSum(x) {
  const sum = logSum(x);
  return x.map((value) => value - sum);
}

function iterateLogs(logD, logB) {
  let logP = lessSum(logD.map((value) => value / 2));
  let P = logP;
  for (let s = 0; s < 500; ++s) {
    const logAP = lessSum(logD.map((d, k) => d + logSum(logP.map((p, y) => p + logB[y * K + k]))));
    const following = lessSum(logAP.map((value, k) => logSum([value, logP[k] + MODEL.log_half])));
    P = following.map(exponential);
    const moved = P.some((p, k) => Math.abs(p - exponential(logP[k])) >= 1e-12);
    logP = following;
    if (!moved) break;
  }
  return P;
}

function perronPosterior(x, { log_theta, B, logs }) {
  const logD = x.map((value, k) => value - log_theta[k]);
  const isWide = Math.max(...logD) - Math.min(...logD) > 600;
  const P = isWide ? iterateLogs(logD, logs) : iterate(logD, B);
  return P.map((p) => Math.min(p, 1));
}

function logRatio(score) {
  if (MODEL.decoder.loss === "exponential") return 2 * score;
  if (MODEL.decoder.loss === "logistic") return score;
  const most = 1 - 1e-6;
  const inside = clipped(score, most);
  return logarithm(1 + inside) - logarithm(1 - inside);
}

function posteriorOf(scores, temperature = MODEL.decoder.temperature) {
  const x = scores.map((score) => logRatio(temperature * score));
  const { perron, mixture, shift } = MODEL.decoder;
  let P;
  if (perron) P = perronPosterior(x, perron);
  else P = mixture ? mixturePosterior(x, mixture) : uniformPosterior(x);
  if (!shift) return P;
  const shifted = P.map((p, k) => p * shift[k]);
  const sum = ordered(shifted);
  return shifted.map((p) => p / sum);
}

// ---- decisions

/** Costs of the sample itself, row by row; null if a column that holds costs has none. */
function ownCosts(x) {
  const own = [...MODEL.costs];
  for (const [trueClass, decided, feature, sum, baseline] of MODEL.sources) {
    let amount;
    if (feature >= 0) {
      amount = x[feature];
      const fits = amount >= MODEL.least_cost && amount <= MODEL.largest_cost;
      if (!(amount === 0 || fits)) return null;
    } else {
      amount = Math.max(baseline + total(MODEL.sums[sum], x)[0], 0);
    }
    if (decided < 0) for (const k of NAMES) own[trueClass * K + k] *= amount;
    else own[trueClass * K + decided] = amount;
  }
  return own;
}

function risksOf(P, costs) {
  return NAMES.map((k) => ordered(P.map((p, y) => p * costs[y * K + k])));
}

function areUniform(costs) {
  return costs.every((cost, i) => Math.floor(i / K) === i % K || cost === costs[1]);
}

/** The first class with the highest score among those that are allowed. */
function highest(scores, allowed) {
  let best = -1;
  for (const k of NAMES)
    if (allowed(k) && (best < 0 || scores[k] > scores[best])) best = k;
  return best;
}

/** Code of the decision, if the model may not abstain. */
function preferred(scores, risks, costs, isOwn) {
  const { perron, mixture, shift } = MODEL.decoder;
  const isUniform = !perron && !mixture && !shift && areUniform(costs);
  if (!MODEL.by_cost || (isUniform && !(isOwn && MODEL.sources.length)))
    return highest(scores, () => true);
  const least = Math.min(...risks);
  return highest(scores, (k) => risks[k] <= least + 1e-12 * Math.abs(least));
}

function decided(scores, P, costs, isOwn) {
  const risks = risksOf(P, costs);
  if (MODEL.reject_cost !== null && Math.min(...risks) > MODEL.reject_cost) return ABSTAINS;
  return preferred(scores, risks, costs, isOwn);
}

/** Code of a decision to abstain, and of none because the costs of the sample are missing. */
export const ABSTAINS = -1;
export const NO_COSTS = -2;

/**
 * Scores of a sample.
 * @param {ArrayLike<number>} x encoded sample: codes of categories, and NaN for missing values
 * @returns {number[]}
 */
export function scores(x) {
  return total(MODEL.sums[0], x);
}
