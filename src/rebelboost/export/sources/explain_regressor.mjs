
/**
 * Predict for a record, with the reasons.
 * @param {Record<string, unknown>} record name of a column -> cell
 * @returns what `predict` returns, with `reasons` and `rows`, contributions of features and of training rows,
 *   the strongest first; `similar`, training rows that smooth functions compare with; and `baseline`
 */
export function explain(record) {
  return { ...predict(record), ...reasonsOf(encode(record), (values) => values[0]) };
}
