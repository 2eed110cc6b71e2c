import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { onlyInTorture, onPostgresInTorture, suiteFiles } from './suite-files.ts'
import { type Measured, recorded, tooLong } from './suite-times.ts'
import { LONGEST_SUITE, readSuites, type Suites } from './suites.ts'

const suites = readSuites()
const files = suiteFiles()

describe.each(['sqlite', 'postgres'] as const)('on %s', (engine) => {
  test('every suite is in a tier (else: npm run test:record -- <file>)', () => {
    expect(files[engine].filter((file) => suites[engine][file] === undefined)).toEqual([])
  })

  test('no line is of a suite that is gone', () => {
    const there = new Set(files[engine])
    expect(Object.keys(suites[engine]).filter((file) => !there.has(file))).toEqual([])
  })
})

test('what is left to npm run torture is there', () => {
  const cwd = join(import.meta.dirname, '../..')
  const names = [onlyInTorture, onPostgresInTorture]
    .flatMap((lists) => Object.values(lists).flat())
    .flatMap((pattern) => {
      const [braces = '', list] = /\{(.*)\}/.exec(pattern) ?? []
      return list === undefined ? [pattern] : list.split(',').map((name) => pattern.replace(braces, name))
    })
  expect(names.length).toBeGreaterThan(40)
  expect(names.filter((name) => globSync(name, { cwd }).length === 0)).toEqual([])
})

test('suites of over ten seconds have a reason, and no other one has', () => {
  const long = [suites.sqlite, suites.postgres].flatMap((of) =>
    Object.entries(of).flatMap(([name, { seconds }]) => (seconds > LONGEST_SUITE ? [name] : [])),
  )
  expect(Object.keys(suites.slow).toSorted()).toEqual([...new Set(long)].toSorted())
})

const known: Suites = {
  sqlite: { 'a.test.ts': { tier: 'unit', seconds: 1 }, 'b.test.ts': { tier: 'rest', seconds: 9 } },
  postgres: { 'b.test.ts': { tier: 'rest', seconds: 30 } },
  slow: { 'c.test.ts': 'It starts three nodes.' },
}

const measured = (name: string, seconds: number, more: Partial<Measured> = {}): Measured => ({
  name,
  engine: 'sqlite',
  seconds,
  postgres: 0,
  opened: [],
  ...more,
})

test.each([
  ['one that became long', measured('a.test.ts', 20.1), true],
  ['a new one', measured('new.test.ts', 21), true],
  ['one that is more than twice as long', measured('b.test.ts', 20.1), true],
  ['one that a busy machine made longer', measured('b.test.ts', 19.9), false],
  ['the same on the other engine', measured('b.test.ts', 59, { engine: 'postgres' }), false],
  ['one that has a reason', measured('c.test.ts', 99), false],
  ['a short one', measured('a.test.ts', 19.9), false],
])('%s fails the run: %#', (_what, one, fails) => {
  expect(tooLong(known, [one]).map((problem) => problem.split(' ')[0])).toEqual(fails ? [one.name] : [])
})

test.each([
  ['opens nothing', { opened: [] }, 'unit'],
  ['opens a database', { opened: ['database'] }, 'main'],
  ['starts a process', { opened: ['database', 'process'] }, 'rest'],
  ['is long', { opened: ['server'], seconds: 6 }, 'rest'],
  ['runs on PostgreSQL', { engine: 'postgres' as const }, 'rest'],
])('a new suite that %s is of the tier it fits into', (_what, more, tier) => {
  const one = measured('new.test.ts', 1.234, more)
  const written = recorded(known, [one])
  expect(written[one.engine]['new.test.ts']?.tier).toBe(tier)
  expect(written.sqlite['a.test.ts']).toEqual(known.sqlite['a.test.ts'])
})

test('a suite keeps its tier when it is measured again', () => {
  const { sqlite } = recorded(known, [measured('b.test.ts', 0.1234)])
  expect(sqlite['b.test.ts']).toEqual({ tier: 'rest', seconds: 0.12 })
})

test.each([
  ['nothing', 0.04, { tier: 'rest', seconds: 1 }],
  ['something', 2.345, { tier: 'rest', seconds: 1, postgres: 2.3 }],
])('what the shared PostgreSQL took stands beside: %s', (_what, postgres, line) => {
  const { sqlite } = recorded(known, [measured('b.test.ts', 1, { postgres })])
  expect(sqlite['b.test.ts']).toEqual(line)
})
