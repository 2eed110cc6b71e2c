/**
 * Figures over time in the storage `_figures`. One document for each series and hour has a row for each minute, and is kept
 * for a day; one for each series and day has a row for ten minutes each, and is kept for eight days. So a series (each node is
 * one, and the queues) never has more than 26 + 9 documents: about 250 KB where every minute is busy.
 */
import type { Clock } from '../../shared/clock.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import type { Database, Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { documentsOf, findAll } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { type FigureKind, type Figures, rowsIn, withRow } from './figure-row.ts'

/** A unit of stored time: what one document spans, what one of its rows does, and how long it is kept. Seconds. */
export interface Span {
  readonly name: 'hour' | 'day'
  readonly seconds: number
  readonly step: number
  readonly retention: number
}

export const hourSpan: Span = { name: 'hour', seconds: 3_600, step: 60, retention: 86_400 }
export const daySpan: Span = { name: 'day', seconds: 86_400, step: 600, retention: 8 * 86_400 }
const spans = [hourSpan, daySpan]

export interface FigureSeries {
  readonly kind: FigureKind
  /** Name of the node; empty for the cluster. */
  readonly node: string
}

/** A document that is made deletes up to so many that are over: more than are made. */
const MOST_PURGED = 100
const name = systemStorages.figures

export async function ensureFigures(database: Database): Promise<void> {
  const series = { fields: ['kind', 'node', 'span', 'from'], unique: true }
  await database.ensure(name, {
    indexes: [series, { fields: ['span', 'from'] }, { fields: ['_meta.expiry'] }],
  })
}

/** Stores what one minute had, in one transaction. `at`: Unix seconds within the minute. */
export async function addFigures(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  at: number,
  input: readonly (readonly [series: FigureSeries, figures: Figures])[],
): Promise<void> {
  await transact(database, async (session) => {
    let made = false
    for (const [series, figures] of input)
      for (const span of spans) if (await addRow(session, series, span, at, figures)) made = true
    if (made) await purge(session, Math.floor(clock() / 1000))
  })
}

/** Whether it made a document. */
async function addRow(
  session: Session,
  { kind, node }: FigureSeries,
  { name: span, seconds, step, retention }: Span,
  at: number,
  figures: Figures,
): Promise<boolean> {
  const from = at - (at % seconds)
  const place = Math.floor((at - from) / step)
  const key = { kind, node, span, from }
  const fields = Object.entries(key).map(([field, value]) => ({ kind: 'term', field, value }) as const)
  const [found] = await findAll(session, name, { kind: 'and', queries: fields }, 1)
  const rows = (before: JsonObject) =>
    setFields({ rows: plain(withRow(kind, rowsIn(before.rows), place, figures)) })
  if (found) {
    // In the write itself: two nodes of one name write the same document.
    await session.update(name, guidOf(found), [], { complete: rows })
    return false
  }
  const fresh = setFields({ ...key, rows: plain(withRow(kind, [], place, figures)) })
  await session.create(name, fresh, { expiry: from + seconds + retention })
  return true
}

function plain(rows: readonly (readonly number[])[]): number[][] {
  return rows.map((row) => [...row])
}

async function purge(session: Session, now: number): Promise<void> {
  const query = { kind: 'range', field: '_meta.expiry', bounds: { gte: 0, lte: now } } as const
  const found = await session.find(name, search({ query, limit: MOST_PURGED }))
  for (const document of documentsOf(found)) await session.delete(name, guidOf(document))
}
