import { queryOptions } from '@tanstack/react-query'
import type { BackupsState } from '../../shared/api/operate/backups.ts'
import { queryClient } from './query-client.ts'
import { call } from './request.ts'

const BASE = '/_system/backups'

export const backupsQuery = queryOptions({
  queryKey: ['backups'],
  queryFn: ({ signal }) => call<BackupsState>('GET', BASE, { signal }),
  // Quickly while something runs, so that a person sees how far it is.
  refetchInterval: ({ state }) => (state.data?.running ? 500 : 10_000),
})

async function change(method: 'POST' | 'DELETE', path: string): Promise<void> {
  await call(method, `${BASE}${path}`)
  await queryClient.invalidateQueries({ queryKey: backupsQuery.queryKey })
}

export const makeBackup = () => change('POST', '')
export const checkBackup = (name: string) => change('POST', `/${name}/check`)
export const restoreBackup = (name: string) => change('POST', `/${name}/restore`)
export const removeBackup = (name: string) => change('DELETE', `/${name}`)
export const removeRestored = (name: string) => change('DELETE', `/restored/${name}`)
/** The browser asks with the cookie of the session, and writes the file while it comes. */
export const backupFile = (name: string) => `/api/v1${BASE}/${name}/download`
export const cancelBackup = () => change('DELETE', '/running')
