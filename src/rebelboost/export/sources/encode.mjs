
// ---- reading records

/**
 * A record as numbers: codes of categories, and NaN for missing values.
 * @param {Record<string, unknown>} record name of a column -> cell
 * @returns {Float64Array}
 */
export function encode(record) {
  return Float64Array.from(MODEL.features, (feature) =>
    Object.hasOwn(record, feature.column) ? read(feature, record[feature.column]) : NaN,
  );
}

const PLAIN = /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/;

function read(feature, cell) {
  if (cell === null || cell === undefined) return NaN;
  if (feature.levels) {
    const text = String(cell).trim();
    const code = MISSING.has(text) ? -1 : feature.codes.get(keyOf(text));
    return code >= 0 ? code : NaN;
  }
  if (typeof cell === "number") return cell;
  const text = String(cell).trim();
  return PLAIN.test(text) ? Number(text) : NaN;
}

/** Tables may write the code 3 as 3.0. */
function keyOf(text) {
  return text.replace(/^(-?\d+)\.0+$/, "$1");
}

for (const feature of MODEL.features)
  if (feature.levels) feature.codes = new Map(feature.levels.map((level, i) => [keyOf(level), i]));
