import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase } from '../../../test/test-database.ts'
import type { JsonObject } from '../../shared/json.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { documentGuid } from './document-queries.ts'
import deleteDocument from './function_delete_document.ts'

let database: Database
let close: () => Promise<void>
let session: Session
let document: JsonObject
let guid: string

beforeAll(async () => {
  ;({ database, close } = await openTestDatabase())
  await database.ensure('tasks')
})

beforeEach(async () => {
  session = database.session()
  document = documentOf(await session.create('tasks', [{ op: 'set', field: 'title', value: 'a' }]))
  guid = documentGuid({ guid: undefined, document })
  await session.transaction.commit()
})

afterAll(() => close())

function deletes(inputs: Readonly<Record<string, unknown>>) {
  return runBlock(deleteDocument, { session, inputs: { storage: 'tasks', ...inputs } })
}

async function stored(): Promise<JsonObject | undefined> {
  const found = await database.session().get('tasks', guid, { removed: true })
  return found && documentOf(found)
}

describe('function_delete_document', () => {
  test.each([
    ['neither guid nor document', () => ({}), { pin: 'guid', message: 'is empty' }],
    ['an empty guid', () => ({ guid: '' }), { pin: 'guid', message: 'is empty' }],
    ['a document that is not stored', () => ({ document: { title: 'a' } }), { pin: 'document' }],
    ['a storage of the cluster', () => ({ guid, storage: '_user' }), { pin: 'storage' }],
    ['no storage', () => ({ guid, storage: undefined }), { pin: 'storage', message: 'is empty' }],
  ])('refuses %s and leaves the document', async (_name, inputs, error) => {
    await expect(deletes(inputs())).rejects.toMatchObject(error)
    await session.transaction.commit()
    expect(await stored()).toEqual(document)
  })

  test('takes not_found for an unknown guid', async () => {
    const { outputs, next } = await deletes({ guid: '0190f2a0-0000-7000-8000-000000000000' })
    expect({ outputs, next }).toEqual({ outputs: {}, next: 'not_found' })
  })

  test.each([
    ['guid', () => ({ guid })],
    ['document', () => ({ document })],
  ])('deletes by %s permanently, and gives the last state', async (_name, inputs) => {
    const { outputs, next } = await deletes(inputs())
    expect(next).toBe('flow')
    expect(outputs.document).toMatchObject({ value: document })
    await session.transaction.commit()
    expect(await stored()).toBeUndefined()
  })

  test('deletes a document that was removed before', async () => {
    await session.setRemoved('tasks', guid, true)
    await session.transaction.commit()
    expect((await deletes({ guid })).next).toBe('flow')
    await session.transaction.commit()
    expect(await stored()).toBeUndefined()
  })

  test('takes not_found the second time', async () => {
    await deletes({ guid })
    await session.transaction.commit()
    expect((await deletes({ guid })).next).toBe('not_found')
  })

  test('leaves it when the run is undone', async () => {
    await deletes({ guid })
    await session.transaction.rollback()
    expect(await stored()).toEqual(document)
  })
})
