import { setImmediate as turn } from 'node:timers/promises'
import type { FigurePoint, FiguresOverTime } from '../../shared/api/operate/figures.ts'
import type { FigureRange } from '../../shared/charts/chart-scale.ts'
import { type Query, search } from '../../shared/query.ts'
import type { Database } from '../../storage/database.ts'
import { textIn } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { daySpan, hourSpan, type Span } from './figure-documents.ts'
import { type FigureKind, type Figures, LATENCY, latencyAt, rowsIn, together } from './figure-row.ts'

interface FiguresRequest {
  readonly range: FigureRange
  /** Unix seconds; the step that it is in is the last one. */
  readonly until: number
  /** Only this node; all of them if not given. */
  readonly node?: string | undefined
}

interface ReadRange {
  readonly span: Span
  readonly step: number
  readonly steps: number
}

const ranges: Readonly<Record<FigureRange, ReadRange>> = {
  hour: { span: hourSpan, step: 60, steps: 60 },
  day: { span: daySpan, step: 600, steps: 144 },
  week: { span: daySpan, step: 3_600, steps: 168 },
}

/** A document has at most 10 KB. */
const PAGE = 20
/** Documents of one answer: 200 names of nodes in a week. Each further one is left out, the oldest days first. */
const MOST_DOCUMENTS = 1_600

/** The figures of a time, a point for each step, also for steps without any. */
export async function readFigures(
  database: Database,
  { range, until, node }: FiguresRequest,
): Promise<FiguresOverTime> {
  const { span, step, steps } = ranges[range]
  const last = until - (until % step)
  const from = last - (steps - 1) * step
  const points = { traffic: new Map<number, Figures>(), queues: new Map<number, Figures>() }
  const nodes = new Set<string>()
  let complete = true
  const requested: Query = {
    kind: 'and',
    queries: [
      { kind: 'term', field: 'span', value: span.name },
      { kind: 'range', field: 'from', bounds: { gt: from - span.seconds, lte: last + step } },
    ],
  }
  for await (const document of documentsIn(database, requested, () => {
    complete = false
  })) {
    const kind: FigureKind = document.kind === 'queues' ? 'queues' : 'traffic'
    const owner = textIn(document.node)
    if (kind === 'traffic') nodes.add(owner)
    if (kind === 'traffic' && node !== undefined && node !== owner) continue
    for (const [place, ...figures] of rowsIn(document.rows)) {
      const at = Number(document.from) + place * span.step
      const stepOf = at - (at % step)
      if (stepOf < from || stepOf > last) continue
      points[kind].set(stepOf, together(kind, points[kind].get(stepOf) ?? [], figures))
    }
  }
  return {
    ...{ range, from, step, complete },
    nodes: [...nodes].toSorted(),
    points: Array.from({ length: steps }, (_, place) => {
      const at = from + place * step
      return pointOf(at, points.traffic.get(at) ?? [], points.queues.get(at) ?? [])
    }),
  }
}

async function* documentsIn(database: Database, query: Query, cut: () => void) {
  const sort = [{ field: 'from', order: 'desc', missing: 'last' } as const]
  let read = 0
  let after: string | undefined
  do {
    const found = await database
      .session()
      .find(
        systemStorages.figures,
        search({ query, sort, limit: PAGE, ...(after !== undefined && { after }) }),
      )
    yield* documentsOf(found)
    read += found.length
    after = found.next()
    if (after !== undefined) await turn()
  } while (after !== undefined && read < MOST_DOCUMENTS)
  if (after !== undefined) cut()
}

function pointOf(at: number, traffic: Figures, queues: Figures): FigurePoint {
  const [requests = 0, refused = 0, failed = 0, runs = 0, failedRuns = 0] = traffic
  const [waiting = 0, running = 0, dead = 0, oldest = 0] = queues
  const latency = traffic.slice(LATENCY)
  return {
    ...{ at, requests, refused, failed, runs, failed_runs: failedRuns },
    ...{ p50: latencyAt(0.5, latency), p95: latencyAt(0.95, latency) },
    ...{ waiting, running, dead, oldest },
  }
}
