
/**
 * Probabilities of the classes.
 * @param {ArrayLike<number>} x encoded sample
 * @returns {number[]}
 */
export function probabilities(x) {
  return posteriorOf(scores(x));
}

/**
 * Code of the decision, or ABSTAINS, or NO_COSTS.
 * @param {ArrayLike<number>} x encoded sample
 * @param {number[][] | null} [costs] a row for each true class; those of the model by default
 * @returns {number}
 */
export function decide(x, costs = null) {
  const matrix = costs ? costs.flat() : ownCosts(x);
  if (!matrix) return NO_COSTS;
  const found = scores(x);
  return decided(found, posteriorOf(found), matrix, !costs);
}

function named(values) {
  return Object.fromEntries(values.map((value, k) => [String(MODEL.classes[k]), value]));
}

/**
 * Decide a record, as it stands in a table.
 * @param {Record<string, unknown>} record name of a column -> cell
 * @param {number[][] | null} [costs] a row for each true class; those of the model by default
 * @returns {{decision: string | number | boolean | null, probabilities: Record<string, number>,
 *   expectedCosts: Record<string, number>, scores: Record<string, number>}}
 */
export function predict(record, costs = null) {
  const x = encode(record);
  const found = scores(x);
  return decisionOf(found, posteriorOf(found), costs ? costs.flat() : ownCosts(x), !costs);
}

function decisionOf(found, P, matrix, isOwn) {
  if (!matrix) throw new RangeError("a column that holds costs is missing, or is not a cost");
  const code = decided(found, P, matrix, isOwn);
  return {
    decision: code === ABSTAINS ? MODEL.reject_label : MODEL.classes[code],
    probabilities: named(P),
    expectedCosts: named(risksOf(P, matrix)),
    scores: named(found),
  };
}
