import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase } from '../../../test/test-database.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { objectsIn } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import block from './function_custom_execute_each.ts'

test.each([
  [{ array: [1] }, 'is empty'],
  [{ function: ' ', array: [1] }, 'must be 1 to 128 letters'],
  [{ function: 'f', array: Array.from({ length: 10_001 }, () => 0) }, 'at most 10,000 items'],
])('refused: %#', async (inputs, message) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(message)
})

test('the first that fails is the last, and what was written is not committed by a flow that goes on', async () => {
  const { database, close } = await openTestDatabase()
  try {
    await database.ensure('items')
    const seen: unknown[] = []
    await transact(database, async (session) => {
      // As a call before has written it.
      await session.create('items', setFields({ item: 1 }))
      const functions = {
        f: ({ item }: Readonly<Record<string, unknown>>) => {
          seen.push(item)
          if (item === 2) throw new RangeError('two')
          return undefined
        },
      }
      const running = runBlock(block, { inputs: { function: 'f', array: [1, 2, 3] }, functions, session })
      await expect(running).rejects.toThrow('two')
    })
    expect(seen).toEqual([1, 2])
    const { documents } = await database.session().find('items', search({ limit: 10 }))
    expect(objectsIn(documents.value)).toEqual([])
  } finally {
    await close()
  }
})

test('each item in turn, with what is the same for all', async () => {
  const ran = await runBlock(block, {
    inputs: { function: 'f', array: ['a', 'b'] },
    fields: { parameters: ['by'] },
    more: { by: 'Ada' },
    functions: { f: ({ item }) => (item === 'a' ? { kept: true } : undefined) },
  })
  expect(ran.calls.map(({ parameters }) => parameters)).toEqual([
    { by: 'Ada', item: 'a', number: 1 },
    { by: 'Ada', item: 'b', number: 2 },
  ])
  expect(ran).toMatchObject({ next: 'flow', outputs: { values: [{ kept: true }, null], count: 2 } })
})

test('nothing is called for an empty list', async () => {
  const ran = await runBlock(block, { inputs: { function: 'f' } })
  expect(ran.calls).toEqual([])
  expect(ran.outputs).toEqual({ values: [], count: 0 })
})
