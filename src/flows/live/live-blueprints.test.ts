import { expect, test } from 'vitest'
import { type LiveBlueprint, type LiveTable, liveBlueprints } from './live-blueprints.ts'

/** Empty: nothing here looks into one. */
function blueprint(guid: string): LiveBlueprint {
  const compiled = {
    guid,
    blocks: [],
    endpoints: [],
    pages: [],
    functions: new Map(),
    storageEvents: [],
    schedules: [],
    failureEvents: [],
    needs: new Map(),
    awaited: [],
    notes: [],
    secrets: [],
    calls: [],
    parts: [],
    probed: () => {
      throw new Error('Nothing is recorded here.')
    },
  }
  return { compiled, name: guid, deployment: 1 }
}

const guidsIn = ({ blueprints }: LiveTable) => [...blueprints.keys()]

test('many that change at once are one table, and one call of each listener', () => {
  const live = liveBlueprints(new Set())
  live.set('a', blueprint('a'))
  const reported: string[][] = []
  live.watch((table) => void reported.push(guidsIn(table)))
  live.setAll(
    new Map([
      ['b', blueprint('b')],
      ['a', undefined],
      ['c', blueprint('c')],
    ]),
  )
  live.setAll(new Map())
  expect(reported).toEqual([['a'], ['b', 'c']])
  expect(live.table().version).toBe(2)
})

test('what a listener refuses changes nothing, and the other listeners hear that', () => {
  const live = liveBlueprints(new Set())
  live.set('a', blueprint('a'))
  const reported: string[][] = []
  live.watch((table) => void reported.push(guidsIn(table)))
  live.watch((table) => {
    if (table.blueprints.has('b')) throw new Error('no b')
  })
  const before = live.table()
  expect(() =>
    live.setAll(
      new Map([
        ['c', blueprint('c')],
        ['b', blueprint('b')],
      ]),
    ),
  ).toThrow('no b')
  expect(reported).toEqual([['a'], ['a', 'c', 'b'], ['a']])
  expect(guidsIn(live.table())).toEqual(['a'])
  expect(live.table().version).toBeGreaterThan(before.version)
  live.set('c', blueprint('c'))
  expect(reported.at(-1)).toEqual(['a', 'c'])
})
