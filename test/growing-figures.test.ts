/** What docs/growing.md says of many nodes and documents is what the measured points of docs/benchmarks.md give. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { measureGrowing } from '../bench/growing/growing.ts'
import { growingSection, growingTables, withGrowingTables } from '../bench/growing/report-growing.ts'
import { straightLine } from '../bench/growing/straight-line.ts'

const read = (name: string) => readFileSync(join(import.meta.dirname, '..', 'docs', name), 'utf8')
const reported = rowsOf(read('growing.md'), '## What 10, 100 and 1,000 nodes and 200 million documents cost')
const measured = rowsOf(read('benchmarks.md'), '## What nodes and documents cost PostgreSQL')
/** Points and lines are rounded for the tables: 0.002 cores may be 0.0025. */
const ROUNDING = 0.25

/** Cells by the title in the first one; a head is under ''. */
function rowsOf(page: string, heading: string): ReadonlyMap<string, readonly string[]> {
  const start = page.indexOf(`${heading}\n`)
  const end = page.indexOf('\n## ', start)
  const lines = page.slice(start, end < 0 ? undefined : end).split('\n')
  const rows = lines.filter((line) => /^\|(?! ---)/.test(line)).map((line) => line.split('|').slice(1, -1))
  return new Map(rows.map(([title = '', ...cells]) => [title.trim(), cells.map((cell) => cell.trim())]))
}

/** In the smallest unit, so that MB and GB can be compared. */
function figure(cell: string): number {
  const [value = '', unit = ''] = cell.split(' ')
  return Number(value.replaceAll(',', '')) * (unit === 'GB' ? 1_000 : 1)
}

const titles = [...reported.keys()].filter((title) => title !== '')

test('the pages tell of the same', () => {
  expect(titles).toEqual([...measured.keys()].filter((title) => title !== ''))
  expect(titles.length).toBeGreaterThan(4)
})

test.each(titles)('%s: the line of the report', (title) => {
  const [, , , off, ...line] = measured.get(title) ?? []
  expect(reported.get(title)).toEqual([...line, off])
})

const sizes = { nodes: [1, 3, 6, 10, 100, 1_000], documents: [20e3, 60e3, 180e3, 1e6, 20e6, 200e6] }

test.each(titles)('%s: the line goes through the measured points', (title) => {
  const [low = '', middle = '', high = '', , ...line] = measured.get(title) ?? []
  const of = title === 'table and indexes' ? sizes.documents : sizes.nodes
  const points = [low, middle, high].map((cell, place) => [of[place] ?? 0, figure(cell)] as const)
  for (const [place, cell] of line.entries()) {
    const expected = straightLine(points).at(of[place + 3] ?? 0)
    expect(Math.abs(figure(cell) - expected) / expected).toBeLessThan(ROUNDING)
  }
})

const some: Awaited<ReturnType<typeof measureGrowing>> = {
  nodes: [1, 3, 6].map((nodes) => ({
    ...{ nodes, idle: 2_000 * nodes, connections: 6 * nodes },
    ...{ deploy: 10 * nodes, deployDatabase: 4_000 * nodes },
  })),
  documents: [20_000, 60_000, 180_000].map((documents) => ({
    ...{ documents, bytes: 2_000 * documents, read: 75, create: 300 },
  })),
}

test('a measurement writes both pages alike, and leaves the rest of docs/growing.md as it is', () => {
  const page = read('growing.md')
  const written = withGrowingTables(page, growingTables(some))
  const heading = '## What 10, 100 and 1,000 nodes and 200 million documents cost'
  const rows = rowsOf(written, heading)
  expect(rows.get('connections')).toEqual(['60', '600', '6,000', '0 %'])
  expect(rows.get('table and indexes')).toEqual(['2.0 GB', '40.0 GB', '400.0 GB', '0 %'])
  const about = { date: '2026-01-01', commit: 'abc' }
  const report = rowsOf(growingSection(some, about), '## What nodes and documents cost PostgreSQL')
  for (const title of titles)
    expect(rows.get(title)).toEqual([...(report.get(title)?.slice(4) ?? []), report.get(title)?.[3]])
  const withoutTables = (text: string) =>
    text
      .split('\n')
      .filter((line) => !line.startsWith('|'))
      .join('\n')
  expect(withoutTables(written)).toBe(withoutTables(page))
})
