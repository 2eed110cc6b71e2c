/** The endpoints that a resource block serves, for lists of endpoints. */
import type { BlockContent } from '../blueprint.ts'
import {
  type ResourceHook,
  type ResourceOperation,
  resourceHooks,
  resourceSettingsOf,
  servedOperations,
} from './resource.ts'
import type { ResourcePart, ResourcePlan } from './resource-plan.ts'

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

// Calls of the function that the hooks of a resource are, and what tells them apart.

export function hookCall(
  { hookFunction }: ResourcePlan,
  hook: ResourceHook,
  flow: string,
  input: Readonly<Record<string, string>>,
  at: readonly [number, number],
): ResourcePart {
  return {
    type: 'function_custom_execute',
    in: { flow, function: hookFunction, hook, ...input, user: '=user' },
    fields: { parameters: ['hook', ...Object.keys(input), 'user'] },
    at,
  }
}

/** Behind the function that the hooks are: the way of each. */
export function hookSwitch(hub: string): ResourcePart {
  return {
    type: 'switch',
    in: { flow: `@${hub}.flow`, value: `@${hub}.hook` },
    fields: { cases: [...resourceHooks] },
    at: [1, 14],
  }
}
