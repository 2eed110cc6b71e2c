import type { FastifyRequest } from 'fastify'
import { holds } from '../../../access/scopes.ts'
import { RULES_SCOPE } from '../../../records/permissions/subject.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { callerOf } from '../../server/authenticate.ts'

/** Rules that their subjects could lift would be none. Throws INSUFFICIENT_PERMISSIONS. */
export function checkMaySetRules(request: FastifyRequest): void {
  if (holds(callerOf(request).scopes, RULES_SCOPE)) return
  throw new QuoinError(
    'INSUFFICIENT_PERMISSIONS',
    `Setting who may do what with documents needs the scope ${RULES_SCOPE}.`,
  )
}
