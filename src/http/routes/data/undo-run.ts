import type { FastifyContextConfig } from 'fastify'
import type { Static } from 'typebox'
import type { QueueSteering } from '../../../flows/background/queue-steering.ts'
import { outsideSteps } from '../../../flows/trace/recorded-outside.ts'
import { detailOf } from '../../../flows/trace/run-record.ts'
import type { Tracing } from '../../../flows/trace/tracing.ts'
import { previewUndo, type Undo, type UndoPlace, undoRun } from '../../../records/documents/undo-run.ts'
import type { Permissions } from '../../../records/permissions/permissions.ts'
import type { StorageContext } from '../../../records/storage-records.ts'
import { undoPartSchema, undoRunSchema, undoSchema } from '../../../shared/api/blueprints/runs.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../search-reply.ts'
import { asCaller, callerSubject } from './as-caller.ts'

export interface UndoParts {
  readonly documents: StorageContext
  readonly permissions: Permissions
  readonly tracing: Tracing
  readonly newGuid: () => string
  readonly cancel: QueueSteering['cancel']
}

const tags = ['Runs']
const path = '/runs/:guid/undo'

const description =
  'Of storages that keep history, at most 1,000 writes, or so many a request with `in_parts`, the newest first: `next` of the reply is `after` of the next one. The guid is that of a run as the history has it; that of a job which changed many documents, or of a change of many, counts as one.'

/** It removes, changes and restores. */
const needs = {
  permission: 'storages_update',
  alsoNeeds: ['storages_view', 'storages_create', 'storages_remove'],
} satisfies FastifyContextConfig

/** Takes back what a run has written. */
export function undoRunRoutes(parts: UndoParts): RouteFamily {
  return (app) => {
    previewRoute(app, parts)
    undoRoute(app, parts)
  }
}

function previewRoute(app: App, { documents, permissions, tracing }: UndoParts): void {
  app.get(
    path,
    {
      config: { ...needs, errors: ['CONFLICT', 'DENIED_BY_RULE'] },
      schema: {
        operationId: 'previewUndoRun',
        summary: 'What taking back a run would do',
        description: `${description} Changes nothing.`,
        tags,
        params: guidParams,
        querystring: undoPartSchema,
        response: { 200: undoSchema },
      },
    },
    async (request) => {
      const { guid: run } = request.params
      const subject = callerSubject(request)
      const context = asCaller(documents, permissions, request)
      const undo = await previewUndo({ context, permissions, subject, run, part: partOf(request.query) })
      return sent(undo, null, await outsideOf(tracing, run))
    },
  )
}

function undoRoute(app: App, { documents, permissions, tracing, newGuid, cancel }: UndoParts): void {
  app.post(
    path,
    {
      config: { ...needs, bodyOptional: true, errors: ['CONFLICT', 'DENIED_BY_RULE'] },
      schema: {
        operationId: 'undoRun',
        summary: 'Take back what a run wrote',
        description: `${description} What it created is removed, what it changed is as it was, what it removed is there again: all in one transaction, with rules, unique fields, events and history. 409 with \`details\` where documents were changed since. Its jobs that have not begun are cancelled.`,
        tags,
        params: guidParams,
        body: undoRunSchema,
        response: { 200: undoSchema },
      },
    },
    async (request) => {
      const { guid: run } = request.params
      const by = actorOf(request)
      const place = {
        context: asCaller(documents, permissions, request),
        permissions,
        subject: callerSubject(request),
        run,
        part: partOf(request.body),
      }
      const as = newGuid()
      const undo = await undoRun(place, { leaveChanged: request.body.leave_changed ?? false, as, by })
      // What is left of a run may need what it left to do.
      const jobs = undo.left > 0 ? [] : undo.jobs
      const cancelled: (typeof jobs)[number][] = []
      // They were listed before the transaction: a worker may have begun one since.
      for (const job of jobs) if (await cancel(job.guid, by, { unbegun: true })) cancelled.push(job)
      const others = jobs.filter((job) => !cancelled.includes(job))
      const begun = undo.begun && [
        ...undo.begun,
        ...others.map((job) => ({ ...job, state: 'running' as const })),
      ]
      return sent({ ...undo, jobs: cancelled, begun }, as, await outsideOf(tracing, run))
    },
  )
}

function partOf({ in_parts: inParts, after }: Static<typeof undoPartSchema>): UndoPlace['part'] {
  if (after !== undefined) return { after }
  return inParts === true ? {} : undefined
}

function sent(
  { documents, jobs, begun, next, ...counts }: Undo,
  run: string | null,
  outside: Awaited<ReturnType<typeof outsideOf>>,
) {
  return {
    ...{ run, ...counts, next: next ?? null, documents: [...documents] },
    ...{ jobs: [...jobs], begun: begun ? [...begun] : null, outside },
  }
}

async function outsideOf(tracing: Tracing, run: string) {
  const record = await tracing.records.find(run)
  if (!record) return null
  return [...outsideSteps(detailOf(record))].map(([block, steps]) => ({ block, times: steps.length }))
}
