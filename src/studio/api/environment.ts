import { queryOptions } from '@tanstack/react-query'
import type { DocumentSearch } from '../../shared/api/documents.ts'
import type { EnvironmentValue } from '../../shared/api/environment.ts'
import { MAX_ENVIRONMENT_VALUES } from '../../shared/environment-name.ts'
import type { JsonValue } from '../../shared/json.ts'
import { queryClient } from './query-client.ts'
import { call, type Page, search } from './request.ts'

const path = '/_system/environment'

export function findEnvironmentValues(
  body: DocumentSearch,
  signal: AbortSignal,
): Promise<Page<EnvironmentValue>> {
  return search<EnvironmentValue>(`${path}/search`, body, signal)
}

export function readEnvironmentValue(guid: string, signal: AbortSignal): Promise<EnvironmentValue> {
  return call<EnvironmentValue>('GET', `${path}/${guid}`, { signal })
}

/** Every value by its name, for the completion of expressions. */
export const environmentQuery = queryOptions({
  queryKey: ['environment', 'all'],
  queryFn: async ({ signal }): Promise<Readonly<Record<string, JsonValue>>> => {
    const { records } = await findEnvironmentValues({ limit: MAX_ENVIRONMENT_VALUES }, signal)
    return Object.fromEntries(records.map(({ name, value }) => [name, value]))
  },
  staleTime: 60_000,
  // A builder may lack the scope.
  retry: false,
})

export interface EnvironmentDraft {
  readonly name: string
  readonly value: JsonValue
  readonly description: string
}

export async function saveEnvironmentValue(
  guid: string | undefined,
  { name, ...rest }: EnvironmentDraft,
): Promise<void> {
  if (guid === undefined) await call('POST', path, { body: { name, ...rest } })
  else await call('PUT', `${path}/${guid}`, { body: rest })
  await forget()
}

export async function removeEnvironmentValue(guid: string): Promise<void> {
  await call('DELETE', `${path}/${guid}`)
  await forget()
}

function forget(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['environment'] })
}
