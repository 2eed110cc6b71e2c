import { queryOptions } from '@tanstack/react-query'
import type { OptionSetting } from '../../shared/api/operate/settings.ts'
import { queryClient } from './query-client.ts'
import { call } from './request.ts'

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: ({ signal }) => call<OptionSetting[]>('GET', '/_system/settings', { signal }),
})

export async function setSetting(name: string, value: string): Promise<void> {
  await call('PUT', `/_system/settings/${name}`, { body: { value } })
  await queryClient.invalidateQueries({ queryKey: settingsQuery.queryKey })
}

export async function unsetSetting(name: string): Promise<void> {
  await call('DELETE', `/_system/settings/${name}`)
  await queryClient.invalidateQueries({ queryKey: settingsQuery.queryKey })
}
