import { Type } from 'typebox'
import { APPROVE_SCOPE, type PendingPushes } from '../../../applications/pending-pushes.ts'
import {
  applicationSchema,
  approvePushSchema,
  preparingSchema,
  pushSchema,
  rejectPushSchema,
  releasedSchema,
} from '../../../shared/api/blueprints/applications.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { readScopes } from '../../../shared/management-scopes.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { replyToPush, shownContent, shownPush } from './applications.ts'

const tags = ['Applications']
const folder = '/_system/pushes'

/** Pushes that a second user approves or rejects. */
export function pushRoutes(pushes: PendingPushes): RouteFamily {
  return (app) => {
    readRoutes(app, pushes)
    approveRoute(app, pushes)
    endRoutes(app, pushes)
  }
}

function readRoutes(app: App, pushes: PendingPushes): void {
  app.get(
    folder,
    {
      config: { permission: 'applications_view' },
      schema: {
        operationId: 'listPushes',
        summary: 'List pushes that needed a second user',
        description: 'The newest first: those that wait, and the last 200 that were decided.',
        tags,
        response: { 200: Type.Array(pushSchema) },
      },
    },
    async () => (await pushes.list()).map((push) => shownPush(push, { scopes: new Set() })),
  )
  app.get(
    `${folder}/:guid`,
    {
      config: { permission: 'applications_view' },
      schema: {
        operationId: 'getPush',
        summary: 'A push with its plan',
        tags,
        params: guidParams,
        response: { 200: pushSchema },
      },
    },
    async (request) => shownPush(await pushes.get(request.params.guid), callerOf(request)),
  )
  app.get(
    `${folder}/:guid/content`,
    {
      config: { permission: 'applications_view', alsoNeeds: [...readScopes] },
      schema: {
        operationId: 'readPush',
        summary: 'What a push would release',
        tags,
        params: guidParams,
        response: { 200: applicationSchema },
      },
    },
    async (request) => shownContent(await pushes.content(request.params.guid), callerOf(request)),
  )
}

function approveRoute(app: App, pushes: PendingPushes): void {
  app.post(
    `${folder}/:guid/approve`,
    {
      config: {
        permission: APPROVE_SCOPE,
        alsoNeeds: ['applications_view'],
        confirmed: true,
        errors: ['CONFLICT', 'VALIDATION_FAILED'],
      },
      schema: {
        operationId: 'approvePush',
        summary: 'Approve a push of another user, and release it',
        description:
          'Released as its author would, with the scopes that the author holds now. 202 while stored values follow a renamed field: the same request again releases when they have. 409 where the cluster was changed since the plan: the push is over then. 403 for its author and for API keys.',
        tags,
        params: guidParams,
        body: approvePushSchema,
        response: { 200: releasedSchema, 202: preparingSchema },
      },
    },
    async (request, reply) => {
      const { guid } = request.params
      const caller = callerOf(request)
      return replyToPush(reply, await pushes.approve(guid, request.body.state, caller), caller)
    },
  )
}

function endRoutes(app: App, pushes: PendingPushes): void {
  app.post(
    `${folder}/:guid/reject`,
    {
      config: {
        permission: APPROVE_SCOPE,
        alsoNeeds: ['applications_view'],
        bodyOptional: true,
        errors: ['CONFLICT'],
      },
      schema: {
        operationId: 'rejectPush',
        summary: 'Reject a push of another user',
        tags,
        params: guidParams,
        body: rejectPushSchema,
        response: { 200: pushSchema },
      },
    },
    async (request) => {
      const { comment = '' } = request.body
      const caller = callerOf(request)
      return shownPush(await pushes.reject(request.params.guid, comment, caller), caller)
    },
  )
  app.post(
    `${folder}/:guid/withdraw`,
    {
      config: { permission: 'applications_update', bodyOptional: true, errors: ['CONFLICT'] },
      schema: {
        operationId: 'withdrawPush',
        summary: 'Take back a push of your own that waits',
        tags,
        params: guidParams,
        response: { 200: pushSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      return shownPush(await pushes.withdraw(request.params.guid, caller), caller)
    },
  )
}
