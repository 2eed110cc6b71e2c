import { queryOptions } from '@tanstack/react-query'
import type { ListAddress } from '../controls/lists/list-address.ts'
import type { Endpoint } from './blueprints.ts'
import { send } from './request.ts'

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** Prometheus' text format. Lines that are none are left out. */
export function parseMetrics(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (name === undefined || value === undefined) return []
    return [{ name, labels: Object.fromEntries(labelsIn(labels)), value: numberOf(value) }]
  })
}

function* labelsIn(text: string): Generator<[string, string]> {
  for (const [, name = '', value = ''] of text.matchAll(LABEL))
    yield [name, value.replace(/\\(.)/g, (_all, one: string) => (one === 'n' ? '\n' : one))]
}

function numberOf(text: string): number {
  return text === '+Inf'
    ? Number.POSITIVE_INFINITY
    : text === '-Inf'
      ? Number.NEGATIVE_INFINITY
      : Number(text)
}

/** One step of a histogram: so many were at most `le`. */
interface Bucket {
  readonly le: number
  readonly count: number
}

/** The value that this share of the samples stayed below, estimated inside its bucket; undefined without samples. */
export function quantile(share: number, buckets: readonly Bucket[]): number | undefined {
  const steps = buckets.toSorted((a, b) => a.le - b.le)
  const all = steps.at(-1)?.count ?? 0
  if (all === 0) return undefined
  const rank = share * all
  let before: Bucket = { le: 0, count: 0 }
  for (const step of steps) {
    if (step.count >= rank) {
      if (step.le === Number.POSITIVE_INFINITY) return before.le
      const inside = step.count - before.count
      return inside === 0 ? step.le : before.le + ((rank - before.count) / inside) * (step.le - before.le)
    }
    before = step
  }
  return before.le
}

/** What came to one endpoint of the node that answered, since it started. */
export interface Traffic {
  readonly requests: number
  /** Replies with 5xx, and runs that failed behind another reply. */
  readonly errors: number
  /** Milliseconds; undefined while nothing came. */
  readonly p50: number | undefined
  readonly p95: number | undefined
  /** Requests a second between the last two readings; undefined until there are two. */
  readonly rate: number | undefined
}

interface Reading {
  /** Milliseconds. */
  readonly at: number
  readonly endpoints: ReadonlyMap<string, Traffic>
}

/** `GET tasks/{}`: the same for `/api/v1/tasks/:guid` and `tasks/{guid}`. */
export function endpointKey(method: string, path: string): string {
  const bare = path.replace(/^\/?(api\/v1\/)?/, '').replace(/\/$/, '')
  return `${method.toUpperCase()} ${bare.replace(/:[^/]+|\{[^}]*\}/g, '{}')}`
}

export interface TrafficRow {
  readonly blueprint: string
  readonly block: string
  readonly method: string
  readonly uri: string
  /** Undefined before the first request. */
  readonly traffic: Traffic | undefined
}

type Figure = keyof Traffic

const figures: ReadonlySet<string> = new Set<Figure>(['requests', 'errors', 'p50', 'p95', 'rate'])

/** The endpoints of deployed blueprints with their traffic, sorted as the list says; otherwise the busiest first. */
export function trafficRows(
  endpoints: ReadonlyMap<string, readonly Endpoint[]>,
  deployed: ReadonlySet<string>,
  traffic: Reading['endpoints'] | undefined,
  sort: ListAddress['sort'],
): readonly TrafficRow[] {
  const { field, order } = sort ?? { field: 'requests', order: 'desc' }
  const of = (row: TrafficRow): number | string =>
    isFigure(field) ? (row.traffic?.[field] ?? -1) : `${row.uri} ${row.method}`
  const before = order === 'asc' ? -1 : 1
  return [...endpoints]
    .filter(([blueprint]) => deployed.has(blueprint))
    .flatMap(([blueprint, list]) => list.map(({ method, uri, block }) => ({ blueprint, method, uri, block })))
    .map((row) => ({ ...row, traffic: traffic?.get(endpointKey(row.method, row.uri)) }))
    .toSorted((a, b) => (of(a) < of(b) ? before : of(a) > of(b) ? -before : 0))
}

function isFigure(field: string): field is Figure {
  return figures.has(field)
}

/** Read again every few seconds while something shows it. Needs systemlogs_view, which is an error of the query and no more. */
export const trafficQuery = queryOptions({
  queryKey: ['traffic'],
  queryFn: async ({ signal, client }): Promise<Reading> => {
    const text = await (await send('GET', '/metrics', { signal })).text()
    return reading(parseMetrics(text), Date.now(), client.getQueryData<Reading>(['traffic']))
  },
  refetchInterval: 5_000,
  retry: false,
})

export function reading(samples: readonly Sample[], at: number, before?: Reading): Reading {
  const collected = new Map<string, { requests: number; errors: number; buckets: Bucket[] }>()
  const of = (labels: Sample['labels']) => {
    const key = endpointKey(labels.method ?? '', labels.route ?? '')
    const found = collected.get(key) ?? { requests: 0, errors: 0, buckets: [] }
    collected.set(key, found)
    return found
  }
  for (const { name, labels, value } of samples) {
    if (name === 'quoin_http_requests_total') {
      const one = of(labels)
      one.requests += value
      if (labels.status === '5xx') one.errors += value
    } else if (name === 'quoin_requests_failed_behind_reply_total') {
      of(labels).errors += value
    } else if (name === 'quoin_http_request_duration_seconds_bucket') {
      const le = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le)
      of(labels).buckets.push({ le: le * 1000, count: value })
    }
  }
  const endpoints = new Map<string, Traffic>()
  for (const [key, { requests, errors, buckets }] of collected) {
    const last = before?.endpoints.get(key)
    const seconds = before === undefined ? 0 : (at - before.at) / 1000
    // Fewer than before: the node was restarted.
    const isCountable = seconds > 0 && (last === undefined || last.requests <= requests)
    endpoints.set(key, {
      requests,
      errors,
      p50: quantile(0.5, buckets),
      p95: quantile(0.95, buckets),
      rate: isCountable ? (requests - (last?.requests ?? 0)) / seconds : undefined,
    })
  }
  return { at, endpoints }
}
