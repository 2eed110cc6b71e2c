import { queryOptions } from '@tanstack/react-query'
import type { AgentGrant } from '../../shared/api/people/agents.ts'
import type { ApiKey, ApiKeyInput, ShownApiKey } from '../../shared/api/people/api-keys.ts'
import type { UserSession } from '../../shared/api/people/auth.ts'
import type { AddedPasskey, CreationOptions, Passkeys } from '../../shared/api/people/passkeys.ts'
import type { BegunFactor, RecoveryCodes, SecondFactor } from '../../shared/api/people/second-factors.ts'
import type { LinkedAccount } from '../../shared/api/people/sign-in-providers.ts'
import { makePasskey } from '../sign-in/device.ts'
import { queryClient } from './query-client.ts'
import { call } from './request.ts'
import { saveChanges } from './save-changes.ts'

/** Whose keys, sessions and second factor: `me`, or the guid of a user. */
export type Owner = string

const pathOf = (owner: Owner, what: 'accounts' | 'keys' | 'sessions' | 'second-factor') =>
  `/users/${owner}/${what}`

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

export const accountsQuery = (owner: Owner) =>
  queryOptions({
    queryKey: ['credentials', owner, 'accounts'],
    queryFn: ({ signal }) => call<readonly LinkedAccount[]>('GET', pathOf(owner, 'accounts'), { signal }),
  })

export async function endAccount(owner: Owner, guid: string): Promise<void> {
  await call('DELETE', `${pathOf(owner, 'accounts')}/${guid}`)
  await forget(owner)
}

export const secondFactorQuery = (owner: Owner) =>
  queryOptions({
    queryKey: ['credentials', owner, 'second-factor'],
    queryFn: ({ signal }) => call<SecondFactor>('GET', pathOf(owner, 'second-factor'), { signal }),
  })

/** A secret for an app; {@link addApp} takes a code of it. */
export const beginApp = () => call<BegunFactor>('POST', pathOf('me', 'second-factor'))

/** Gives the recovery codes. */
export async function addApp(challenge: string, code: string): Promise<readonly string[]> {
  const body = { challenge, code }
  const { recovery_codes } = await call<RecoveryCodes>('PUT', pathOf('me', 'second-factor'), { body })
  await forget('me')
  return recovery_codes
}

export async function renewRecoveryCodes(): Promise<readonly string[]> {
  const path = `${pathOf('me', 'second-factor')}/recovery-codes`
  const { recovery_codes } = await call<RecoveryCodes>('POST', path)
  await forget('me')
  return recovery_codes
}

export async function removeSecondFactor(owner: Owner): Promise<void> {
  await call('DELETE', pathOf(owner, 'second-factor'))
  await forget(owner)
}

const PASSKEYS = '/users/me/passkeys'

export const passkeysQuery = queryOptions({
  queryKey: ['credentials', 'me', 'passkeys'],
  queryFn: ({ signal }) => call<Passkeys>('GET', PASSKEYS, { signal }),
})

/** Has this device make one. Gives recovery codes with the first factor. */
export async function addPasskey(name: string): Promise<readonly string[]> {
  const passkey = await makePasskey(await call<CreationOptions>('POST', `${PASSKEYS}/options`))
  const { recovery_codes = [] } = await call<AddedPasskey>('POST', PASSKEYS, { body: { name, passkey } })
  await forget('me')
  return recovery_codes
}

export async function renamePasskey(guid: string, name: string): Promise<void> {
  await call('PUT', `${PASSKEYS}/${guid}`, { body: { name } })
  await forget('me')
}

export async function removePasskey(guid: string): Promise<void> {
  await call('DELETE', `${PASSKEYS}/${guid}`)
  await forget('me')
}

export async function createKey(owner: Owner, body: ApiKeyInput): Promise<ShownApiKey> {
  const made = await call<ShownApiKey>('POST', pathOf(owner, 'keys'), { body })
  await forget(owner)
  return made
}

/** Changes what differs from what the form showed. */
export async function updateKey(
  owner: Owner,
  key: ApiKey,
  sent: ApiKeyInput,
  shown: ApiKeyInput,
): Promise<void> {
  const { guid } = key._meta
  await saveChanges<ApiKey>(`${pathOf(owner, 'keys')}/${guid}`, sent, shown, {
    read: async () => {
      const keys = await call<readonly ApiKey[]>('GET', pathOf(owner, 'keys'))
      return keys.find(({ _meta }) => _meta.guid === guid) ?? key
    },
    // A lifetime in days begins when it is saved.
    shownOf: ({ expiry: _, ...stored }) => stored,
  })
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

export const agentsQuery = queryOptions({
  queryKey: ['credentials', 'me', 'agents'],
  queryFn: ({ signal }) => call<readonly AgentGrant[]>('GET', '/users/me/agents', { signal }),
})

export async function endAgent(guid: string): Promise<void> {
  await call('DELETE', `/users/me/agents/${guid}`)
  await forget('me')
}

/** Of the calling user all others. */
export async function endSessions(owner: Owner): Promise<void> {
  await call('DELETE', pathOf(owner, 'sessions'))
  await forget(owner)
}

function forget(owner: Owner): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['credentials', owner] })
}
