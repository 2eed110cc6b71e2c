import type { SecretRecord } from '../../shared/api/operate/secrets.ts'
import { MAX_SECRETS } from '../../shared/names/secret-name.ts'
import { namedRecords } from './named-records.ts'

export const secrets = namedRecords<SecretRecord>('/_system/secrets', 'secrets', MAX_SECRETS)
