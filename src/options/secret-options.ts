import { readSecretKey } from '../records/secrets/secret-keys.ts'
import { list, type OptionGroup, type ReadGroup, type ReadOne } from './option-kinds.ts'

/** Keys of secrets. */
export const secretOptions = {
  secretsKey: {
    variable: 'QUOIN_SECRETS_KEY',
    fallback: '',
    help: 'Key that encrypts secrets, the same on all nodes. Make one with: openssl rand -base64 32. Empty: on the embedded database the file secrets.key in QUOIN_DATA, which the first start makes; on PostgreSQL no secrets.',
    accepts: 'empty, or 32 bytes as base64 or hexadecimal digits',
    secret: true,
    read: (given: string) => (given === '' || readSecretKey(given) ? given : undefined),
  },
  secretsOldKeys: {
    variable: 'QUOIN_SECRETS_OLD_KEYS',
    fallback: '',
    help: 'Further keys that only decrypt secrets, separated by commas, until quoin secret rotate has run.',
    accepts: 'a list of keys as for QUOIN_SECRETS_KEY, separated by commas',
    secret: true,
    read: (given: string) => {
      const keys = list.read(given)
      return keys.every((key) => readSecretKey(key)) ? keys : undefined
    },
  },
} as const satisfies OptionGroup

export function readSecretOptions(read: ReadOne): ReadGroup<typeof secretOptions> {
  return {
    secretsKey: read(secretOptions.secretsKey),
    secretsOldKeys: read(secretOptions.secretsOldKeys),
  }
}
