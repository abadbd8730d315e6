
/** The decision at a check, and whether the sample leaves with it. */
function atCheck(found, x, i) {
  const { kind, low, high, temperatures } = MODEL.cascade;
  const leaves = (value) => value > high[i] || value < low[i];
  if (kind === "sides") {
    const difference = found[1] - found[0];
    return { decision: Number(difference > high[i]), leaves: leaves(difference) };
  }
  if (kind === "lead") {
    const decision = highest(found, () => true);
    const others = found.filter((_, k) => k !== decision);
    return { decision, leaves: leaves(found[decision] - Math.max(...others)) };
  }
  const costs = ownCosts(x);
  if (!costs) return { decision: NO_COSTS, leaves: false };
  const P = posteriorOf(found, temperatures[i]);
  const risks = risksOf(P, costs);
  if (MODEL.reject_cost !== null) risks.push(MODEL.reject_cost);
  risks.sort((a, b) => a - b);
  return { decision: decided(found, P, costs, true), leaves: leaves(risks[1] - risks[0]) };
}

/**
 * Decide by as few terms as the cascade of the model needs.
 * @param {ArrayLike<number>} x encoded sample
 * @returns {{decision: number, terms: number}} code as of `decide`, and number of terms
 */
export function decideEarly(x) {
  const { steps, terms } = MODEL.cascade;
  const found = new Array(K).fill(0);
  const prepared = [];
  for (let i = 0; i < steps.length; ++i) {
    addSteps(MODEL.sums[0], steps[i], x, prepared, found);
    const { decision, leaves } = atCheck(found, x, i);
    if (leaves) return { decision, terms: terms[i] };
  }
  return { decision: decide(x), terms: terms[steps.length] };
}
