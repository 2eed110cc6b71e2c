import { queryOptions } from '@tanstack/react-query'
import type { ApiKey, ApiKeyInput, ShownApiKey } from '../../shared/api/people/api-keys.ts'
import type { UserSession } from '../../shared/api/people/sessions.ts'
import { queryClient } from './query-client.ts'
import { call } from './request.ts'

/** Whose keys and sessions: `me`, or the guid of a user. */
export type Owner = string

const pathOf = (owner: Owner, what: 'keys' | 'sessions') => `/users/${owner}/${what}`

export const apiKeysQuery = (owner: Owner) =>
  queryOptions({
    queryKey: ['credentials', owner, 'keys'],
    queryFn: ({ signal }) => call<readonly ApiKey[]>('GET', pathOf(owner, 'keys'), { signal }),
  })

export const sessionsQuery = (owner: Owner) =>
  queryOptions({
    queryKey: ['credentials', owner, 'sessions'],
    queryFn: ({ signal }) => call<readonly UserSession[]>('GET', pathOf(owner, 'sessions'), { signal }),
  })

export async function createKey(owner: Owner, body: ApiKeyInput): Promise<ShownApiKey> {
  const made = await call<ShownApiKey>('POST', pathOf(owner, 'keys'), { body })
  await forget(owner)
  return made
}

/** Changes what is given. */
export async function updateKey(owner: Owner, guid: string, body: Partial<ApiKeyInput>): Promise<void> {
  await call('PUT', `${pathOf(owner, 'keys')}/${guid}`, { body })
  await forget(owner)
}

/** `overlap`: seconds for which the secret of before stays valid. */
export async function rotateKey(owner: Owner, guid: string, overlap: number): Promise<ShownApiKey> {
  const body = { overlap }
  const made = await call<ShownApiKey>('POST', `${pathOf(owner, 'keys')}/${guid}/rotate`, { body })
  await forget(owner)
  return made
}

export async function removeKey(owner: Owner, guid: string): Promise<void> {
  await call('DELETE', `${pathOf(owner, 'keys')}/${guid}`)
  await forget(owner)
}

export async function endSession(owner: Owner, guid: string): Promise<void> {
  await call('DELETE', `${pathOf(owner, 'sessions')}/${guid}`)
  await forget(owner)
}

/** Of the calling user all others. */
export async function endSessions(owner: Owner): Promise<void> {
  await call('DELETE', pathOf(owner, 'sessions'))
  await forget(owner)
}

function forget(owner: Owner): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['credentials', owner] })
}
