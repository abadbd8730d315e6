
/**
 * Predict for an encoded sample, with the reasons.
 * @param {ArrayLike<number>} x codes of categories, and NaN for missing values
 * @returns what `predict` returns, with `reasons` and `rows`, contributions of features and of training rows,
 *   the strongest first; `similar`, training rows that smooth functions compare with; and `baseline`
 */
export function explainSample(x) {
  return { prediction: value(x), ...reasonsOf(x, (values) => values[0]) };
}

/** The same for a record, as it stands in a table. */
export function explain(record) {
  return explainSample(encode(record));
}

/** None: numbers are predicted. */
export const CLASSES = null;
export const WEIGHS_COSTS = false;
