
/**
 * For each price, the closed interval over which the decision stays as it is, with all others kept.
 * @returns {{low: number[][], high: number[][], abstaining: [number, number]} | null} `low[a][b]` is of
 *   deciding b where a is true; null if decisions do not depend on prices
 */
function priceRanges(P, costs, code) {
  if (!MODEL.by_cost || K < 2) return null;
  const limit = MODEL.reject_cost ?? Infinity;
  const risks = risksOf(P, costs);
  const abstains = code === ABSTAINS;
  const chosen = abstains ? -1 : code;
  const rest = Math.min(...risks.filter((_, k) => k !== chosen));
  const ceiling = Math.min(rest, limit);
  const floor = abstains ? limit : risks[code];
  const low = NAMES.map(() => new Array(K).fill(0));
  const high = NAMES.map(() => new Array(K).fill(Infinity));
  for (const a of NAMES)
    for (const b of NAMES) {
      if (a === b) low[a][b] = high[a][b] = NaN;
      else if (P[a] > 0) {
        const price = costs[a * K + b];
        const without = risks[b] - P[a] * price;
        // The present price is always within, whatever rounding says.
        if (b === chosen) high[a][b] = Math.max((ceiling - without) / P[a], price);
        else low[a][b] = Math.min(Math.max((floor - without) / P[a], 0), price);
      }
    }
  const least = Math.min(...risks);
  return { low, high, abstaining: abstains ? [0, least] : [least, Infinity] };
}

/**
 * Decide an encoded sample, with the reasons.
 * @param {ArrayLike<number>} x codes of categories, and NaN for missing values
 * @param {number[][] | null} [costs] a row for each true class; those of the model by default
 * @returns what `predict` returns, with `rival`, the class with the next highest score; `reasons` and `rows`,
 *   contributions of features and of training rows, the strongest first; `similar`, training rows that
 *   smooth functions compare with, the most similar first; `baseline`; and `prices`
 */
export function explainSample(x, costs = null) {
  const found = scores(x);
  const P = posteriorOf(found);
  const matrix = costs ? costs.flat() : ownCosts(x);
  const told = decisionOf(found, P, matrix, !costs);
  const risks = risksOf(P, matrix);
  const leading = preferred(found, risks, matrix, !costs);
  const rival = highest(found, (k) => k !== leading);
  const toward = (values) => values[leading] - (rival < 0 ? 0 : values[rival]);
  return {
    ...told,
    rival: rival < 0 ? null : MODEL.classes[rival],
    leading: MODEL.classes[leading],
    lead: toward(found),
    ...reasonsOf(x, toward),
    costs: NAMES.map((a) => matrix.slice(a * K, (a + 1) * K)),
    prices: priceRanges(P, matrix, decided(found, P, matrix, !costs)),
  };
}

/** The same for a record, as it stands in a table. */
export function explain(record, costs = null) {
  return explainSample(encode(record), costs);
}

/** Labels of the classes, in the order of all lists. */
export const CLASSES = MODEL.classes;
/** Whether decisions depend on costs. */
export const WEIGHS_COSTS = MODEL.by_cost && K > 1;
