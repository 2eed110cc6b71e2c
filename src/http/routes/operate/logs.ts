import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { Flows } from '../../../flows/flows.ts'
import type { AuditChain } from '../../../records/audit-chain.ts'
import type { AuditLog } from '../../../records/audit-log.ts'
import type { Actor, RecordContext } from '../../../records/records.ts'
import {
  auditCheckBody,
  auditCheckSchema,
  auditExportResponse,
  auditLogSchema,
  systemLogSchema,
} from '../../../shared/api/operate/logs.ts'
import { searchSchema } from '../../../shared/api/search.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { findPage } from '../../../storage/find-documents.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import { transact } from '../../../storage/transact.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { actorOf, searchReply } from '../search-reply.ts'
import { metaFields, type SearchField, searchRequest } from '../search-request.ts'

const auditSearchFields: readonly SearchField[] = [
  { name: 'category', type: 'string', text: true },
  { name: 'action', type: 'string' },
  { name: 'guid', type: 'string' },
  { name: 'name', type: 'string', text: true },
  { name: 'user.guid', type: 'string' },
  { name: 'user.username', type: 'string', text: true },
  { name: 'changes', type: 'string', text: true },
  ...metaFields,
]

export interface AuditLogParts {
  readonly records: RecordContext
  readonly audit: Pick<AuditLog, 'record'>
  readonly auditChain: AuditChain
}

/** Reading the audit log, and whether it is as it was written. There is no route that writes it, and there must be none. */
export function auditLogRoutes({ records, audit, auditChain }: AuditLogParts): RouteFamily {
  return (app) => {
    addCheckRoute(app, auditChain)
    addExportRoute(app, auditChain, async (by) =>
      transact(records.database, (session) => audit.record(session, exported), { user: by }),
    )
    app.post(
      '/_system/auditlogs',
      {
        config: { permission: 'auditlogs_view', bodyOptional: true },
        schema: {
          operationId: 'searchAuditLogs',
          summary: 'Read the audit log',
          description: 'Each management write with user and the values before and after, newest first.',
          tags: ['Logs'],
          body: searchSchema,
          response: { 200: Type.Array(auditLogSchema) },
        },
      },
      async (request, reply) => {
        const page = await findPage(
          records.database.session(),
          systemStorages.auditLogs,
          searchRequest(request.body, auditSearchFields),
        )
        return searchReply(reply, request.body, { ...page, records: page.records.map(withStates) })
      },
    )
  }
}

function addCheckRoute(app: App, chain: AuditChain): void {
  app.post(
    '/_system/auditlogs/check',
    {
      config: { permission: 'auditlogs_view', bodyOptional: true, errors: ['INVALID_QUERY'] },
      schema: {
        operationId: 'checkAuditLog',
        summary: 'Check that the audit log is as it was written',
        description:
          'Holds records against the chain of their hashes, at most 200 in a step: records that were changed, removed, added or moved are named. `quoin audit verify` takes all steps.',
        tags: ['Logs'],
        body: auditCheckBody,
        response: { 200: auditCheckSchema },
      },
    },
    async (request) => {
      const { next, faults, ...check } = await chain.check(request.body?.from)
      return { ...check, faults: [...faults], next: next ?? null }
    },
  )
}

const exported = {
  category: 'auditlogs',
  action: 'exported',
  guid: '',
  name: '',
  before: undefined,
  after: {},
} as const

function addExportRoute(app: App, chain: AuditChain, note: (by: Actor) => Promise<void>): void {
  app.get(
    '/_system/auditlogs/export',
    {
      config: { permission: 'auditlogs_view', entityTag: false },
      schema: {
        operationId: 'exportAuditLog',
        summary: 'Export the audit log with its chain',
        description:
          'NDJSON. A line has `place`, `at`, `record`, `hash`, `chain` and the record as `audit`, so that the chain can be computed again elsewhere; lines with `checkpoint` have the signed ends of days with the public key.',
        tags: ['Logs'],
        response: { 200: auditExportResponse },
      },
    },
    async (request, reply) => {
      if (request.method !== 'HEAD') {
        // Before the first byte, so that nothing leaves without its record.
        await note(actorOf(request))
        await chain.seal()
      }
      const lines = request.method === 'HEAD' ? [] : chain.lines()
      return reply
        .type('application/x-ndjson; charset=utf-8')
        .header('content-disposition', 'attachment; filename="auditlogs.ndjson"')
        .send(Readable.from(lines, { objectMode: false }))
    },
  )
}

function withStates({ states, ...record }: JsonObject): JsonObject {
  const [before = null, after = null] = Array.isArray(states) ? states : []
  return { ...record, before, after }
}

const systemSearchFields: readonly SearchField[] = [
  { name: 'level', type: 'string' },
  { name: 'message', type: 'string', text: true },
  { name: 'run', type: 'string' },
  { name: 'blueprint', type: 'string' },
  { name: 'block', type: 'string' },
  { name: 'pin', type: 'string' },
  ...metaFields,
]

/** What the cluster and its flows logged. */
export function systemLogRoutes({ records, log }: Pick<Flows, 'records' | 'log'>): RouteFamily {
  return (app) => {
    app.post(
      '/_system/systemlogs/search',
      {
        config: { permission: 'systemlogs_view', bodyOptional: true },
        schema: {
          operationId: 'searchSystemLogs',
          summary: 'Read cluster system logs',
          description: 'Free text searches `message`. Filter by `run` to list the records of one run.',
          tags: ['Logs'],
          body: searchSchema,
          response: { 200: Type.Array(systemLogSchema) },
        },
      },
      async (request, reply) => {
        const requested = searchRequest(request.body, systemSearchFields)
        // Entries wait for their batch; a client that asks for a run expects its entries.
        await log.flush()
        return searchReply(
          reply,
          request.body,
          await findPage(records.database.session(), systemStorages.systemLogs, requested),
        )
      },
    )
  }
}
