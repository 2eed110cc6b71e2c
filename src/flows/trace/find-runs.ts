/** Searching and reading traced runs. */

import { notFound } from '../../records/records.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { type Query, type Search, search } from '../../shared/query.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { findPage } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { sendableOf } from '../background/dead-letter-requests.ts'
import { detailOf, summaryOf } from './run-record.ts'
import type { Tracing } from './tracing.ts'

export interface RunsRequest {
  readonly blueprint?: string | undefined
  readonly trigger?: string | undefined
  readonly status?: string | undefined
  /** Only those that failed, or whose client got an error. */
  readonly failed?: boolean | undefined
  readonly limit?: number | undefined
  readonly offset?: number | undefined
  readonly after?: string | undefined
}

/** Ten on each node. */
const MOST_PAUSED = 200
const newestFirst = [{ field: '_meta.cms', order: 'desc', missing: 'last' }] as const

export async function listRuns(tracing: Tracing, requested: RunsRequest): Promise<RecordPage> {
  const { limit = 50, offset = 0, after, failed = false, ...fields } = requested
  const page = { sort: newestFirst, limit, offset, ...(after !== undefined && { after }) }
  const { records, ...counted } = await findRuns(
    tracing,
    search({ query: queryOf(fields, failed ? [wentWrong] : []), ...page }),
  )
  return { ...counted, records: records.map(summaryOf) }
}

/** The run with its request, reply and steps. */
export async function getRun(tracing: Tracing, guid: string): Promise<JsonObject> {
  const record = await recordOf(tracing, guid)
  const { request, reply, steps, cut, result, compared, letter } = detailOf(record)
  return {
    ...summaryOf(record),
    ...{ request: request ?? null, reply: reply ?? null, steps: steps ?? [], cut: cut === true },
    ...{ result: result ?? null, compared: compared ?? null, send_again: sendableOf(letter) },
  }
}

export async function recordOf(tracing: Tracing, guid: string): Promise<JsonObject> {
  await storeAll(tracing)
  const record = (await tracing.records.find(guid)) ?? (await tracing.requests.find(guid))
  if (!record) throw notFound(guid, 'traced run')
  return record
}

/** What is under way is found too. */
async function storeAll({ runs, records, requests }: Tracing): Promise<void> {
  runs.note()
  await records.flush()
  await requests.flush()
}

/** Runs that stand still at a breakpoint, on any node. */
export async function pausedRuns(tracing: Tracing, blueprint: string | undefined): Promise<JsonObject[]> {
  const query = queryOf({ blueprint, status: 'paused' })
  const { records } = await findRuns(tracing, search({ query, sort: newestFirst, limit: MOST_PAUSED }))
  return records.map(pausedRun)
}

/** The records of a blueprint's newest runs, with their details: a part of them. */
export async function newestRecords(
  tracing: Tracing,
  blueprint: string,
  part: { readonly limit: number; readonly offset: number },
): Promise<readonly JsonObject[]> {
  const requested = search({ query: queryOf({ blueprint }), sort: newestFirst, ...part })
  return (await findRuns(tracing, requested)).records
}

/** As they are now: with those that are under way, and without what ended nodes left behind. */
async function findRuns(tracing: Tracing, requested: Search): Promise<RecordPage> {
  await storeAll(tracing)
  const find = () => findPage(tracing.flows.records.database.session(), systemStorages.runs, requested)
  const page = await find()
  return (await tracing.records.settle(page.records)) ? find() : page
}

const wentWrong: Query = {
  kind: 'or',
  queries: [
    { kind: 'term', field: 'status', value: 'failed' },
    { kind: 'range', field: 'reply.status', bounds: { gte: 400 } },
  ],
}

function queryOf(fields: Readonly<Record<string, string | undefined>>, more: readonly Query[] = []): Query {
  const queries = Object.entries(fields).flatMap(([field, value]): Query[] =>
    value === undefined ? [] : [{ kind: 'term', field, value }],
  )
  return { kind: 'and', queries: [...queries, ...more] }
}

function pausedRun(record: JsonObject): JsonObject {
  const { guid: run, blueprint } = summaryOf(record)
  const { block, since, until } = isJsonObject(record.paused) ? record.paused : {}
  const { steps } = detailOf(record)
  const inputs: JsonValue = objectsIn(steps).findLast((step) => step.block === block)?.in ?? {}
  return {
    ...{ run: run ?? '', blueprint: blueprint ?? '', block: textIn(block) },
    ...{ since: textIn(since), until: textIn(until), in: inputs, steps: steps ?? [] },
  }
}
