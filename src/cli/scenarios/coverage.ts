/**
 * Which blocks and ways of an application its tests have taken. Each run is recorded as tracing records it. A way is a flow out-pin that is
 * wired; a block behind which nothing follows is one way by itself. Blocks that give values only are not counted.
 */

import { drawnBlock } from '../../flows/compile/expand-resources.ts'
import type { Quoin } from '../../quoin/quoin.ts'
import type { CoveredBlueprint, TracedRun } from '../../shared/api/blueprints/applications.ts'
import type { Block } from '../../shared/blueprint.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'
import { recordsOf } from '../management.ts'

/** Runs of a blueprint that one test records. */
const MOST_RUNS = 200
/** Ways that are told as never taken. */
const MAX_REPORTED = 50

type Manage = (method: string, path: string, body?: JsonObject) => Promise<unknown>

/** Over all tests of an application. */
export interface CoverageSoFar {
  /** By `guid.way`: the way of a block that ends is empty. */
  readonly taken: Set<string>
  found: Coverage
}

/** Has the runs of all blueprints recorded from now on; a clock that has moved by a day has ended it. */
export async function recordRuns(quoin: Quoin, manage: Manage): Promise<void> {
  for (const blueprint of quoin.flows.live.table().blueprints.keys())
    await manage('PUT', `/blueprints/${blueprint}/tracing`, { on: true, minutes: 1440, keep_last: MOST_RUNS })
}

/** Adds what the recorded runs have taken. */
export async function addTakenWays({ taken }: CoverageSoFar, manage: Manage): Promise<void> {
  const runs = recordsIn(await manage('GET', `/runs?limit=${MOST_RUNS}`))
  for (const { guid } of runs) {
    const run = await manage('GET', `/runs/${String(guid)}`)
    const steps = isJsonObject(run) ? recordsOf(run.steps ?? []) : []
    for (const { block, next, kind } of steps)
      if (kind !== 'value') {
        const drawn = drawnBlock(String(block))
        taken.add(`${drawn}.`).add(`${drawn}.${typeof next === 'string' ? next : ''}`)
      }
  }
}

/** Of the recorded runs that are shown. */
const MOST_SHOWN = 20
const MOST_CHARACTERS = 500_000

/** The recorded runs, the oldest first, with blueprints and blocks by their names: guids of this cluster say nothing outside of it. */
export async function runsOf({ flows }: Quoin, manage: Manage): Promise<readonly JsonObject[]> {
  const shown: JsonObject[] = []
  let characters = 0
  for (const { guid } of recordsIn(await manage('GET', `/runs?limit=${MOST_SHOWN}`))) {
    const run = await manage('GET', `/runs/${String(guid)}`)
    if (!isJsonObject(run)) continue
    const found = flows.live.table().blueprints.get(textIn(run.blueprint))
    const names = new Map(found?.compiled.blocks.map(({ guid: block, name }) => [block, name]))
    const named = (block: JsonValue | undefined) => {
      const drawn = drawnBlock(textIn(block))
      return names.get(drawn) ?? drawn
    }
    const { label = '', status = '', error = null, cut = false } = run
    const steps = recordsOf(run.steps ?? []).map(
      ({ block, type, in: inputs, out, next, error: problem }) => ({
        ...{ block: named(block), type: textIn(type), in: inputs ?? {}, out: out ?? {} },
        ...(typeof next === 'string' && { next }),
        ...(typeof problem === 'string' && { error: problem }),
      }),
    )
    const failure = isJsonObject(error) ? { ...error, block: error.block ? named(error.block) : null } : null
    const one = { blueprint: found?.name ?? '', label, status, error: failure, cut, steps }
    characters += JSON.stringify(one).length
    if (characters > MOST_CHARACTERS) break
    shown.unshift(one)
  }
  return shown
}

/** Of one test that failed. */
const MOST_TRACED_RUNS = 4
const MOST_TRACED_BLOCKS = 40
const LONGEST_TRACE = 8_000
const LONGEST_VALUE = 400

/** Of a test that failed: the ends of its last runs and of those that failed, which is where it went wrong. */
export function traceOf(runs: readonly JsonObject[]): readonly TracedRun[] {
  const failed = runs.filter(({ status }) => status === 'failed').slice(-MOST_TRACED_RUNS / 2)
  const last = runs.slice(failed.length - MOST_TRACED_RUNS)
  let [blocks, characters] = [0, 0]
  const fits = (one: JsonValue) => {
    blocks += 1
    characters += JSON.stringify(one).length
    return blocks <= MOST_TRACED_BLOCKS && characters <= LONGEST_TRACE
  }
  const traced: TracedRun[] = []
  for (const run of runs.filter((one) => failed.includes(one) || last.includes(one)).toReversed()) {
    const steps: JsonObject[] = []
    for (const { in: inputs, out, ...step } of recordsOf(run.steps ?? []).toReversed()) {
      const one = { ...step, in: shortValues(inputs), out: shortValues(out) }
      if (!fits(one)) break
      steps.unshift(one)
    }
    const [blueprint, label, status] = [textIn(run.blueprint), textIn(run.label), textIn(run.status)]
    traced.unshift({ blueprint, label, status, error: shortValue(run.error ?? null), steps })
  }
  return traced
}

function shortValues(pins: JsonValue | undefined): JsonObject {
  const values = Object.entries(isJsonObject(pins) ? pins : {})
  return Object.fromEntries(values.map(([pin, value]) => [pin, shortValue(value)]))
}

function shortValue(value: JsonValue): JsonValue {
  const text = JSON.stringify(value)
  if (text.length <= LONGEST_VALUE) return value
  return { $cut: text.slice(0, LONGEST_VALUE), bytes: Buffer.byteLength(text) }
}

/** For a person: which blocks ran, where it failed, and what each got. */
export function traceLines(trace: readonly TracedRun[]): readonly string[] {
  return trace.flatMap(({ blueprint, label, status, error, steps }) => [
    `${blueprint}: ${label} ${isJsonObject(error) ? `failed at ${error.block ?? 'no block'}: ${error.code} ${error.message}` : status}`,
    ...steps.map(({ block, in: inputs, out, error: problem }) => {
      const came = problem === undefined ? `gave ${JSON.stringify(out)}` : `failed: ${problem}`
      return `  ${block} got ${JSON.stringify(inputs)}, ${came}`
    }),
  ])
}

export interface Coverage {
  readonly ways: number
  readonly taken: number
  /** `deals: close.refused`, in the order of the blueprints. */
  readonly missing: readonly string[]
  /** In the order in which the cluster has them. */
  readonly blueprints: readonly CoveredBlueprint[]
}

export const nothingCovered: Coverage = { ways: 0, taken: 0, missing: [], blueprints: [] }

export function coverageOf(quoin: Quoin, { taken }: CoverageSoFar): Coverage {
  const missing: string[] = []
  let ways = 0
  const blueprints = [...quoin.flows.live.table().blueprints.values()].map(({ name, compiled }) => {
    const blocks = new Map<string, CoveredBlueprint['blocks'][number]>()
    for (const way of waysOf(compiled.blocks, quoin)) {
      ways += 1
      const one = { pin: way.pin, taken: isTaken(way, taken) }
      if (!one.taken) missing.push(`${name}: ${way.block}${way.pin && `.${way.pin}`}`)
      const known = blocks.get(way.guid)
      if (known) known.ways.push(one)
      else blocks.set(way.guid, { block: way.block, ran: taken.has(`${way.guid}.`), ways: [one] })
    }
    return { name, blocks: [...blocks.values()] }
  })
  return { ways, taken: ways - missing.length, missing, blueprints }
}

/** For a person: the share, and what no test has taken. */
export function coverageLines({ ways, taken, missing }: Coverage): readonly string[] {
  const reported = missing.slice(0, MAX_REPORTED).map((way) => `     not taken: ${way}`)
  const more = missing.length - reported.length
  return [
    `Coverage: ${taken} of ${ways} ways, ${percentOf({ ways, taken })} %.`,
    ...reported,
    ...(more > 0 ? [`     and ${more} more`] : []),
  ]
}

export function percentOf({ ways, taken }: Pick<Coverage, 'ways' | 'taken'>): number {
  return ways === 0 ? 100 : Math.floor((taken / ways) * 1000) / 10
}

interface Way {
  readonly guid: string
  readonly block: string
  readonly pin: string
  /** Blocks behind it, where the block itself is no step on that way: a run that has waited begins there, and so does each turn of a loop. */
  readonly behind: readonly string[]
}

function isTaken({ guid, pin, behind }: Way, taken: ReadonlySet<string>): boolean {
  return (
    taken.has(`${guid}.${pin}`) || (taken.has(`${guid}.`) && behind.some((next) => taken.has(`${next}.`)))
  )
}

function waysOf(blocks: readonly Block[], { flows: { catalogue } }: Quoin): Way[] {
  /** Blocks behind each out-pin, by block and pin. */
  const wired = new Map<string, Map<string, string[]>>()
  for (const { guid, in_pins } of blocks)
    for (const { from = [] } of in_pins)
      for (const { block, pin } of from) {
        const pins = wired.get(block) ?? new Map<string, string[]>()
        wired.set(block, pins.set(pin, [...(pins.get(pin) ?? []), guid]))
      }
  return blocks.flatMap(({ guid, name = guid, type }) => {
    const definition = catalogue.get(type)
    if (definition === undefined || definition.kind === 'value') return []
    const entered = definition.kind === 'flow' ? [...(definition.waits ?? []), definition.body] : []
    const pins = [...(wired.get(guid) ?? [])].filter(([pin]) => isFlow(definition.out[pin], pin))
    if (pins.length === 0) return [{ guid, block: name, pin: '', behind: [] }]
    return pins.map(([pin, next]) => ({ guid, block: name, pin, behind: entered.includes(pin) ? next : [] }))
  })
}

function isFlow(declared: { readonly type: string } | undefined, pin: string): boolean {
  return declared?.type === 'flow' || (declared === undefined && pin === 'flow')
}

function recordsIn(found: unknown): readonly JsonObject[] {
  return Array.isArray(found) ? found.filter(isJsonObject) : []
}
