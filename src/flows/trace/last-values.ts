/**
 * What each block of a blueprint got and gave the last time: for each, the newest stored run that passed it. The one place
 * that chooses the run.
 */
import { getRecord } from '../../records/records.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { numberIn, objectsIn, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { candidateBlocks } from '../blueprints/staged-content.ts'
import { newestRecords } from './find-runs.ts'
import { detailOf, isUnderWay, summaryOf } from './run-record.ts'
import type { Tracing } from './tracing.ts'

/** Runs that are looked at, a few at a time: a record has up to 600 KB. */
const MOST_RUNS = 50
const AT_ONCE = 2
/** JSON of all values; further ones are cut to so many characters. */
const MOST_CHARACTERS = 256 * 1024
const CUT = 200

/** Ends early where every present block was passed. */
export async function lastValues(tracing: Tracing, blueprint: string) {
  const { records } = tracing.flows
  await getRecord(records.database.session(), systemStorages.blueprints, blueprint, 'blueprint')
  const present = await candidateBlocks(records, blueprint, 'staged')
  const missing = new Set(present.map(({ guid }) => guid))
  const runs: JsonObject[] = []
  const steps: JsonObject[] = []
  const shorten = shortener()
  for (let offset = 0; offset < MOST_RUNS && missing.size > 0; offset += AT_ONCE) {
    const found = await newestRecords(tracing, blueprint, { limit: AT_ONCE, offset })
    for (const record of found.filter((one) => !isUnderWay(one))) {
      const last = lastSteps(record, missing)
      if (last.length === 0) continue
      runs.push(summaryOf(record))
      for (const step of last) {
        missing.delete(textIn(step.block))
        steps.push({ ...step, in: shorten(step.in), out: shorten(step.out) })
      }
    }
    if (found.length < AT_ONCE) break
    // Others are served between two parts.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { runs, steps }
}

/** Of the wanted blocks, in the order of the run. */
function lastSteps(record: JsonObject, requested: ReadonlySet<string>): JsonObject[] {
  const { steps, marks } = detailOf(record)
  const known = isJsonObject(marks) ? marks : {}
  const last = new Map<string, JsonObject>()
  for (const [at, step] of objectsIn(steps).entries()) {
    const block = textIn(step.block)
    if (!requested.has(block)) continue
    const { in: input, out, error } = step
    const values = { in: input ?? {}, out: out ?? {}, error: error ?? null }
    last.set(block, { block, run: summaryOf(record).guid ?? '', mark: textIn(known[block]), at, ...values })
  }
  return [...last.values()]
}

/** Leaves values as they are until they are too many. */
function shortener(): (values: JsonValue | undefined) => JsonObject {
  let characters = 0
  return (values) => {
    if (!isJsonObject(values)) return {}
    return Object.fromEntries(
      Object.entries(values).map(([pin, value]) => {
        const text = JSON.stringify(value)
        characters += text.length
        if (characters <= MOST_CHARACTERS || text.length <= CUT) return [pin, value]
        return [pin, cut(value, text)]
      }),
    )
  }
}

/** What was cut already keeps its length. */
function cut(value: JsonValue, text: string): JsonValue {
  if (isJsonObject(value) && typeof value.$cut === 'string')
    return { $cut: value.$cut.slice(0, CUT), bytes: numberIn(value.bytes) }
  return { $cut: text.slice(0, CUT), bytes: text.length }
}
