
// ---- reading records

/**
 * A record as numbers: codes of categories, and NaN for missing values.
 * @param {Record<string, unknown>} record name of a column -> cell
 * @returns {Float64Array}
 */
export function encode(record) {
  return Float64Array.from(MODEL.features, (feature) => {
    const cell = Object.hasOwn(record, feature.column) ? record[feature.column] : null;
    return cell === null || cell === undefined ? NaN : READERS[feature.kind](feature, cell);
  });
}

const DAY = 86400e6; // microseconds
const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec";
const LETTER = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u200c\\u200d]";

const READERS = {
  number: readNumber,
  category: (feature, cell) => codeOf(feature, String(cell).trim()),
  date: (feature, cell) => microsOf(feature, cell) * (1 / DAY), // as polars divides
  time: (feature, cell) => 1000 * microsOf(feature, cell) * (1 / 3.6e12),
  month: (feature, cell) => new Date(Math.floor(microsOf(feature, cell) / 1000)).getUTCMonth() + 1,
  weekday(feature, cell) {
    const days = Math.floor(microsOf(feature, cell) / DAY);
    return days === days ? codeOf(feature, WEEKDAYS[(((days + 3) % 7) + 7) % 7]) : NaN;
  },
  word(feature, cell) {
    const text = String(cell).trim();
    const word = escaped(feature.part);
    const found = new RegExp(`(?<!${LETTER})${word}(?!${LETTER})`, "u");
    return MISSING.has(text) ? NaN : Number(found.test(text.toLowerCase()));
  },
  words(feature, cell) {
    const text = String(cell).trim();
    return MISSING.has(text) ? NaN : (text.match(new RegExp(`${LETTER}{2,}`, "gu")) ?? []).length;
  },
};

function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\\/-]/gu, (mark) => (mark === "-" ? "\\x2d" : `\\${mark}`));
}

/** Tables may write the code 3 as 3.0. */
function codeOf(feature, text) {
  if (MISSING.has(text)) return NaN;
  if (feature.levels_are === "number") text = text.replace(/^(-?\d+)\.0+$/, "$1");
  if (feature.levels_are === "boolean") text = text.toLowerCase();
  const code = feature.levels.indexOf(text);
  return code >= 0 ? code : NaN;
}

/** The pattern of numbers of a form: sign, digits in groups, decimals, and a power of ten. */
function patternOf({ thousands, decimals, has_power }) {
  const marks = thousands.length ? `(?:\\d{1,3}(?:[${thousands.map(escaped).join("")}]\\d{3})+)|` : "";
  const power = has_power ? "(?:[eE][-+]?\\d+)?" : "";
  return new RegExp(`^[-+]?(?:${marks}\\d${has_power ? "*" : "+"})(?:[${escaped(decimals)}]\\d*)?${power}$`);
}

const PLAIN = /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/;

function readNumber(feature, cell) {
  if (typeof cell === "number") return cell;
  const { thousands, decimals, has_limits, before, after } = feature.numbers;
  let text = String(cell).trim();
  if (feature.part) {
    const found = (feature.part === "first" ? /^([^/]+)\// : /\/([^/]+)$/).exec(text);
    text = found ? found[1].trim() : "";
  }
  if (has_limits) text = text.replace(/^[<>\u2264\u2265~\u2248]=?\s*/, "");
  if (before) text = text.replace(new RegExp(`^([-+]?)${escaped(before)}\\s*`), "$1");
  if (after) text = text.replace(new RegExp(`\\s*${escaped(after)}$`), "");
  if (!patternOf(feature.numbers).test(text)) return NaN;
  for (const mark of thousands) text = text.replaceAll(mark, "");
  if (decimals !== ".") text = text.replace(",", ".");
  return PLAIN.test(text) ? Number(text) : NaN;
}

const PIECES = {
  Y: "(?<Y>\\d{1,4})", m: "(?<m>\\d{1,2})", d: "(?<d>\\d{1,2})", H: "(?<H>\\d{1,2})",
  M: "(?<M>\\d{1,2})", S: "(?<S>\\d{1,2})", b: "(?<b>[A-Za-z]{3})", f: "(?:\\.(?<f>\\d+))?",
  z: "(?<z>[Zz]|[-+]\\d{2}:?(?:\\d{2})?)",
};

/** Microseconds since 1970, or since midnight; NaN if the cell has another form. */
function microsOf(feature, cell) {
  if (cell instanceof Date) return cell.getTime() * 1000;
  const pattern = [...feature.moment].map((letter) => PIECES[letter] ?? escaped(letter)).join("");
  const found = new RegExp(`^${pattern}$`).exec(String(cell).trim());
  if (!found) return NaN;
  const { Y = 1970, b, d = 1, H = 0, M = 0, S = 0, f = "", z = "" } = found.groups;
  const named = b ? MONTHS.indexOf(b.toLowerCase()) : 0;
  const month = b ? named / 3 + 1 : Number(found.groups.m ?? 1);
  const day = new Date(0);
  day.setUTCFullYear(Number(Y), month - 1, Number(d));
  const isDay = day.getUTCMonth() === month - 1 && day.getUTCDate() === Number(d);
  if (!isDay || named % 3 !== 0 || H > 23 || M > 59 || S > 59) return NaN;
  const zone = /^([-+])(\d{2}):?(\d{2})?$/.exec(z);
  const shift = zone ? Number(`${zone[1]}1`) * (60 * zone[2] + Number(zone[3] ?? 0)) : 0;
  const seconds = 3600 * H + 60 * (M - shift) + Number(S);
  return day.getTime() * 1000 + seconds * 1e6 + Number(f.slice(0, 6).padEnd(6, "0"));
}
