/** How the replies of two repetitions of one run differ, and which blocks became slower over all of them. Pure. */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ComparedRuns } from '../../shared/api/blueprints/runs.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'
import { withoutMeta } from './replay.ts'

type Difference = ComparedRuns['differences'][number]
export type Side = Difference['deployed']

/** What clients act upon; others, such as entity tags, follow from the body. */
const COUNTED = new Set(['content-type', 'location', 'cache-control', 'content-disposition', 'set-cookie'])
const MOST_PATHS = 20
const DEEPEST = 50

/** Of what a run recorded of its end. */
export function sideOf({ reply, result, error }: Readonly<Record<string, JsonValue | undefined>>): Side {
  const { status, headers, body } = isJsonObject(reply) ? reply : {}
  const failed = isJsonObject(error) ? textIn(error.message) : null
  return {
    status: typeof status === 'number' ? status : null,
    headers: countedHeaders(isJsonObject(headers) ? headers : {}),
    body: withoutMeta((isJsonObject(reply) ? body : result) ?? null),
    error: failed,
  }
}

function countedHeaders(headers: JsonObject): JsonObject {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(lower.filter(([name]) => COUNTED.has(name)))
}

interface FoundDifference extends Pick<Difference, 'key' | 'kind' | 'paths'> {}

/**
 * Undefined where they are the same. `again`: the deployed blocks once more; where they differ from themselves, only the shape counts, and so
 * for a text, a number or a condition whose value differs there.
 */
export function differenceOf(
  label: string,
  deployed: Side,
  candidate: Side,
  again: Side,
): FoundDifference | undefined {
  const found = kindOf(deployed, candidate, again)
  if (!found) return undefined
  const text = JSON.stringify([label, found.kind, found.paths, deployed.status, candidate.status])
  return { key: createHash('sha256').update(text).digest('hex').slice(0, 16), ...found }
}

function kindOf(
  deployed: Side,
  candidate: Side,
  again: Side,
): Pick<Difference, 'kind' | 'paths'> | undefined {
  if ((candidate.error === null) !== (deployed.error === null)) return { kind: 'fails', paths: [] }
  if (candidate.status !== deployed.status) return { kind: 'status', paths: [] }
  const varies = new Set(differing(deployed.body, again.body).map(({ path }) => path))
  const headers = differing(deployed.headers, candidate.headers).map(({ path }) => path)
  if (headers.length > 0 && isDeepStrictEqual(deployed.headers, again.headers))
    return { kind: 'headers', paths: headers.slice(0, MOST_PATHS) }
  const places = differing(deployed.body, candidate.body)
  const counted = places.filter(({ path, isShape }) => isShape || !varies.has(path))
  if (counted.length === 0) return undefined
  const paths = [...new Set(counted.map(({ path }) => path))].slice(0, MOST_PATHS)
  return { kind: counted.some(({ isShape }) => isShape) ? 'shape' : 'value', paths }
}

interface Place {
  readonly path: string
  readonly isShape: boolean
}

/** Places in lists are not told apart: `items[].title`. */
function differing(before: JsonValue, after: JsonValue, path = '', depth = 0): readonly Place[] {
  if (depth > DEEPEST || isDeepStrictEqual(before, after)) return []
  if (Array.isArray(before) && Array.isArray(after)) {
    const common = Math.min(before.length, after.length)
    const length = before.length === after.length ? [] : [{ path: `${path}[]`, isShape: false }]
    const parts = before
      .slice(0, common)
      .flatMap((one, at) => differing(one, after[at] ?? null, `${path}[]`, depth + 1))
    return [...length, ...parts]
  }
  if (isJsonObject(before) && isJsonObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
    return names.flatMap((name) => {
      const at = path === '' ? name : `${path}.${name}`
      const [was, is] = [before[name], after[name]]
      return was === undefined || is === undefined
        ? [{ path: at, isShape: true }]
        : differing(was, is, at, depth + 1)
    })
  }
  return [{ path, isShape: typeOf(before) !== typeOf(after) }]
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value
}

/** Of one block, in microseconds: a time of each run in which it was executed. */
export interface ComparedTimes {
  readonly deployed: number[]
  readonly candidate: number[]
}

/** A median of fewer says nothing. */
const LEAST_RUNS = 5
/** Smaller ones are of the machine. */
const LEAST_RATIO = 2
const LEAST_US = 1_000
const MOST_SLOWER = 20

/** Those that take twice as long as before, and a millisecond more, the slowest first. */
export function slowerBlocks(times: ReadonlyMap<string, ComparedTimes>): ComparedRuns['slower'] {
  const found = [...times].flatMap(([block, { deployed, candidate }]) => {
    const runs = Math.min(deployed.length, candidate.length)
    const [before, now] = [median(deployed), median(candidate)]
    const isSlower = now >= LEAST_RATIO * before && now - before >= LEAST_US
    return runs < LEAST_RUNS || !isSlower
      ? []
      : [{ block, runs, deployed_us: Math.round(before), candidate_us: Math.round(now) }]
  })
  return found.toSorted((one, other) => other.candidate_us - one.candidate_us).slice(0, MOST_SLOWER)
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)] ?? 0
}

/** What each flow block took in a run, from the end of the one before it: with the values that it pulled, and the functions that it called. */
export function timesOf(steps: readonly JsonObject[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  let end = 0
  for (const { block, frame, kind, at_us: at, us } of steps) {
    if (frame !== 0 || kind === 'value' || typeof at !== 'number' || typeof us !== 'number') continue
    if (kind === 'flow')
      times.set(textIn(block), (times.get(textIn(block)) ?? 0) + Math.max(0, at + us - end))
    end = Math.max(end, at + us)
  }
  return times
}
