/** The endpoints that a resource block serves, for lists of endpoints. */
import type { BlockContent } from '../blueprint.ts'
import { type ResourceOperation, resourceSettingsOf, servedOperations } from './resource.ts'

interface ResourceEndpoint {
  readonly method: string
  readonly uri: string
  readonly scopes: readonly string[]
}

const methods: Readonly<Record<ResourceOperation, string>> = {
  list: 'GET',
  read: 'GET',
  create: 'POST',
  change: 'PUT',
  remove: 'DELETE',
}

/** None while it has no address. */
export function resourceEndpoints({
  in_pins,
  fields,
  scopes,
}: Pick<BlockContent, 'in_pins' | 'fields' | 'scopes'>): readonly ResourceEndpoint[] {
  const uri = in_pins.find(({ id }) => id === 'uri')?.value
  if (typeof uri !== 'string' || uri.trim() === '') return []
  const { operations, write_scopes: writeScopes } = resourceSettingsOf(fields)
  const base = uri.trim().replace(/^\/+/, '')
  return [...servedOperations(operations)].map((operation) => {
    const reads = operation === 'list' || operation === 'read'
    return {
      method: methods[operation],
      uri: operation === 'list' || operation === 'create' ? base : `${base}/{guid}`,
      scopes: reads || writeScopes.length === 0 ? scopes : writeScopes,
    }
  })
}
