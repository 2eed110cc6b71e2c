import { describe, expect, test } from 'vitest'
import { type LiveBlueprint, type LiveTable, liveBlueprints } from './live-blueprints.ts'

type Compiled = LiveBlueprint['compiled']

/** A blueprint that answers nothing, but for functions of these names. `seen` hears each look at its endpoints. */
function blueprint(guid: string, names: readonly string[] = [], seen: () => void = () => {}): LiveBlueprint {
  const flow = { trigger: '', slots: [], accept: () => undefined, first: undefined }
  const about = { block: '', description: '', parameters: [], scopes: [], flow, start: () => ({}) }
  const compiled: Compiled = {
    guid,
    blocks: [],
    get endpoints() {
      seen()
      return []
    },
    pages: [],
    functions: new Map(names.map((name) => [name, { ...about, name }])),
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

describe('what only one active blueprint can have', () => {
  const live = liveBlueprints(new Set())
  const check = (guid: string, name: string) => live.checkClaims(blueprint(guid, [name]).compiled)

  test('is refused with the name of its owner, until that leaves it', () => {
    live.setAll(new Map([['a', blueprint('a', ['add'])]]))
    expect(() => check('b', 'add')).toThrow('The function add belongs to the active blueprint "a" (a).')
    expect(() => check('a', 'add')).not.toThrow()
    expect(() => check('b', 'sum')).not.toThrow()
    live.set('a', blueprint('a', ['sum']))
    expect(() => check('b', 'add')).not.toThrow()
    expect(() => check('b', 'sum')).toThrow('"a"')
    live.set('a', undefined)
    expect(() => check('b', 'sum')).not.toThrow()
  })

  test('moves in one change, whichever of the two comes first', () => {
    for (const [from, to] of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      live.setAll(
        new Map([
          ['a', undefined],
          ['b', undefined],
        ]),
      )
      live.set(from, blueprint(from, ['add']))
      live.setAll(
        new Map([
          ['a', blueprint('a', to === 'a' ? ['add'] : [])],
          ['b', blueprint('b', to === 'b' ? ['add'] : [])],
        ]),
      )
      expect(() => check('c', 'add')).toThrow(`"${to}"`)
      expect(live.table().functions.get('add')).toBe(
        live.table().blueprints.get(to)?.compiled.functions.get('add'),
      )
    }
  })

  test('two that have it for a moment: the one that stays has it afterwards', () => {
    live.setAll(
      new Map([
        ['a', blueprint('a', ['add'])],
        ['b', blueprint('b', ['add'])],
      ]),
    )
    live.set('b', undefined)
    expect(() => check('c', 'add')).toThrow('"a"')
    expect([...live.table().functions.keys()]).toEqual(['add'])
  })

  test('is found without a look at the others', () => {
    let looks = 0
    const seen = () => {
      looks += 1
    }
    for (let at = 0; at < 50; at++) live.set(`n${at}`, blueprint(`n${at}`, [`f${at}`], seen))
    const before = looks
    expect(() => check('other', 'f7')).toThrow('"n7"')
    expect(looks).toBe(before)
  })
})
