/**
 * CONTRIBUTING.md is followed to the letter, by a copy of the repository: what its recipes add is there and works, and
 * a recipe of which one piece is left out fails.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { insertedBelow, type Piece, recipePieces } from './recipe-code.ts'
import { openRecipeFixture, type RecipeFixture } from './recipe-fixture.ts'

/** What should notice, by recipe: suites of the repository, those that the recipe adds, and the probes below. */
const suites: Readonly<Record<string, readonly string[]>> = {
  'Add a block': [
    'src/blocks/logic/text_reverse.test.ts',
    'test/catalogue.test.ts',
    'test/example-beside.test.ts',
  ],
  'Add a service for blocks': ['test/service.test.ts'],
  'Add an endpoint': ['src/http/routes/operate/version.test.ts', 'test/route-table.test.ts'],
  'Add an option': ['src/options/options.test.ts', 'test/option.test.ts'],
  'Add a migration': ['src/storage/copy/copied-tables.test.ts'],
  'Add an error': ['test/error.test.ts'],
  'Add a type of field': [
    'src/shared/fields/field-type.test.ts',
    'src/studio/screens/data/fields/field-kinds.test.ts',
    'src/http/pages/read-form.test.ts',
    'test/end-to-end/typed-fields.test.ts',
  ],
  'Add a function of expressions': ['src/expressions/functions/function-bodies.test.ts'],
}

/** Small suites that ask whether what a recipe promises is there. */
const probes: readonly Piece[] = [
  probe(
    'example-beside',
    `import { findExamples } from '../src/blocks/block-example.ts'`,
    `expect((await findExamples()).map(({ identifier }) => identifier)).toContain('text_reverse')`,
  ),
  {
    ...{ recipe: 'probe', file: 'test/asked-service.ts', below: undefined },
    text: `import type { BlockServices } from '../src/blocks/block-services.ts'
      export const asked = (services: BlockServices): string => services.today()`,
  },
  // A type is gone before a suite runs, so the compiler is asked.
  probe(
    'service',
    `import { execFile } from 'node:child_process'
     import { promisify } from 'node:util'
     import { openTestQuoin } from './end-to-end/harness.ts'`,
    `const compiled = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions']
     const words = [...compiled, '--module', 'nodenext', '--types', 'node', 'test/asked-service.ts']
     const cwd = new URL('..', import.meta.url)
     await promisify(execFile)('node_modules/.bin/tsc', words, { cwd })
     const { quoin, close } = await openTestQuoin()
     try {
       expect(Reflect.get(quoin.flows.environment.services, 'today')()).toMatch(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/)
     } finally {
       await close()
     }`,
  ),
  probe(
    'option',
    `import { readOptions } from '../src/options/options.ts'`,
    `expect(readOptions({ QUOIN_GREETING: 'Hi' })).toMatchObject({ greeting: 'Hi' })`,
  ),
  probe(
    'error',
    `import { QuoinError } from '../src/shared/errors.ts'`,
    `expect(new QuoinError('GONE', 'gone').status).toBe(410)`,
  ),
  probe(
    'answers',
    `import { openTestQuoin } from './end-to-end/harness.ts'`,
    `const quoin = await openTestQuoin()
     try {
       const { status, body } = await quoin.send('GET', '/_system/version', { as: 'admin' })
       expect([status, typeof body.version]).toEqual([200, 'string'])
     } finally {
       await quoin.close()
     }`,
  ),
]

function probe(name: string, imports: string, body: string): Piece {
  const text = `import { expect, test } from 'vitest'\n${imports}\ntest('${name}', async () => {\n${body}\n})\n`
  return { recipe: 'probe', file: `test/${name}.test.ts`, below: undefined, text }
}

let pieces: readonly Piece[]
let fixture: RecipeFixture
let failing: readonly string[]

beforeAll(async () => {
  pieces = recipePieces(await readFile(join(import.meta.dirname, '../CONTRIBUTING.md'), 'utf8'))
  fixture = await openRecipeFixture()
  const whole = await fixture.copy('whole', [...pieces, ...probes])
  await promisify(execFile)(process.execPath, ['scripts/generate-docs.ts'], { cwd: whole })
  const all = ['test/answers.test.ts', 'test/block-examples.test.ts', 'test/generated-docs.test.ts']
  const asked = [...all, ...Object.values(suites).flat()].map((suite) => `whole/${suite}`)
  const undrawn = 'undrawn/test/generated-docs.test.ts'
  await fixture.copy('undrawn', pieces)
  for (const [number, left] of inject('thorough') ? pieces.entries() : []) {
    await fixture.copy(`without-${number}`, [...pieces.filter((piece) => piece !== left), ...probes])
    asked.push(...(suites[left.recipe] ?? []).map((suite) => `without-${number}/${suite}`))
  }
  failing = await fixture.failing([...asked, undrawn], inject('postgresStarter'))
})
afterAll(() => fixture?.close())

test('each recipe has code, and suites that should notice', () => {
  expect([...new Set(pieces.map(({ recipe }) => recipe))].sort()).toEqual(Object.keys(suites).sort())
})

test('with all recipes applied every suite passes, and the new endpoint answers', () => {
  expect(failing.filter((suite) => suite.startsWith('whole/'))).toEqual([])
})

test('without npm run docs a suite fails', () => {
  expect(failing).toContain('undrawn/test/generated-docs.test.ts')
})

// 14 copies and 40 suites: in `npm run torture`, for it is about the text of CONTRIBUTING.md, which few changes touch.
if (inject('thorough'))
  test('whatever piece of a recipe is left out, a suite fails', () => {
    const unnoticed = pieces.filter(
      (_, number) => !failing.some((suite) => suite.startsWith(`without-${number}/`)),
    )
    expect(unnoticed.map(({ recipe, file, below }) => [recipe, file, below])).toEqual([])
  })

test('a line to insert below has to be there once', () => {
  expect(insertedBelow('a\nb', 'a', 'c\n')).toBe('a\nc\nb')
  expect(() => insertedBelow('a\nb', 'c', 'd')).toThrow('0 lines hold "c"')
  expect(() => insertedBelow('a\nab', 'a', 'd')).toThrow('2 lines hold "a"')
})
