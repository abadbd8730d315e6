
/**
 * Prediction for a sample.
 * @param {ArrayLike<number>} x encoded sample
 * @returns {number}
 */
export function value(x) {
  return MODEL.baseline + scores(x)[0];
}

/**
 * Predict for a record, as it stands in a table.
 * @param {Record<string, unknown>} record name of a column -> cell
 * @returns {{prediction: number}}
 */
export function predict(record) {
  return { prediction: value(encode(record)) };
}
