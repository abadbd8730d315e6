// Reads rows of numbers, and writes scores, probabilities and the decision of each.
import { readFileSync, writeSync } from "node:fs";

import * as model from "./model.mjs";

const given = readFileSync(0);
const values = new Float64Array(given.buffer.slice(given.byteOffset, given.byteOffset + given.length));
const out = [];
for (let first = 0; first < values.length; first += model.N_FEATURES) {
  const x = values.subarray(first, first + model.N_FEATURES);
  out.push(...model.scores(x));
  if (model.value) out.push(model.value(x));
  else out.push(...model.probabilities(x), model.decide(x));
  if (model.decideEarly) {
    const { decision, terms } = model.decideEarly(x);
    out.push(decision, terms);
  }
}
const bytes = Buffer.from(Float64Array.from(out).buffer);
for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
