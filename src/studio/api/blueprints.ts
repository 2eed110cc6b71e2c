import { queryOptions } from '@tanstack/react-query'
import type { BlockRecord } from '../../shared/api/blueprints/blueprint-actions.ts'
import type { Blueprint, DeployAction, Explanation } from '../../shared/api/blueprints/blueprints.ts'
import { RESOURCE_TYPE } from '../../shared/resource/resource.ts'
import { resourceEndpoints } from '../../shared/resource/resource-endpoints.ts'
import { savedPage } from './deployed-pages.ts'
import { queryClient } from './query-client.ts'
import { call, search } from './request.ts'

/** After anything that changes a blueprint or its blocks. */
export function forgetBlueprints(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['blueprints'] })
}

/** Guid → name. A user may lack the scope: then there are none. */
export const blueprintNamesQuery = queryOptions({
  queryKey: ['blueprints', 'names'],
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
    const { records } = await search<Blueprint>('/blueprints/search', { limit: 1000 }, signal)
    return new Map(records.map(({ _meta, name }) => [_meta.guid, name]))
  },
  retry: false,
})

/** Guids of those that answer. */
export const activeBlueprintsQuery = queryOptions({
  queryKey: ['blueprints', 'active'],
  queryFn: async ({ signal }): Promise<ReadonlySet<string>> => {
    const body = { filters: { active: true }, limit: 1000 }
    const { records } = await search<Blueprint>('/blueprints/search', body, signal)
    return new Set(records.map(({ _meta }) => _meta.guid))
  },
  retry: false,
})

/** The blocks that wait to be saved, in all blueprints. */
export const stagedQuery = queryOptions({
  queryKey: ['blueprints', 'staged'],
  queryFn: async ({ signal }) => {
    const body = { filters: { 'unsaved.change': { exists: true } }, limit: 1000 }
    const { records } = await search<BlockRecord>('/blueprintactions/search', body, signal)
    return Map.groupBy(records, (block) => block.blueprint_guid)
  },
})

const triggerTypes = {
  on_startup_register_uri_get: 'GET',
  on_startup_register_uri_post: 'POST',
  on_startup_register_uri_put: 'PUT',
  on_startup_register_uri_patch: 'PATCH',
  on_startup_register_uri_delete: 'DELETE',
  on_startup_register_uri_any: 'ANY',
} as const

export interface Endpoint {
  readonly method: string
  /** Below `/api/v1`, as the builder wrote it; empty where a wire gives it. */
  readonly uri: string
  readonly block: string
}

/** The saved endpoints of all blueprints. */
export const endpointsQuery = queryOptions({
  queryKey: ['blueprints', 'endpoints'],
  queryFn: async ({ signal }) => {
    const body = { filters: { type: [...Object.keys(triggerTypes), RESOURCE_TYPE] }, limit: 1000 }
    const { records } = await search<BlockRecord>('/blueprintactions/search', body, signal)
    return Map.groupBy(records.flatMap(endpointsOf), ({ blueprint }) => blueprint)
  },
})

function endpointsOf(block: BlockRecord): readonly (Endpoint & { readonly blueprint: string })[] {
  const place = { block: block._meta.guid, blueprint: block.blueprint_guid }
  if (block.type === RESOURCE_TYPE)
    return resourceEndpoints(block).map(({ method, uri }) => ({ method, uri, ...place }))
  const uri = block.in_pins.find(({ id }) => id === 'uri')?.value
  const methods: Readonly<Record<string, string>> = triggerTypes
  return [{ method: methods[block.type] ?? '', uri: typeof uri === 'string' ? uri : '', ...place }]
}

/** The saved pages of all blueprints. */
export const pagesQuery = queryOptions({
  queryKey: ['blueprints', 'pages'],
  queryFn: async ({ signal }) => {
    const body = { filters: { type: ['state_page'] }, limit: 1000 }
    const { records } = await search<BlockRecord>('/blueprintactions/search', body, signal)
    return Map.groupBy(records.map(savedPage), ({ blueprint }) => blueprint)
  },
})

/** The saved schedules of all blueprints; both texts are empty where a wire or a moment starts one. */
export const timersQuery = queryOptions({
  queryKey: ['blueprints', 'timers'],
  queryFn: async ({ signal }) => {
    const body = { filters: { type: ['schedule_repeating_event'] }, limit: 1000 }
    const { records } = await search<BlockRecord>('/blueprintactions/search', body, signal)
    const timers = records.map(({ _meta, blueprint_guid: blueprint, in_pins }) => {
      const text = (pin: string) => String(in_pins.find(({ id }) => id === pin)?.value ?? '')
      return { block: _meta.guid, blueprint, cron: text('cron'), every: text('every') }
    })
    return Map.groupBy(timers, ({ blueprint }) => blueprint)
  },
})

/** The saved functions of all blueprints. */
export const functionsQuery = queryOptions({
  queryKey: ['blueprints', 'functions'],
  queryFn: async ({ signal }) => {
    const body = { filters: { type: ['trigger_custom_function'] }, limit: 1000 }
    const { records } = await search<BlockRecord>('/blueprintactions/search', body, signal)
    return records.flatMap(({ _meta, blueprint_guid: blueprint, fields: { name } }) =>
      typeof name === 'string' && name !== '' ? [{ name, blueprint, block: _meta.guid }] : [],
    )
  },
})

/** What deploying would change. As fresh as the saved pages: with an older one a page would have its saved address for the deployed one. */
export const pendingQuery = (guid: string) =>
  queryOptions({
    queryKey: ['blueprints', 'pending', guid],
    queryFn: ({ signal }) => call<DeployAction[]>('GET', `/blueprints/deploy/${guid}/actions`, { signal }),
  })

export async function setActive(guid: string, active: boolean): Promise<void> {
  await call('PUT', `/blueprints/update/set/${active ? 'active' : 'inactive'}/${guid}`)
  await forgetBlueprints()
}

export function explain(method: string, path: string, user: string): Promise<Explanation> {
  const body = { method, path, ...(user === '' ? {} : { user }) }
  return call<Explanation>('POST', '/blueprints/explain', { body })
}
