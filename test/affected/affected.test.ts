import { describe, expect, test } from 'vitest'
import { changedLines } from './changed-lines.ts'
import { type Changed, chooseSuites, type Known } from './choose-suites.ts'
import { followMoves } from './follow-moves.ts'
import { functionsOf } from './named-functions.ts'
import { readCoverage } from './recorded-coverage.ts'

const source = `import { a } from './a.ts'

const limit = 3

/** Says more. */
export function outer(list: string[]) {
  const inner = () => {
    return list.map((one) => one + limit)
  }
  return inner()
}

class Visit {
  readonly #seen = new Set<string>()
  constructor() {
    this.#seen.add('x')
  }
  get seen() {
    return this.#seen
  }
  #add = (one: string) => this.#seen.add(one)
}

export const table = { open() {}, close: () => outer([]) }
`

test.each<[string, number, string]>([
  ['an import', 1, ''],
  ['a constant', 3, ''],
  ['a doc comment', 5, 'outer'],
  ['the head of a function', 6, 'outer'],
  ['an inner function', 7, 'inner'],
  ['a function without a name, in one that has one', 8, 'inner'],
  ['behind an inner function', 10, 'outer'],
  ['a field', 14, ''],
  ['a constructor', 16, 'constructor'],
  ['a getter', 19, 'seen'],
  ['a private function', 21, '#add'],
])('a changed line in %s belongs to its function', (_where, line, name) => {
  expect([...functionsOf('a.ts', source).ofLines(line, 1)]).toEqual([name])
})

test('V8 counts a function from where it begins: that is in it', () => {
  const functions = functionsOf('a.ts', source)
  expect(functions.at(source.indexOf('() => outer'))).toBe('close')
  expect(functions.at(source.indexOf('open() {}'))).toBe('open')
})

test('lines of a diff are those of each side, by file', () => {
  const diff = `diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -3 +3,2 @@ function x() {
-old
+new
+diff --git a/wrong b/wrong
@@ -9,2 +11,0 @@
-gone
-gone
diff --git a/src/new.ts b/src/new.ts
new file mode 100644
--- /dev/null
+++ b/src/new.ts
@@ -0,0 +1,5 @@
`
  expect([...changedLines(diff)]).toEqual([
    [
      'src/a.ts',
      {
        before: [
          { first: 3, count: 1 },
          { first: 9, count: 2 },
        ],
        after: [{ first: 3, count: 2 }],
      },
    ],
    ['src/new.ts', { before: [], after: [{ first: 1, count: 5 }] }],
  ])
})

describe('suites of a change', () => {
  const suites = ['near', 'far', 'long', 'other', 'src/own', 'test/browser/rows', 'gone'].map((name) => ({
    engine: 'sqlite',
    file: `${name}.test.ts`,
  }))
  const known: Known = {
    coverage: {
      suites,
      functions: new Map([
        [
          'src/a.ts',
          new Map([
            ['one', new Set([0, 1, 2])],
            ['two', new Set([2])],
            ['three', new Set([3])],
            ['four', new Set([6, 1])],
          ]),
        ],
        ['src/user.ts', new Map([['use', new Set([1])]])],
      ]),
    },
    importersOf: (file) => (file === 'src/words.json' ? ['src/user.ts', 'src/own.test.ts'] : []),
    secondsOf: ({ file }) =>
      file === 'gone.test.ts' ? undefined : ({ 'far.test.ts': 5, 'long.test.ts': 60 }[file] ?? 1),
  }
  const change = (file: string, ...functions: string[]): Changed => ({ file, functions: new Set(functions) })

  test.each<[string, Changed[], number | undefined, string[], string[]]>([
    ['nothing recorded: none', [change('docs/a.md', '')], undefined, [], []],
    ['one function: those that ran it', [change('src/a.ts', 'three')], undefined, ['other'], []],
    ['too long: the cheapest', [change('src/a.ts', 'one')], 10, ['near', 'far'], ['long']],
    ['far too long: left, and said', [change('src/a.ts', 'two')], 10, [], ['long']],
    ['all of it: all', [change('src/a.ts', 'one')], Number.POSITIVE_INFINITY, ['near', 'far', 'long'], []],
    ['a constant: all that ran the file', [change('src/a.ts', '')], 10, ['near', 'far', 'other'], ['long']],
    ['no source: those of what names it', [change('src/words.json')], undefined, ['far', 'src/own'], []],
    [
      'what a browser runs: suites with one',
      [change('src/studio/a.tsx', 'A')],
      10,
      ['test/browser/rows'],
      [],
    ],
    ['a suite that is gone: the next one', [change('src/a.ts', 'four')], 10, ['far'], []],
    ['a suite in no tier: none', [change('gone.test.ts', 'x')], 10, [], []],
    ['a suite: itself, however long', [change('long.test.ts', 'x')], 10, ['long'], []],
  ])('%s', (_what, changes, budget, chosen, left) => {
    const choice = chooseSuites(changes, known, budget)
    const names = (list: typeof choice.chosen) => list.map(({ file }) => file.replace('.test.ts', ''))
    expect(names(choice.chosen).toSorted()).toEqual(chosen.toSorted())
    expect(names(choice.left).toSorted()).toEqual(left.toSorted())
  })
})

test('the recording has the suites in which a function ran, on each engine', () => {
  const { suites, functions } = readCoverage()
  const ran = functions.get('src/shared/texts/normalized-text.ts')?.get('normalizedText') ?? new Set()
  const names = [...ran].map((at) => `${suites[at]?.engine} ${suites[at]?.file}`)
  expect(names).toContain('sqlite src/shared/texts/normalized-text.test.ts')
  expect(suites.filter(({ engine }) => engine === 'postgres').length).toBeGreaterThan(100)
  expect(functions.size).toBeGreaterThan(1_000)
})

test('what was recorded follows joined and renamed files, and the rest is forgotten', () => {
  const recorded = {
    suites: [
      { engine: 'sqlite', file: 'src/a/old.test.ts' },
      { engine: 'sqlite', file: 'src/a/user.test.ts' },
      { engine: 'sqlite', file: 'src/a/gone.test.ts' },
    ],
    functions: new Map([
      [
        'src/a/old.ts',
        new Map([
          ['open', new Set([0])],
          ['close', new Set([0, 2])],
          ['', new Set([1])],
        ]),
      ],
      [
        'src/a/user.ts',
        new Map([
          ['open', new Set([1])],
          ['removed', new Set([1])],
        ]),
      ],
    ]),
  }
  const functions = new Map([
    ['src/a/user.ts', new Set(['open', 'close'])],
    ['src/b/other.ts', new Set(['open'])],
    ['src/a/user.test.ts', new Set<string>()],
  ])
  const suiteOf = (file: string) => (file === 'src/a/old.test.ts' ? 'src/a/user.test.ts' : undefined)
  expect(followMoves(recorded, { functions, suiteOf })).toEqual({
    suites: [{ engine: 'sqlite', file: 'src/a/user.test.ts' }],
    functions: new Map([
      [
        'src/a/user.ts',
        new Map([
          ['open', new Set([0])],
          ['close', new Set([0])],
          ['', new Set([0])],
        ]),
      ],
    ]),
  })
})
