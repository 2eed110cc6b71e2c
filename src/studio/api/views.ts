import { queryOptions } from '@tanstack/react-query'
import type { ViewRecord } from '../../shared/api/data/views.ts'
import { queryClient } from './query-client.ts'
import { call } from './request.ts'

const pathOf = (storage: string) => `/_system/storages/${storage}/views`

export const viewsQuery = (storage: string) =>
  queryOptions({
    queryKey: ['views', storage],
    queryFn: ({ signal }) => call<readonly ViewRecord[]>('GET', pathOf(storage), { signal }),
  })

interface ViewFields {
  readonly name?: string
  readonly shared?: boolean
  readonly address?: string
}

/** Changes the view, or saves a new one if there is no guid. */
export async function saveView(storage: string, guid: string, fields: ViewFields): Promise<ViewRecord> {
  const saved = await (guid === ''
    ? call<ViewRecord>('POST', pathOf(storage), { body: fields })
    : call<ViewRecord>('PUT', `${pathOf(storage)}/${guid}`, { body: fields }))
  await queryClient.invalidateQueries({ queryKey: ['views', storage] })
  return saved
}

export async function removeView(storage: string, guid: string): Promise<void> {
  await call('DELETE', `${pathOf(storage)}/${guid}`)
  await queryClient.invalidateQueries({ queryKey: ['views', storage] })
}
