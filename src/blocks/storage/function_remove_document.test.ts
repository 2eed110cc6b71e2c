import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase } from '../../../test/test-database.ts'
import type { JsonObject } from '../../shared/json.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { documentGuid } from './document-queries.ts'
import removeDocument from './function_remove_document.ts'

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

function remove(inputs: Readonly<Record<string, unknown>>) {
  return runBlock(removeDocument, { session, inputs: { storage: 'tasks', ...inputs } })
}

async function stored(): Promise<JsonObject | undefined> {
  const found = await database.session().get('tasks', guid, { removed: true })
  return found && documentOf(found)
}

describe('function_remove_document', () => {
  test.each([
    ['neither guid nor document', () => ({}), { pin: 'guid', message: 'is empty' }],
    ['an empty guid', () => ({ guid: '' }), { pin: 'guid', message: 'is empty' }],
    ['a document that is not stored', () => ({ document: { title: 'a' } }), { pin: 'document' }],
    ['a storage of the cluster', () => ({ guid, storage: '_user' }), { pin: 'storage' }],
    ['no storage', () => ({ guid, storage: undefined }), { pin: 'storage', message: 'is empty' }],
  ])('refuses %s and leaves the document', async (_name, inputs, error) => {
    await expect(remove(inputs())).rejects.toMatchObject(error)
    await session.transaction.commit()
    expect(await stored()).toEqual(document)
  })

  test('takes not_found for an unknown guid', async () => {
    const { outputs, next } = await remove({ guid: '0190f2a0-0000-7000-8000-000000000000' })
    expect({ outputs, next }).toEqual({ outputs: {}, next: 'not_found' })
  })

  test.each([
    ['guid', () => ({ guid })],
    ['document', () => ({ document })],
  ])('removes by %s: searches do not find it, and it is kept', async (_name, inputs) => {
    const { outputs, next } = await remove(inputs())
    expect(next).toBe('flow')
    expect(outputs.document).toMatchObject({
      value: { _meta: { guid, removed: expect.any(Number) }, title: 'a' },
    })
    await session.transaction.commit()
    expect(await database.session().get('tasks', guid)).toBeUndefined()
    const kept = await stored()
    expect(kept).toMatchObject({ title: 'a' })
    expect(kept?._meta).not.toMatchObject({ removed: 0 })
  })

  test('takes not_found the second time, and does not remove it again', async () => {
    await remove({ guid })
    await session.transaction.commit()
    const kept = await stored()
    const { outputs, next } = await remove({ guid })
    await session.transaction.commit()
    expect({ outputs, next }).toEqual({ outputs: {}, next: 'not_found' })
    expect(await stored()).toEqual(kept)
  })

  test('leaves it when the run is undone', async () => {
    await remove({ guid })
    await session.transaction.rollback()
    expect(await stored()).toEqual(document)
  })
})
