import { expect, test } from 'vitest'
import { readOptions } from '../options/options.ts'
import { ChildReader, type ReaderMode, readerTransitions } from './child-reader.ts'

test('a process that says that it serves before it follows is killed, and the reason is the step', async () => {
  const reader = new ChildReader(
    {
      program: new URL('../../test/hasty-reader.ts', import.meta.url),
      opening: { options: readOptions({}), entrance: '', guid: 'g', writer: process.pid },
      listening: { host: '127.0.0.1', port: 0 },
      patience: 60_000,
      heard: () => undefined,
    },
    0,
  )
  expect(reader.mode).toBe('opening')
  await reader.gone
  expect([reader.mode, reader.reason]).toEqual([
    'gone',
    'The reading process cannot go from opening to serving.',
  ])
})

test('each mode ends in gone, which nothing follows', () => {
  const modes: readonly ReaderMode[] = ['opening', 'following', 'serving']
  for (const mode of modes) expect(readerTransitions[mode]).toContain('gone')
  expect(readerTransitions.gone).toEqual([])
})
