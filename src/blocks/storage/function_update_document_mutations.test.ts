import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase } from '../../../test/test-database.ts'
import type { JsonObject } from '../../shared/json.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { documentGuid } from './document-queries.ts'
import updateDocument from './function_update_document_mutations.ts'

const late = { op: 'set', field: 'status', value: 'late' }

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
  document = documentOf(
    await session.create('tasks', [
      { op: 'set', field: 'status', value: 'open' },
      { op: 'set', field: 'views', value: 1 },
    ]),
  )
  guid = documentGuid({ guid: undefined, document })
  await session.transaction.commit()
})

afterAll(() => close())

function update(inputs: Readonly<Record<string, unknown>>) {
  return runBlock(updateDocument, { session, inputs: { storage: 'tasks', mutations: [late], ...inputs } })
}

async function stored(): Promise<JsonObject | undefined> {
  const found = await database.session().get('tasks', guid, { removed: true })
  return found && documentOf(found)
}

describe('function_update_document_mutations', () => {
  test.each([
    ['neither guid nor document', () => ({}), { pin: 'guid', message: 'is empty' }],
    ['an empty guid', () => ({ guid: '' }), { pin: 'guid', message: 'is empty' }],
    ['a document without _meta', () => ({ document: { a: 1 } }), { pin: 'document' }],
    ['a document without guid', () => ({ document: { _meta: {} } }), { pin: 'document' }],
    ['a document with an empty guid', () => ({ document: { _meta: { guid: '' } } }), { pin: 'document' }],
    ['a document that is a list', () => ({ document: [document] }), { pin: 'document' }],
    ['no mutations', () => ({ guid, mutations: undefined }), { pin: 'mutations', message: 'is empty' }],
    ['a storage of the cluster', () => ({ guid, storage: '_user' }), { pin: 'storage' }],
    [
      'to count up text',
      () => ({ guid, mutations: [{ op: 'increment', field: 'status', amount: 1 }] }),
      { code: 'INVALID_BODY', fields: ['status'] },
    ],
  ])('refuses %s and changes nothing', async (_name, inputs, error) => {
    await expect(update(inputs())).rejects.toMatchObject(error)
    await session.transaction.commit()
    expect(await stored()).toEqual(document)
  })

  test('takes not_found for an unknown guid', async () => {
    const { outputs, next } = await update({ guid: '0190f2a0-0000-7000-8000-000000000000' })
    expect({ outputs, next }).toEqual({ outputs: {}, next: 'not_found' })
  })

  test('takes not_found for a removed document and leaves it as it is', async () => {
    await session.setRemoved('tasks', guid, true)
    await session.transaction.commit()
    const removed = await stored()
    expect((await update({ guid })).next).toBe('not_found')
    await session.transaction.commit()
    expect(await stored()).toEqual(removed)
  })

  test('continues at conflict after another write, gives the current document and changes nothing', async () => {
    const stale = JSON.parse(JSON.stringify(document))._meta.update_hash
    await session.update('tasks', guid, [{ op: 'set', field: 'status', value: 'done' }])
    await session.transaction.commit()
    const { outputs, next } = await update({ guid, update_hash: stale })
    await session.transaction.commit()
    expect(next).toBe('conflict')
    expect(outputs.document).toMatchObject({ value: { status: 'done' } })
    expect(await stored()).toMatchObject({ status: 'done' })
  })

  test.each([
    ['by guid', () => ({ guid })],
    ['by document', () => ({ document })],
    ['by guid when both are given', () => ({ guid, document: { _meta: { guid: 'another' } } })],
    [
      'with the update hash it has',
      () => ({ guid, update_hash: JSON.parse(JSON.stringify(document))._meta.update_hash }),
    ],
    ['with an empty update hash', () => ({ guid, update_hash: '' })],
  ])('changes the document %s, and only what is named', async (_name, inputs) => {
    const { outputs, next } = await update(inputs())
    expect(next).toBe('flow')
    expect(outputs.document).toMatchObject({ value: { status: 'late', views: 1 } })
    expect(await stored()).toEqual(document)
    await session.transaction.commit()
    expect(await stored()).toMatchObject({ _meta: { guid }, status: 'late', views: 1 })
  })

  test('loses no increment of runs that overlap', async () => {
    const runs = Array.from({ length: 10 }, async () => {
      const own = database.session()
      const mutations = [{ op: 'increment', field: 'views', amount: 1 }]
      await runBlock(updateDocument, { session: own, inputs: { storage: 'tasks', guid, mutations } })
      await own.transaction.commit()
    })
    await Promise.all(runs)
    expect(await stored()).toMatchObject({ views: 11 })
  })
})
