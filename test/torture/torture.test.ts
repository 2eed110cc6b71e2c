import { expect, test } from 'vitest'
import { findParts } from './find-parts.ts'
import { outcomeLine, outcomeTable } from './outcome-table.ts'
import { randomSource } from './random-source.ts'
import { runPart } from './run-part.ts'
import type { TorturePart, TortureResult } from './torture-part.ts'

const fine: TortureResult = { checked: 3, failures: [], figures: { calls: 3 } }
const broken: TortureResult = { checked: 3, failures: ['one was lost'], figures: {} }
const fails = async () => broken

function partOf(more: Partial<TorturePart>): TorturePart {
  return { name: 'sample', summary: 'A sample.', run: async () => fine, ...more }
}

function ran(part: TorturePart, patience?: number) {
  const settings = {
    seed: 7,
    seconds: 1,
    short: true,
    signal: new AbortController().signal,
    tell: () => undefined,
  }
  return runPart(part, patience === undefined ? settings : { ...settings, patience, grace: 20 })
}

test.each<[string, Partial<TorturePart>, string]>([
  ['finds a failure', { run: fails, control: fails }, 'one was lost'],
  ['checks nothing', { run: async () => ({ ...fine, checked: 0 }) }, 'nothing was checked'],
  ['throws', { run: () => Promise.reject(new Error('no server')) }, 'the run threw: Error: no server'],
  ['has a control that finds nothing', { control: async () => fine }, 'this check cannot fail'],
  [
    'has a control that throws',
    { control: () => Promise.reject(new Error('off')) },
    'the control threw: Error: off',
  ],
])('a part that %s fails', async (_, more, words) => {
  const outcome = await ran(partOf(more))
  expect(outcome.failures.join('\n')).toContain(words)
  expect(outcomeTable([outcome])).toMatch(/sample +FAILED/)
})

test('a part that does not end fails and is told to stop', async () => {
  let reported = false
  const run = ({ signal }: { signal: AbortSignal }) =>
    new Promise<TortureResult>(() => signal.addEventListener('abort', () => (reported = true)))
  const outcome = await ran(partOf({ run }), 20)
  expect(outcome.failures.join()).toContain('no end after 20 ms')
  expect(reported).toBe(true)
})

test('a part that finds nothing, and whose control does, passes', async () => {
  const outcome = await ran(partOf({ control: fails }))
  expect(outcome).toMatchObject({ failures: [], control: 1, checked: 3 })
  expect(outcomeTable([outcome])).toMatch(/sample +passed +3 +0 +found 1/)
})

test('the last line of a run says what passed, what failed and what was not run', async () => {
  const passed = await ran(partOf({ control: fails }))
  const failed = await ran(partOf({ name: 'other', run: fails, control: fails }))
  expect(outcomeLine([passed], ['sample'])).toBe('PASSED; 1 of 1 parts passed; 3 checks; 0 s')
  expect(outcomeLine([passed, failed], ['sample', 'other', 'third'])).toBe(
    'FAILED; 1 of 3 parts passed; other failed with 1; not run: third; 6 checks; 0 s',
  )
  expect(outcomeLine([passed], ['sample', 'third'])).toMatch(/^FAILED/)
})

test('choices come from the seed and the name', () => {
  const drawn = (seed: number, name: string) => {
    const { below, shuffled } = randomSource(seed, name)
    return [below(1e9), below(1e9), ...shuffled([1, 2, 3, 4, 5, 6, 7, 8])].join()
  }
  expect(drawn(1, 'a')).toBe(drawn(1, 'a'))
  expect(new Set([drawn(1, 'a'), drawn(2, 'a'), drawn(1, 'b')]).size).toBe(3)
})

test('every part can be found, and one that does not exist is named', async () => {
  const parts = await findParts()
  expect(parts.map(({ name }) => name)).toContain('slow-suites')
  expect(parts.filter(({ control }) => control === undefined)).toEqual([])
  await expect(findParts(['slow-suits'])).rejects.toThrow('There is no part "slow-suits". There are: ')
})
