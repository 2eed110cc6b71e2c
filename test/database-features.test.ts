/** docs/growing.md lists the constructs of SQL that a database needs for Quoin, and the kinds of statements: all that the sources use, and no others. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { sqlWords, wordsOfSql } from './postgres/sql-words.ts'

interface Feature {
  readonly what: string
  /** What stands in code there, as words of SQL. */
  readonly words: readonly string[]
  readonly on: string
}

const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'growing.md'), 'utf8')
const used = sqlWords()
/** Settings and types, which are no calls. */
const noCalls = new Set([
  'json',
  'plpgsql',
  'synchronous_commit',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
])
const features = tableBehind('## Required database features').map(([what = '', on = '']) => ({
  what,
  on,
  words: [...what.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => wordsOfCode(code)),
}))
/** Sources whose statements are about tables of documents. */
const aboutDocuments =
  /storage\/postgres\/(sql|text|unique|reference)\/|core\/(postgres-documents|document-row|postgres-create-all|postgres-indexes)\.ts/

function tableBehind(heading: string): string[][] {
  const lines = page.slice(page.indexOf(`${heading}\n`)).split('\n')
  const rows = lines.slice(lines.findIndex((line) => line.startsWith('| --- |')) + 1)
  const end = rows.findIndex((line) => !line.startsWith('|'))
  return rows.slice(0, end).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** Names of functions stand there without their parentheses. */
function wordsOfCode(code: string): string[] {
  const names = [...code.matchAll(/(?<![:.\w])[a-z_][a-z_0-9]*(?![\w.])/g)].map(([name]) => name)
  return [...wordsOfSql(code), ...names.filter((name) => !noCalls.has(name))]
}

function usedOnDocuments(words: readonly string[]): string[] {
  return words.filter((word) => [...(used.get(word) ?? [])].some((file) => aboutDocuments.test(file)))
}

/** What is wrong with such a table. */
function problems(table: readonly Feature[]): string[] {
  const listed = new Set(table.flatMap(({ words }) => words))
  const perRow = table.flatMap(({ what, words, on }) => [
    ...words.filter((word) => !used.has(word)).map((word) => `${word} is used nowhere: ${what}`),
    ...(on === 'own' ? usedOnDocuments(words).map((word) => `${word} meets documents: ${what}`) : []),
    ...(on === 'documents' && usedOnDocuments(words).length === 0 ? [`meets no documents: ${what}`] : []),
  ])
  const missing = [...used].filter(([word]) => !listed.has(word))
  return [...perRow, ...missing.map(([word, files]) => `${word} is not listed: ${[...files].join(', ')}`)]
}

test('docs/growing.md lists what the statements need', () => {
  expect(features.length).toBeGreaterThan(15)
  expect(features.map(({ on }) => on).filter((on) => !/^(documents|own|both)$/.test(on))).toEqual([])
  expect(problems(features)).toEqual([])
})

test.each<[string, (feature: Feature) => Feature]>([
  ['SKIP is not listed', (row) => ({ ...row, words: row.words.filter((word) => word !== 'SKIP') })],
  ['ctid is used nowhere', (row) => ({ ...row, words: [...row.words, 'ctid'] })],
  ['ts_rank_cd meets documents', (row) => (row.words.includes('ts_rank_cd') ? { ...row, on: 'own' } : row)],
  ['meets no documents', (row) => (row.words.includes('LISTEN') ? { ...row, on: 'documents' } : row)],
])('control: it would be told that %s', (words, changed) => {
  expect(problems(features.map(changed)).join('\n')).toContain(words)
})

/** Sources with SQL: what they have beyond any database's SQL tells them from the others. Migrations make tables for all of them. */
const sources = [...new Set([...used.values()].flatMap((files) => [...files]))]
  .filter((file) => file.endsWith('.ts'))
  .map((file) => basename(file, '.ts'))
const kinds = tableBehind('## Kinds of statements').map((cells) =>
  [...(cells[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
)

test('docs/growing.md has each source with SQL in one kind of statement', () => {
  const listed = kinds.flat()
  expect(listed.toSorted()).toEqual(sources.toSorted())
  expect(kinds.filter((names) => names.length === 0)).toEqual([])
})
