import { queryOptions } from '@tanstack/react-query'
import type { DocumentSearch } from '../../shared/api/documents.ts'
import type { SecretRecord } from '../../shared/api/secrets.ts'
import { MAX_SECRETS } from '../../shared/secret-name.ts'
import { queryClient } from './query-client.ts'
import { call, type Page, search } from './request.ts'

const path = '/_system/secrets'

export function findSecrets(body: DocumentSearch, signal: AbortSignal): Promise<Page<SecretRecord>> {
  return search<SecretRecord>(`${path}/search`, body, signal)
}

export function readSecretRecord(guid: string, signal: AbortSignal): Promise<SecretRecord> {
  return call<SecretRecord>('GET', `${path}/${guid}`, { signal })
}

/** Every name, for pins of the type secret. */
export const secretNamesQuery = queryOptions({
  queryKey: ['secrets', 'names'],
  queryFn: async ({ signal }): Promise<readonly string[]> => {
    const { records } = await findSecrets({ limit: MAX_SECRETS }, signal)
    return records.map(({ name }) => name).sort()
  },
  staleTime: 60_000,
  // A builder may lack the scope.
  retry: false,
})

export interface SecretDraft {
  readonly name: string
  /** Empty: as it is. */
  readonly value: string
  readonly description: string
}

export async function saveSecret(
  guid: string | undefined,
  { name, value, description }: SecretDraft,
): Promise<void> {
  if (guid === undefined) await call('POST', path, { body: { name, value, description } })
  else await call('PUT', `${path}/${guid}`, { body: { description, ...(value !== '' && { value }) } })
  await forget()
}

export async function removeSecret(guid: string): Promise<void> {
  await call('DELETE', `${path}/${guid}`)
  await forget()
}

function forget(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['secrets'] })
}
