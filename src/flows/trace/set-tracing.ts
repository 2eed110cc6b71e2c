/** Turning tracing of a blueprint on and off, as an endpoint asks for it. */
import { type Actor, getRecord } from '../../records/records.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { numberIn, objectsIn, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { candidateBlocks } from '../blueprints/staged-content.ts'
import type { Flows } from '../flows.ts'
import { newestRecords } from './find-runs.ts'
import { detailOf, isUnderWay, summaryOf } from './run-record.ts'
import { flowBlocks } from './traced-flows.ts'
import { KEEP_LAST, type Tracing } from './tracing.ts'

export interface TracingAsked {
  readonly on: boolean
  readonly minutes?: number | undefined
  readonly keep_last?: number | undefined
  /** Those that there are, if not given. */
  readonly breakpoints?: readonly string[] | undefined
  /** As it is, if not given; 0 also deletes what was recorded. */
  readonly record_one_in?: number | undefined
}

/** How long it is on, if not said. */
const MINUTES = 15

export async function readTracing({ flows, blueprints }: Tracing, guid: string) {
  await blueprintOf(flows, guid)
  const { on, until, keepLast, breakpoints, recordOneIn } = await blueprints.read(guid)
  const isOn = on && until > flows.environment.clock()
  return {
    on: isOn,
    until: isOn ? new Date(until).toISOString() : null,
    keep_last: keepLast,
    breakpoints: [...breakpoints],
    record_one_in: recordOneIn,
  }
}

/** VALIDATION_FAILED for a breakpoint where none can be. */
export async function setTracing(tracing: Tracing, guid: string, asked: TracingAsked, by: Actor) {
  const { flows, blueprints } = tracing
  const blueprint = await blueprintOf(flows, guid)
  if (asked.breakpoints) await checkBreakpoints(flows, guid, asked.breakpoints)
  const { minutes = MINUTES, keep_last: keepLast = KEEP_LAST } = asked
  const rules = {
    ...{ on: asked.on, keepLast, until: asked.on ? flows.environment.clock() + minutes * 60_000 : 0 },
    ...(asked.breakpoints && { breakpoints: [...new Set(asked.breakpoints)] }),
    ...(asked.record_one_in !== undefined && { recordOneIn: asked.record_one_in }),
  }
  await blueprints.set(guid, textIn(blueprint.name), rules, by)
  if (asked.record_one_in === 0) await tracing.requests.remove(guid)
  return readTracing(tracing, guid)
}

function blueprintOf({ records }: Flows, guid: string): Promise<JsonObject> {
  return getRecord(records.database.session(), systemStorages.blueprints, guid, 'blueprint')
}

async function checkBreakpoints(
  { records, catalogue, live }: Flows,
  guid: string,
  breakpoints: readonly string[],
): Promise<void> {
  const deployed = live.table().blueprints.get(guid)?.compiled.blocks ?? []
  const blocks = [...deployed, ...(await candidateBlocks(records, guid, 'staged'))]
  const possible = flowBlocks(blocks, catalogue)
  const problems = breakpoints
    .filter((block) => !possible.has(block))
    .map((block) => ({ block, message: 'Only a flow block of this blueprint can have a breakpoint.' }))
  if (problems.length === 0) return
  throw new QuoinError('VALIDATION_FAILED', 'Runs cannot pause there.', { problems })
}

// What each block of a blueprint got and gave the last time: for each, the newest stored run that passed it. The one place
// that chooses the run.

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
