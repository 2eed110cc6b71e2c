/** What a person reads in the studio stands in `texts`, a file for each part of it: a translation changes no component. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { type ShownText, shownTexts } from '../../test/shown-texts.ts'

const files = globSync('**/*.{ts,tsx}', { cwd: import.meta.dirname, exclude: ['**/node_modules/**'] })
  .filter((file) => !/\.test\.tsx?$|^vite\.config/.test(file))
  .map((file) => file.replaceAll('\\', '/'))
const catalogues = files.filter((file) => file.startsWith('texts/'))
const components = files.filter((file) => !file.startsWith('texts/'))

/** Names, units, samples and code, which no translation changes: all of a file, or one text of it. */
const untranslated: readonly (readonly [file: string, text?: string])[] = [
  ['api/api-error.ts', 'ApiError'],
  ['controls/amounts.ts'],
  ['controls/hooks.ts', '· · Quoin'],
  ['editor/canvas/use-canvas-graph.ts', '· wire-reference'],
  ['editor/canvas/use-canvas-graph.ts', 'wire wire-·'],
  ['editor/model/runs/glance.ts', '(evaluated once for each item)'],
  ['editor/runs/use-pause-events.tsx', 'paused ·'],
  ['editor/try/request-form.ts', 'whole number'],
  ['main.ts', 'index.html has no #studio'],
  [
    'screens/blueprints/pages-file.ts',
    '={ ...edited.document, update_hash: edited.document._meta.update_hash }',
  ],
  ['screens/operate/system-log-screen.tsx', 'red'],
  ['screens/operate/named/connection-dialog.tsx', 'x-api-key'],
  ['screens/people/user-form.tsx', 'en'],
  ['screens/people/user-form.tsx', 'Europe/Amsterdam'],
  ['shell/shell.tsx', 'Quoin'],
]

function parsed(file: string, source = readFileSync(join(import.meta.dirname, file), 'utf8')): ts.SourceFile {
  const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
  return ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, kind)
}

const foundIn = new Map<string, readonly ShownText[]>(
  components.map((file) => [file, shownTexts(parsed(file))]),
)

function isUntranslated(file: string, { text }: ShownText): boolean {
  return untranslated.some(([one, only]) => one === file && (only === undefined || only === text))
}

test('no component has a text of its own', () => {
  expect(foundIn.size).toBeGreaterThan(400)
  const found = [...foundIn].flatMap(([file, texts]) =>
    texts.filter((one) => !isUntranslated(file, one)).map(({ line, text }) => `${file}:${line} ${text}`),
  )
  expect(found).toEqual([])
})

test('what no translation changes is still there', () => {
  const gone = untranslated.filter(
    ([file, text]) => !foundIn.get(file)?.some((one) => text === undefined || one.text === text),
  )
  expect(gone).toEqual([])
})

test.each([
  ['text in JSX', 'const a = <p>then</p>', ['then']],
  ['text beside a value', 'const a = <p>{n} rows</p>', ['rows']],
  ['a label', 'const a = <input aria-label="close" />', ['close']],
  ['a label of two', "const a = <A label={isOpen ? 'less' : 'more'} />", ['less', 'more']],
  ['a label if there is none', "const a = <A label={title ?? 'none'} />", ['none']],
  ['a property', "const a = { title: 'rows' }", ['rows']],
  ['the name of a fact', 'const a = <Facts facts={{ Size: 3 }} />', ['Size']],
  ['what a call tells', "notifyDone('saved')", ['saved']],
  ['a template', 'const a = `$' + '{n} rows`', ['· rows']],
  [
    'a part of a template',
    'const a = <p title={`$' + '{n} $' + "{n === 1 ? 'step' : 'steps'}`} />",
    ['step', 'steps'],
  ],
  ['the rest of a sentence', "const a = { end: ', taken' }", [', taken']],
  ['prose anywhere', "throw new Error('Choose a file first.')", ['Choose a file first.']],
  ['a word with a capital', "const words = ['Hour']", ['Hour']],
  ['a sample of code', 'const a = <p>such as <Code>doc.owner</Code></p>', ['such as']],
  ['a verb of a dialog', "confirm({ text: 'It stays.', action: 'Remove' })", ['It stays.', 'Remove']],
  ['a name of data', "const types = { text: 'text', action: 'action' }", []],
  ['the label of a step', "editor.run('Draw wire', change, 'Draw one')", ['Draw wire']],
  ['a key', 'const a = <b>A</b>', []],
  ['an identifier', "const kind = 'hour'", []],
  ['a comparison', "const a = kind === 'Some words'", []],
  ['a type', "type Kind = 'Some words'", []],
  ['a style', "const a = <p style={{ border: '1px solid Red' }} className={'Red one'} />", []],
  ['an address', 'const a = `/api/$' + '{name}/rows`', []],
  ['a selector', "element.closest('form input')", []],
])('%s is found where it is one', (_what, source, expected) => {
  expect(shownTexts(parsed('a.tsx', source)).map(({ text }) => text)).toEqual(expected)
})

interface Catalogue {
  readonly name: string
  readonly keys: readonly string[]
}

function cataloguesOf(tree: ts.SourceFile): readonly Catalogue[] {
  return tree.statements.flatMap((one) => {
    if (!ts.isVariableStatement(one)) return []
    return one.declarationList.declarations.map(({ name, initializer }) => {
      if (
        !initializer ||
        !ts.isAsExpression(initializer) ||
        !ts.isObjectLiteralExpression(initializer.expression)
      )
        throw new TypeError(`${name.getText()} of ${tree.fileName} is not one object as const.`)
      const { properties } = initializer.expression
      return { name: name.getText(), keys: properties.map((key) => key.name?.getText() ?? key.getText()) }
    })
  })
}

const sources = components.map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
const used = new Set(
  sources.flatMap((source) => [...source.matchAll(/\b\w+Texts\.\w+/g)].map(([use]) => use)),
)

const hidden = ({ name, keys }: Catalogue) =>
  keys.map((key) => `${name}.${key}`).filter((key) => !used.has(key))

test.each(catalogues)('every text of %s is shown somewhere', (file) => {
  const found = cataloguesOf(parsed(file))
  const [first] = found.map(({ name }) => name.replace(/[A-Z]/g, (one) => `-${one.toLowerCase()}`))
  expect(`texts/${first}.ts`).toBe(file.replace('.ts', '-texts.ts'))
  expect(found.flatMap(hidden)).toEqual([])
})

test.each([
  ['the first one', "export const aTexts = { gone: 'Gone' } as const", ['aTexts.gone']],
  [
    'one of another catalogue',
    "export const shellTexts = {} as const\nexport const aTexts = { gone: 'Gone' } as const",
    ['aTexts.gone'],
  ],
])('a text that nothing shows would be found: %s', (_what, source, found) => {
  expect(cataloguesOf(parsed('a.ts', source)).flatMap(hidden)).toEqual(found)
})

test('a file of texts imports nothing and has fewer than 300 lines', () => {
  expect(catalogues.length).toBeGreaterThan(10)
  expect(catalogues.length).toBeLessThanOrEqual(17)
  for (const file of catalogues) {
    const source = readFileSync(join(import.meta.dirname, file), 'utf8')
    expect(source, file).not.toMatch(/^import /m)
    expect(source.split('\n').length, file).toBeLessThan(300)
  }
})
