import { queryOptions } from '@tanstack/react-query'
import type { SecretKeyState, SecretRecord } from '../../shared/api/operate/secrets.ts'
import { MAX_SECRETS } from '../../shared/names/stored-names.ts'
import { namedRecords } from './named-records.ts'
import { call } from './request.ts'

export const secrets = namedRecords<SecretRecord>('/_system/secrets', 'secrets', MAX_SECRETS)

/** Whether secrets can be set: said before a value is typed. */
export const secretKeyQuery = queryOptions({
  queryKey: ['secret-key'],
  queryFn: ({ signal }) => call<SecretKeyState>('GET', `${secrets.path}/key`, { signal }),
  staleTime: 60_000,
  retry: false,
})
