/**
 * The key that encrypts secrets. Where QUOIN_SECRETS_KEY sets none, the embedded database has one in a file beside it, made at the first
 * start. The file is in no backup. Nodes on PostgreSQL have no folder in common, so there the key comes from the environment.
 */
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Options } from '../options/options.ts'
import { readSecretKey, type SecretKeys, secretKeys } from '../records/secrets/signing-secret.ts'
import type { Random } from '../shared/guid.ts'
import { matchAll } from '../shared/query.ts'
import type { Database } from '../storage/database.ts'
import { systemStorages } from '../storage/system-storages.ts'

export const SECRETS_KEY_FILE = 'secrets.key'

const ENVIRONMENT =
  'QUOIN_SECRETS_KEY is not set. Make a key with openssl rand -base64 32, and start every node with it.'

export async function openSecretKeys(
  { data, databaseUrl, secretsKey, secretsOldKeys: former }: Options,
  database: Database,
  random: Random,
): Promise<SecretKeys> {
  if (databaseUrl !== '')
    return secretKeys(
      secretsKey,
      former,
      secretsKey === '' ? { source: 'none', missing: ENVIRONMENT } : undefined,
    )
  const file = join(data, SECRETS_KEY_FILE)
  const known = await textOf(file)
  // The environment overrides the file, whose key still decrypts.
  if (secretsKey !== '') return secretKeys(secretsKey, known === undefined ? former : [...former, known])
  if (known !== undefined && readSecretKey(known)) return secretKeys(known, former, { source: 'file' })
  const missing = known === undefined ? await problemOf(file, database) : `${file} holds no key.`
  if (missing !== undefined) return secretKeys('', former, { source: 'none', missing })
  return secretKeys(await makeFile(file, random), former, { source: 'file' })
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Stored secrets have a key of their own: another one would only hide that it is missing. */
async function problemOf(file: string, database: Database): Promise<string | undefined> {
  await database.ensure(systemStorages.secrets, {})
  await database.ensure(systemStorages.users, {})
  const session = database.session()
  const factors = await session.count(systemStorages.users, { kind: 'exists', field: 'totp_secret' })
  const stored = factors + (await session.count(systemStorages.secrets, matchAll))
  if (stored === 0) return undefined
  return `The key of ${stored} stored secrets is missing. Copy it to ${file}, or start with it as QUOIN_SECRETS_KEY.`
}

/** Of two processes that start at once, the database lets in one. */
async function makeFile(file: string, random: Random): Promise<string> {
  const bytes = new Uint8Array(32)
  random(bytes)
  const key = Buffer.from(bytes).toString('base64')
  const opened = await open(file, 'wx', 0o600)
  try {
    await opened.writeFile(`${key}\n`)
    await opened.sync()
  } finally {
    await opened.close()
  }
  return key
}
