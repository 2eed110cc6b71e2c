import { describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import storage from './storage.ts'

describe('storage', () => {
  test.each([
    ['no name', {}, /is not set/],
    ['an empty name', { storage: '' }, /is not set/],
    ['upper case', { storage: 'Tasks' }, /must be 1 to 63/],
    ['a path', { storage: '../tasks' }, /must be 1 to 63/],
    ['a storage of the cluster', { storage: '_user' }, /starts with _/],
  ])('refuses %s', async (_name, fields, message) => {
    await expect(runBlock(storage, { fields })).rejects.toThrow(message)
  })

  test('gives the name', async () => {
    const { outputs } = await runBlock(storage, { fields: { storage: 'tasks' } })
    expect(outputs).toEqual({ storage: 'tasks' })
  })
})
