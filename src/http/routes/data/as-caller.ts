import type { FastifyRequest } from 'fastify'
import { holds } from '../../../access/scopes.ts'
import { RULES_SCOPE, type Subject, subjectOf } from '../../../records/permissions/judge.ts'
import type { Permissions } from '../../../records/permissions/permissions.ts'
import type { PermittedContext, StorageContext } from '../../../records/storage-records.ts'
import { QuoinError } from '../../../shared/errors.ts'
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

/** Rules that their subjects could lift would be none. Throws INSUFFICIENT_PERMISSIONS. */
export function checkMaySetRules(request: FastifyRequest): void {
  if (holds(callerOf(request).scopes, RULES_SCOPE)) return
  throw new QuoinError(
    'INSUFFICIENT_PERMISSIONS',
    `Setting who may do what with documents needs the scope ${RULES_SCOPE}.`,
  )
}
