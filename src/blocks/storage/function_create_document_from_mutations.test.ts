import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase } from '../../../test/test-database.ts'
import { matchAll } from '../../shared/query.ts'
import type { Database, Session } from '../../storage/database.ts'
import createDocument from './function_create_document_from_mutations.ts'

const title = { op: 'set', field: 'title', value: 'a' }

let database: Database
let close: () => Promise<void>
let session: Session

beforeAll(async () => {
  ;({ database, close } = await openTestDatabase())
  await database.ensure('tasks')
})

beforeEach(() => {
  session = database.session()
})

afterAll(() => close())

function create(inputs: Readonly<Record<string, unknown>>) {
  return runBlock(createDocument, { session, inputs: { storage: 'tasks', ...inputs } })
}

describe('function_create_document_from_mutations', () => {
  test.each([
    ['no storage', { storage: undefined, mutations: [title] }, { pin: 'storage' }],
    ['a storage of the cluster', { storage: '_user', mutations: [title] }, { pin: 'storage' }],
    ['no mutations', {}, { pin: 'mutations', message: 'is empty' }],
    ['a storage that does not exist', { storage: 'nowhere', mutations: [title] }, { code: 'INTERNAL' }],
    [
      'a write to _meta',
      { mutations: [title, { op: 'set', field: '_meta.guid', value: 'x' }] },
      { code: 'INVALID_BODY', fields: ['_meta.guid'] },
    ],
    [
      'a value that no engine can hold',
      { mutations: [title, { op: 'set', field: 'note', value: 'a\u0000b' }] },
      { code: 'INVALID_BODY', fields: ['note'] },
    ],
    [
      'to count up text',
      { mutations: [title, { op: 'increment', field: 'title', amount: 1 }] },
      { code: 'INVALID_BODY', fields: ['title'] },
    ],
  ])('refuses %s and stores nothing', async (_name, inputs, error) => {
    await expect(create(inputs)).rejects.toMatchObject(error)
    await session.transaction.commit()
    expect(await database.session().count('tasks', matchAll)).toBe(0)
  })

  test('gives the document with its _meta; it is stored when the run commits, not before', async () => {
    const { outputs, next } = await create({
      mutations: [
        title,
        { op: 'increment', field: 'views', amount: 2 },
        { op: 'set', field: 'a.b', value: null },
      ],
    })
    expect(next).toBe('flow')
    expect(outputs.document).toMatchObject({
      value: {
        _meta: { guid: expect.stringMatching(/^[0-9a-f-]{36}$/), removed: 0, expiry: -1 },
        title: 'a',
        views: 2,
        a: { b: null },
      },
    })
    expect(await database.session().count('tasks', matchAll)).toBe(0)
    await session.transaction.commit()
    expect(await database.session().count('tasks', matchAll)).toBe(1)
  })

  test('stores nothing when the run is undone', async () => {
    const before = await database.session().count('tasks', matchAll)
    await create({ mutations: [title] })
    await session.transaction.rollback()
    expect(await database.session().count('tasks', matchAll)).toBe(before)
  })

  test('makes an empty document of an empty list of mutations', async () => {
    const { outputs } = await create({ mutations: [] })
    expect(outputs.document).toMatchObject({ value: { _meta: { removed: 0 } } })
    await session.transaction.rollback()
  })
})
