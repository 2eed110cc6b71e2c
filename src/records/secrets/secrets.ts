/**
 * Secrets: named texts of the cluster, encrypted wherever they are stored or copied. Only pins of the type `secret` use
 * them. Each process has the encrypted texts in memory; one is decrypted when a block uses it (4 µs for 40
 * bytes, 33 µs for 16 KiB), and not kept.
 */

import { createCipheriv, createDecipheriv } from 'node:crypto'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { Random } from '../../shared/guid.ts'
import type { JsonObject } from '../../shared/json.ts'
import { MAX_SECRET_BYTES, MAX_SECRETS } from '../../shared/names/stored-names.ts'
import type { Database } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { type NamedRecords, openNamedRecords } from '../named-records.ts'
import type { Actor } from '../records.ts'
import type { KeySource, SecretKey, SecretKeys } from './signing-secret.ts'

// Where the text of a secret may be sent: a list of hosts.

const PORT = /:(\d{1,5})$/

/** Hosts as they are stored: lower case, each once. Throws INVALID_BODY for what is no `host` and no `host:port`. */
function secretHosts(inputs: readonly string[]): string[] {
  const hosts = inputs.map((entry) => {
    const host = writtenHost(entry.trim())
    if (host !== undefined) return host
    throw invalidField(
      'hosts',
      `hosts must hold names such as api.example.com or api.example.com:8443, without scheme, path and *; got ${JSON.stringify(entry)}.`,
    )
  })
  return [...new Set(hosts)]
}

/** An entry without a port is for 443 and 80, as addresses without one. `hosts`: undefined for no list. */
function mayBeSentTo(hosts: readonly string[] | undefined, url: URL): boolean {
  if (hosts === undefined) return true
  const name = url.hostname.replace(/\.$/, '')
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return hosts.includes(`${name}:${port}`) || (url.port === '' && hosts.includes(name))
}

function writtenHost(entry: string): string | undefined {
  if (entry === '' || /[\s/\\@?#*%]/.test(entry)) return undefined
  const port = PORT.exec(entry)?.[1]
  const name = port === undefined ? entry : entry.slice(0, -port.length - 1)
  const url = URL.parse(`https://${name}`)
  if (url?.port !== '' || name.endsWith(':') || (port !== undefined && !isPort(port))) return undefined
  return url.hostname.replace(/\.$/, '') + (port === undefined ? '' : `:${Number(port)}`)
}

function isPort(text: string): boolean {
  return Number(text) >= 1 && Number(text) <= 65_535
}

// A text that only the holder of a key reads: AES-256-GCM, written `v1.<key>.<base64url of nonce, tag and cipher text>`.
// The name of the record is part of what the tag covers, so that the sealed text of one record opens in no other.

const NONCE = 12
const TAG = 16
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/

export function seal(key: SecretKey, name: string, text: string, random: Random): string {
  // With random nonces GCM is safe for 2^32 texts of one key; a cluster holds 1,000.
  const nonce = new Uint8Array(NONCE)
  random(nonce)
  const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: TAG })
  cipher.setAAD(boundTo(name))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return `v1.${key.id}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`
}

/** The id of the key that sealed it. Undefined for what is no sealed text. */
export function sealedBy(sealed: string): string | undefined {
  return SEALED.exec(sealed)?.[1]
}

/** Undefined with another key, under another name, and for a text that was changed. */
export function unseal(key: SecretKey, name: string, sealed: string): string | undefined {
  const [, id, written = ''] = SEALED.exec(sealed) ?? []
  const bytes = Buffer.from(written, 'base64url')
  if (id !== key.id || bytes.byteLength < NONCE + TAG) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, NONCE), {
    authTagLength: TAG,
  })
  decipher.setAAD(boundTo(name))
  decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

function boundTo(name: string): Buffer {
  return Buffer.from(`quoin secret ${name}`)
}

export interface SecretInput {
  readonly name: string
  readonly value: string
  readonly description?: string
  /** Where it may be sent; an empty list: nowhere, null: no list. */
  readonly hosts?: readonly string[] | null
}

/** The text, or why there is none, in words that finish "<pin> …". */
export type Opened = { readonly value: string } | { readonly problem: string }

export interface Secrets {
  /** Of those that are set, in no order. */
  names(): readonly string[]
  /** `to`: where it would be sent; undefined where it stays here, such as for a comparison. */
  open(name: string, to?: URL): Opened
  guidOf(name: string): string | undefined
  /** The record as it is shown: without the encrypted text, and whether this node can decrypt it. */
  shown(record: JsonObject): JsonObject
  /** Where the key comes from, and where there is none what to do. */
  key(): { readonly source: KeySource; readonly problem: string | null }
  /** What an operator should know at the start, in one line. */
  problem(): string | undefined
  /** Whether the secret is set and has no list of hosts. */
  goesAnywhere(name: string): boolean
  /** UNAVAILABLE without a key; CONFLICT for a name that is taken, or when there are too many. */
  create(input: SecretInput, by: Actor): Promise<JsonObject>
  get(guid: string): Promise<JsonObject>
  update(guid: string, changes: Partial<Omit<SecretInput, 'name'>>, by: Actor): Promise<JsonObject>
  remove(guid: string, by: Actor): Promise<void>
  /** Encrypts with the present key what another key has encrypted. */
  rotate(by: Actor): Promise<{ readonly rotated: number; readonly unreadable: number }>
  close(): void
}

export async function openSecrets(database: Database, keys: SecretKeys, random: Random): Promise<Secrets> {
  const records = await openNamedRecords(database, {
    storage: systemStorages.secrets,
    noun: 'secret',
    most: MAX_SECRETS,
  })
  const sealed = (name: string, value: string) => {
    const bytes = Buffer.byteLength(value)
    if (bytes > MAX_SECRET_BYTES)
      throw invalidField('value', `The value has ${bytes} bytes; at most ${MAX_SECRET_BYTES} are stored.`)
    if (!value.isWellFormed()) throw invalidField('value', 'The value must be whole Unicode text.')
    return seal(present(keys), name, value, random)
  }
  const unsealed = (record: JsonObject) => openRecord(keys, record)

  return {
    names: () => [...records.present().keys()],
    open(name, to) {
      const record = records.present().get(name)
      const problem = problemOf(name, record, to)
      return record && problem === undefined ? unsealed(record) : { problem: problem ?? '' }
    },
    guidOf(name) {
      const record = records.present().get(name)
      return record && guidOf(record)
    },
    shown: ({ sealed: _sealed, ...record }) => ({
      ...record,
      hosts: record.hosts ?? null,
      readable: 'value' in unsealed({ ...record, sealed: _sealed ?? '' }),
    }),
    key: () => ({ source: keys.source, problem: keys.current ? null : keys.missing }),
    problem: () => unreadableProblem(keys, [...records.present().values()]),
    goesAnywhere: (name) => goesAnywhere(records.present().get(name)),
    async create({ name, value, description = '', hosts = null }, by) {
      return records.create({ name, sealed: sealed(name, value), description, hosts: stored(hosts) }, by)
    },
    get: records.get,
    async update(guid, { value, description, hosts }, by) {
      const list = hosts === undefined ? hosts : stored(hosts)
      return records.update(
        guid,
        ({ name }) => ({
          description,
          hosts: list,
          sealed: value === undefined ? undefined : sealed(textIn(name), value),
        }),
        by,
      )
    },
    remove: records.remove,
    rotate: (by) => rotate(records, { keys, random, by }),
    close: records.close,
  }
}

interface Rotation {
  readonly keys: SecretKeys
  readonly random: Random
  readonly by: Actor
}

async function rotate(records: NamedRecords, { keys, random, by }: Rotation) {
  const key = present(keys)
  let rotated = 0
  let unreadable = 0
  for (const record of records.present().values()) {
    if (sealedBy(textIn(record.sealed)) === key.id) continue
    if ('problem' in openRecord(keys, record)) {
      unreadable += 1
      continue
    }
    // By what it holds then: another user may have set it meanwhile.
    await records.update(guidOf(record), (now) => sealedAgain(keys, now, key, random), by)
    rotated += 1
  }
  return { rotated, unreadable }
}

function unreadableProblem(keys: SecretKeys, all: readonly JsonObject[]): string | undefined {
  const unreadable = all.filter((record) => 'problem' in openRecord(keys, record)).length
  if (unreadable === 0) return undefined
  const count = `${unreadable} of ${all.length} secrets`
  return keys.current === undefined
    ? `${count} cannot be decrypted: ${keys.missing} Blocks that use them fail.`
    : `${count} cannot be decrypted: they were encrypted with another key than ${placeOf(keys)}. Blocks that use them fail. Add that key to QUOIN_SECRETS_OLD_KEYS.`
}

function goesAnywhere(record: JsonObject | undefined): boolean {
  return record !== undefined && hostsOf(record) === undefined
}

/** In words that finish "<pin> …". */
function problemOf(name: string, record: JsonObject | undefined, to: URL | undefined): string | undefined {
  if (!record) return `names the secret ${name}, which is not set. Set it: quoin secret set ${name}`
  if (!to || mayBeSentTo(hostsOf(record), to)) return undefined
  return `names the secret ${name}, which may not be sent to ${to.host}: its list of hosts does not have it`
}

function stored(hosts: readonly string[] | null): string[] | null {
  return hosts && secretHosts(hosts)
}

/** Undefined for no list, which is what secrets of earlier versions have. */
function hostsOf({ hosts }: JsonObject): readonly string[] | undefined {
  return Array.isArray(hosts) ? hosts.map(textIn) : undefined
}

function placeOf({ source }: SecretKeys): string {
  return source === 'file' ? 'that of the file secrets.key' : 'QUOIN_SECRETS_KEY'
}

function present({ current, missing }: SecretKeys): SecretKey {
  if (current) return current
  throw new QuoinError('UNAVAILABLE', `Secrets cannot be set: ${missing}`)
}

function sealedAgain(keys: SecretKeys, record: JsonObject, key: SecretKey, random: Random) {
  const opened = openRecord(keys, record)
  return 'value' in opened ? { sealed: seal(key, textIn(record.name), opened.value, random) } : {}
}

function openRecord(keys: SecretKeys, record: JsonObject): Opened {
  const { current, all, missing } = keys
  const [name, sealed] = [textIn(record.name), textIn(record.sealed)]
  const id = sealedBy(sealed) ?? ''
  const key = all.get(id)
  const cannot = `names the secret ${name}, which cannot be decrypted`
  if (!key)
    return {
      problem: current
        ? `${cannot}: it was encrypted with another key than ${placeOf(keys)}. Add that key to QUOIN_SECRETS_OLD_KEYS`
        : `${cannot}: ${missing.replace(/\.$/, '')}`,
    }
  const value = unseal(key, name, sealed)
  return value === undefined
    ? {
        problem: `${cannot}: what is stored was changed, or belongs to another name. Set it again: quoin secret set ${name}`,
      }
    : { value }
}
