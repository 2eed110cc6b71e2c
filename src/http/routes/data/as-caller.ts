import type { FastifyRequest } from 'fastify'
import type { Permissions } from '../../../records/permissions/permissions.ts'
import { type Subject, subjectOf } from '../../../records/permissions/subject.ts'
import type { PermittedContext, StorageContext } from '../../../records/storage-records.ts'
import { callerOf } from '../../server/authenticate.ts'

export function callerSubject(request: FastifyRequest): Subject {
  const { user, scopes } = callerOf(request)
  return subjectOf(user, scopes)
}

/** The storages as their rules show them to the caller. */
export function asCaller(
  context: StorageContext,
  permissions: Permissions,
  request: FastifyRequest,
): PermittedContext {
  const database = permissions.database(context.records.database, callerSubject(request))
  return { ...context, records: { ...context.records, database } }
}
