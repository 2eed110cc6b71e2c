/** Short ways to write down what the chapters do and expect. */
import { expect } from 'vitest'
import type { ErrorCode } from '../../src/shared/errors.ts'
import { QuoinError } from '../../src/shared/errors.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import type { Meta } from '../../src/shared/meta.ts'
import type { Mutation } from '../../src/shared/mutation.ts'
import { type Database, documentOf, type Session, type Written } from '../../src/storage/database.ts'
import type { StoredJson } from '../../src/storage/stored-json.ts'
import { transact } from '../../src/storage/transact.ts'

export function set(fields: JsonObject): Mutation[] {
  return Object.entries(fields).map(([field, value]) => ({ op: 'set', field, value }))
}

/** The document's envelope as the engine under test wrote it, whole and of the right types. */
export function metaOf(stored: StoredJson): Meta {
  const { _meta } = documentOf(stored)
  if (!isMeta(_meta)) throw new TypeError(`No envelope: ${JSON.stringify(_meta)}`)
  return _meta
}

const metaFields: Readonly<Record<keyof Meta, 'string' | 'number'>> = {
  guid: 'string',
  entity: 'number',
  created: 'number',
  updated: 'number',
  cms: 'number',
  ums: 'number',
  removed: 'number',
  expiry: 'number',
  update_hash: 'string',
}

function isMeta(value: unknown): value is Meta {
  if (typeof value !== 'object' || value === null) return false
  const input = new Map<string, unknown>(Object.entries(value))
  return Object.entries(metaFields).every(([field, type]) => typeof input.get(field) === type)
}

/** The document without `_meta`. */
export function bodyOf(stored: StoredJson | undefined): JsonObject | undefined {
  if (stored === undefined) return undefined
  const { _meta, ...body } = documentOf(stored)
  return body
}

/** Creates one document and commits. Gives its guid. */
export async function create(database: Database, name: string, fields: JsonObject): Promise<string> {
  const stored = await transact(database, (session) => session.create(name, set(fields)))
  return metaOf(stored).guid
}

/** Does one write and commits. */
export function change(
  database: Database,
  work: (session: Session) => Written | Promise<Written>,
): Promise<Written> {
  return transact(database, work)
}

/** What is committed: the body, or undefined. */
export async function stored(
  database: Database,
  name: string,
  guid: string,
): Promise<JsonObject | undefined> {
  return bodyOf(await database.session().get(name, guid))
}

/** The error that `work` ends with, which must be ours with this code and carry nothing that a client may not see. */
export async function failure(code: ErrorCode, work: () => unknown): Promise<QuoinError> {
  let error: unknown
  try {
    await work()
  } catch (thrown) {
    error = thrown
  }
  expect(error, `should fail with ${code}`).toBeInstanceOf(QuoinError)
  if (!(error instanceof QuoinError)) throw new Error('unreachable')
  expect(error.code).toBe(code)
  return error
}

/** Lets everything that is ready run, three times over. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}
