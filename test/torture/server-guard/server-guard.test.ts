/** What a part of `npm run torture` hears of the servers that it starts; a busy one is found by the control of the part `fuzz`. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LONGEST_TURN_MS } from '../../turn-guard.ts'
import { runPart } from '../run-part.ts'
import type { TortureResult } from '../torture-part.ts'
import { MOST_MEGABYTES, openServerGuard, type ServerGuard, type ServerRecord } from './server-guard.ts'

let folder: string
let guard: ServerGuard
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quoin-guard-'))
  guard = openServerGuard(folder)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const megabyte = 2 ** 20
const fine: TortureResult = { checked: 1, failures: [], figures: { calls: 1 } }

/** A part whose server has written that. */
function ran(record: ServerRecord | string) {
  const text = typeof record === 'string' ? record : JSON.stringify(record)
  const part = {
    name: 'sample',
    summary: 'A sample.',
    run: async () => {
      writeFileSync(join(folder, '1.json'), text)
      return fine
    },
  }
  const { signal } = new AbortController()
  return runPart(part, { seed: 1, seconds: 1, short: true, signal, tell: () => undefined, guard })
}

test.each<[string, ServerRecord, string]>([
  [
    'kept its event loop busy for too long',
    { longestTurn: LONGEST_TURN_MS + 1, longestFirst: 0, asked: ['GET /a'], most: 0 },
    'was busy for 51 ms (at most 50) after GET /a',
  ],
  [
    'took too much memory',
    { longestTurn: 0, longestFirst: 0, asked: [], most: (MOST_MEGABYTES + 1) * megabyte },
    `had ${MOST_MEGABYTES + 1} MB of memory`,
  ],
])('control: a part whose server %s fails', async (_, record, words) => {
  expect((await ran(record)).failures.join()).toContain(words)
})

test('a part whose servers keep to the limits passes, and its figures say how far they went', async () => {
  const outcome = await ran({
    longestTurn: LONGEST_TURN_MS,
    longestFirst: 110,
    asked: [],
    most: 200 * megabyte,
  })
  expect(outcome.failures).toEqual([])
  expect(outcome.figures).toMatchObject({ calls: 1, 'longest turn, ms': 50, 'most memory, MB': 200 })
  expect(readdirSync(folder)).toEqual([])
})

test('half a note, of a server that was killed while it wrote, counts for nothing', async () => {
  expect((await ran('{"longestTurn":9')).failures).toEqual([])
})
