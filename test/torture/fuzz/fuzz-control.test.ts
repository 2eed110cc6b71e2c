/** Whether the fuzzer finds what it is there for; `npm run torture -- --only fuzz` has the same control. */
import { expect, test } from 'vitest'
import { randomSource } from '../random-source.ts'
import { notFound } from './broken-routes.ts'
import { fuzzBroken } from './fuzz-broken.ts'

test('control: each broken route of a server is found', async () => {
  expect(notFound((await fuzzBroken(randomSource(1, 'fuzz'))).failures)).toEqual([])
})
