import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase } from '../../../test/test-database.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import { documentGuid } from './document-queries.ts'
import getDocument from './function_get_document.ts'

let database: Database
let close: () => Promise<void>
let present: StoredJson
let removed: string

beforeAll(async () => {
  ;({ database, close } = await openTestDatabase())
  await database.ensure('tasks')
  await database.ensure('notes')
  const session = database.session()
  present = await session.create('tasks', [{ op: 'set', field: 'title', value: 'a' }])
  removed = guidOf(await session.create('tasks', [{ op: 'set', field: 'title', value: 'b' }]))
  await session.setRemoved('tasks', removed, true)
  await session.transaction.commit()
})

afterAll(() => close())

function guidOf(document: StoredJson): string {
  return documentGuid({ guid: undefined, document: documentOf(document) })
}

function get(inputs: Readonly<Record<string, unknown>>) {
  return runBlock(getDocument, { session: database.session(), inputs })
}

describe('function_get_document', () => {
  test.each([
    ['no storage', { guid: 'x' }, 'storage', /is empty/],
    ['a storage of the cluster', { storage: '_token', guid: 'x' }, 'storage', /starts with _/],
    ['no guid', { storage: 'tasks' }, 'guid', /is empty/],
    ['an empty guid', { storage: 'tasks', guid: '' }, 'guid', /is empty/],
    ['a list of guids', { storage: 'tasks', guid: ['a', 'b'] }, 'guid', /must be text/],
  ])('refuses %s', async (_name, inputs, pin, message) => {
    const error = await get(inputs).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'PinError', pin, message: expect.stringMatching(message) })
  })

  test.each([
    ['an unknown guid', () => '0190f2a0-0000-7000-8000-000000000000'],
    ['something that is no guid', () => "x' OR 1=1 --"],
    ['a removed document', () => removed],
    ['a guid in upper case', () => guidOf(present).toUpperCase()],
  ])('takes not_found for %s', async (_name, guid) => {
    const { outputs, next } = await get({ storage: 'tasks', guid: guid() })
    expect({ outputs, next }).toEqual({ outputs: {}, next: 'not_found' })
  })

  test('does not look into other storages', async () => {
    expect((await get({ storage: 'notes', guid: guidOf(present) })).next).toBe('not_found')
  })

  test('gives the document as it is stored', async () => {
    const { outputs, next } = await get({ storage: 'tasks', guid: guidOf(present) })
    expect({ outputs, next }).toEqual({ outputs: { document: present }, next: 'flow' })
  })
})
