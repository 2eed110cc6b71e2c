import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { obscureWords, privateNames } from './obscure-words.ts'

const root = join(import.meta.dirname, '..')

/** Files that have to name the words. */
const lists = ['test/obscure-words.ts', 'test/plain-english.test.ts']

/** Widen this list when a folder is clean. */
const checked = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'docs/*.md',
  'bench/**/*.{ts,sh}',
  'bin/*.mjs',
  'examples/**/*.sh',
  'scripts/**/*.{ts,mjs}',
  'src/*.ts',
  'ARCHITECTURE.md',
  'src/*/DESIGN.md',
  'CONTRIBUTING.md',
  'src/{flows,queue,records}/**/*.ts',
  'test/**/*.ts',
  'src/{access,blocks,cli,http,pages,options,quoin,shared,storage,studio}/**/*.{ts,tsx,js}',
]

test.each(checked)('%s is written in plain English', async (pattern) => {
  const files = globSync(pattern, { cwd: root })
  expect(files).not.toEqual([])
  const found = await Promise.all(
    files
      .filter((file) => !lists.includes(file))
      .map(async (file) => obscureWords(file, await readFile(join(root, file), 'utf8'))),
  )
  expect(found.flat()).toEqual([])
})

test('names of the sources are words of the field', async () => {
  const files = globSync('src/**/*.{ts,tsx,js}', { cwd: root })
  expect(files.length).toBeGreaterThan(2_000)
  const found = await Promise.all(
    files.map(async (file) => privateNames(file, await readFile(join(root, file), 'utf8'))),
  )
  expect(found.flat()).toEqual([])
})

test.each([
  ['an exported type', 'a.ts', 'export interface KeptReplies {}', ['a.ts KeptReplies']],
  ['an exported constant', 'a.ts', 'export const MOST_TOLD = 1', ['a.ts MOST_TOLD']],
  ['an exported generator', 'a.ts', 'export function* ledQuery() {}', ['a.ts ledQuery']],
  ['a local', 'a.ts', '  const given = 1', ['a.ts const given']],
  ['a member', 'a.ts', 'interface A {\n  readonly wanted?: string', ['a.ts readonly wanted']],
  ['a field of stored runs', 'src/flows/trace/run-record.ts', 'readonly given: JsonValue', []],
  ['the name of a file', 'src/page-door.ts', '', ['src/page-door.ts page-door.ts']],
  ['a part of a word', 'a-ledger.ts', 'export const givenness = 1\nconst tolderance = 2', []],
  ['what a filter leaves', 'a.ts', 'const kept = all.filter(isNew)', ['a.ts const kept']],
  ['what a test expects', 'a.test.ts', 'const kept = 1\nconst told = 1', ['a.test.ts const told']],
  ['a member that is stored', 'a.ts', 'readonly kept?: boolean', ['a.ts readonly kept']],
])('a private word is found: %s', (_what, file, source, found) => {
  expect(privateNames(file, source)).toEqual(found)
})

test.each([
  ['a comment', 'a.ts', '// Whoever asks gets it.', ['a.ts:1 Whoever']],
  ['a comment over two lines', 'a.ts', '\n/**\n * It goes for\n * good.\n */', ['a.ts:2 for good']],
  ['two comments that stand together', 'a.ts', '// It goes for\n// good.', ['a.ts:1 for good']],
  ['a string with spaces', 'a.ts', "const text = 'Nobody is here'", ['a.ts:1 Nobody']],
  ['a template', 'a.ts', 'const text = `For $' + '{1} nobody`', ['a.ts:1 nobody']],
  ['text in JSX', 'a.tsx', 'const a = <p>Do it anew</p>', ['a.tsx:1 anew']],
  ['a paragraph', 'a.md', '# A\n\nIt begins to\nanswer.', ['a.md:3 begins to answer']],
  ['a verb that ends', 'a.md', 'A password alone signs in no more.', ['a.md:1 signs in no more']],
  ['a comment of a script', 'a.sh', 'x=1 # for everybody', ['a.sh:1 everybody']],
  ['an identifier', 'a.ts', 'const nobody = somebody(whoever)', []],
  ['a string of one word', 'a.ts', "const scope = 'nobody'", []],
  ['a quoted name', 'a.ts', 'const text = \'There is no user "nobody".\'', []],
  ['a part of a word', 'a.ts', '// A nobodyness of renewed forgoodness.', []],
  ['code in a page', 'a.md', 'Call `nobody`:\n\n```sh\nnobody anew\n```\n', []],
  [
    'a text of the studio of one word',
    'src/studio/texts/a.ts',
    "const a = { nobody: 'Nobody' }",
    ['src/studio/texts/a.ts:1 Nobody'],
  ],
  [
    'a riddle in a text of the studio',
    'src/studio/texts/a.ts',
    "const a = 'It stands here'",
    ['src/studio/texts/a.ts:1 stands'],
  ],
  ['a sign that has a meaning there', 'src/studio/texts/a.ts', "const a = '* stands for all'", []],
  ['a pattern', 'a.ts', 'const a = /for good/', []],
])('%s', (_what, file, source, expected) => {
  expect(obscureWords(file, source)).toEqual(expected)
})
