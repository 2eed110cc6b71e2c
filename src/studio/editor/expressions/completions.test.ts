// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions have template literals of their own.
import { expect, test } from 'vitest'
import { completionsAt } from './completions.ts'
import { expressionProblem } from './expression-problems.ts'
import type { ExpressionScope } from './expression-scope.ts'
import { cellNames } from './parsed-pin.ts'
import { tokensIn } from './tokens.ts'
import { foundValues, valueTree } from './value-choices.ts'

const help = ''
const scope: ExpressionScope = {
  blocks: [
    {
      name: 'goods',
      title: 'Find goods',
      pins: [
        { id: 'document', type: 'document', help },
        { id: 'total', type: 'number', help },
        { id: 'tags', type: 'array', help },
      ],
      gave: { document: { title: 'Ladder', price: 5, 'odd name': 1 }, total: 2 },
    },
    { name: 'item', title: 'Item', pins: [{ id: 'value', type: 'value', help }], gave: undefined },
  ],
  values: { params: { limit: '5' }, body: null, env: { BASE_URL: 'https://shop.example' } },
}

/** `|` is the cursor. */
function labelsAt(marked: string): string[] | undefined {
  const found = completionsAt(marked.replace('|', ''), marked.indexOf('|'), scope)
  return found?.options.map(({ label }) => label)
}

test.each<[string, string[], string[]]>([
  ['|', ['goods', 'blocks.item', 'params', 'round', 'sum'], ['document', 'toFixed']],
  ['go|', ['goods'], ['document']],
  ['1 + go|', ['goods'], ['document']],
  ['goods.|', ['document', 'total', 'tags'], ['goods', 'title', 'trim']],
  ['blocks.|', ['goods', 'item'], ['params', 'round']],
  ['blocks.item.|', ['value'], ['document']],
  ['goods.document.|', ['title', 'price'], ['odd name', 'trim', 'toFixed']],
  ['goods.document.title.|', ['trim', 'toUpperCase'], ['map', 'toFixed']],
  ['goods.total.|', ['toFixed'], ['trim', 'map']],
  ['goods.tags.|', ['map', 'filter'], ['trim']],
  ['params.li|', ['limit'], ['goods']],
  ['env.|', ['BASE_URL'], ['goods', 'limit']],
  ['env.BASE_URL.|', ['trim'], ['BASE_URL', 'map']],
  ['item.|', ['trim', 'map'], ['value']],
  ['round(goods.total).|', ['toFixed', 'trim', 'map'], ['document']],
  ['goods.tags[0].|', ['trim', 'map'], ['document']],
  ['goods.tags.map(tag => ta|', ['tag'], []],
  ['goods.tags.reduce((sum, tag) => |', ['sum', 'tag'], ['sum, tag']],
  ['let twice = goods.total * 2; tw|', ['twice'], []],
  ['`Hello ${go|', ['goods'], []],
  ['`Hello ${goods.|', ['document'], ['goods']],
])('at %s there are %j and not %j', (marked, some, none) => {
  const labels = labelsAt(marked)
  expect(labels).toEqual(expect.arrayContaining(some))
  expect(labels?.filter((label) => none.includes(label))).toEqual([])
})

test.each(['"go|', "'go|", '`go|', '`${goods.total} go|', '12.|', '12|'])(
  'at %s there is nothing',
  (marked) => {
    expect(labelsAt(marked)).toBeUndefined()
  },
)

test.each<[ExpressionScope['language'], string[], string[]]>([
  ['where', ['doc', 'maybe', 'search'], ['increment']],
  ['set', ['increment', 'append', 'unset'], ['doc', 'maybe']],
  [undefined, ['round'], ['doc', 'maybe', 'increment']],
])('a pin with the language %s has %j and not %j', (language, some, none) => {
  const own = { ...scope, language, hasDoc: language === 'where' }
  const labels = completionsAt('', 0, own)?.options.map(({ label }) => label)
  expect(labels).toEqual(expect.arrayContaining(some))
  expect(labels?.filter((label) => none.includes(label))).toEqual([])
  const problem = expressionProblem('doc.status == maybe(params.status)', own)
  expect(problem === undefined).toBe(language === 'where')
})

test('a function has its signature, its help and an example', () => {
  const round = completionsAt('rou', 3, scope)?.options.find(({ label }) => label === 'round')
  expect(round).toMatchObject({ kind: 'function', detail: '(value, digits?)' })
  expect(round?.help).toMatch(/\.$/)
  expect(round?.example).toMatch(/^round\(.+ → /)
})

test.each<[string, string | RegExp | undefined]>([
  ['', undefined],
  ['goods.document.title.trim() + "1"', undefined],
  ['params.limit ?? 20', undefined],
  ['1 +', /not finished/],
  ['godos.total', /no name godos.*goods/],
  ['goods.totl', /no field totl.*total/],
  ['rond(1)', /rond.*round/],
  ['goods.total * "a"', /number/],
  ['blocks.item.value', undefined],
  ['blocks.nope.value', /no block nope/],
])('the problem of %s is %s', (text, problem) => {
  const found = expressionProblem(text, scope)
  if (problem === undefined) expect(found).toBeUndefined()
  else expect(found?.message).toMatch(problem)
})

test.each([
  ['round(goods.total, 2)', 'function:round name:goods mark:. field:total mark:, number:2'],
  ["\"a\" + 'b\\'c' + true", "text:\"a\" mark:+ text:'b\\'c' mark:+ constant:true"],
  ['`a ${x.y} b`', 'text:`a ${ name:x mark:. field:y text:} b`'],
  ['`a ${ {b: 1} }c` + 1', 'text:`a ${ name:b mark:: number:1 text:}c` mark:+ number:1'],
  ['"open', 'text:"open'],
  ['`open ${x', 'text:`open ${ name:x'],
  ['x => #', 'name:x mark:=>'],
])('the tokens of %s', (text, tokens) => {
  expect(
    tokensIn(text)
      .map(({ kind, start, end }) => `${kind}:${text.slice(start, end)}`)
      .join(' '),
  ).toBe(tokens)
})

test('values to choose from are a tree of pins and names of the run, with the fields of the last time', () => {
  const lines = (...opened: string[]) => valueTree(scope, new Set(opened))
  const paths = (...opened: string[]) => lines(...opened).map(({ path }) => path)
  expect(paths()).toEqual(expect.arrayContaining(['goods.document', 'blocks.item.value', 'params', 'body']))
  expect(paths()).not.toContain('goods.document.title')
  expect(paths('goods.document')).toContain('goods.document.title')
  expect(paths('goods.document')).not.toContain('goods.document.odd name')
  expect(lines('params').find(({ path }) => path === 'params.limit')).toMatchObject({
    detail: '"5"',
    depth: 1,
  })
  const open = (path: string) => lines('params').find((one) => one.path === path)?.isOpen
  expect([open('params'), open('goods.document'), open('index')]).toEqual([true, false, undefined])
})

test.each([
  ['limit', ['params.limit']],
  ['params.', ['params.limit']],
  ['title', ['goods.document.title']],
  ['query.name', ['query.name']],
  ['nothing.of.this', []],
  ['params.a b', []],
])('a search for %s finds %j', (text, first) => {
  const found = foundValues(scope, text).map(({ path }) => path)
  expect(found.slice(0, first.length)).toEqual(first)
  if (first.length === 0) expect(found).toEqual([])
})

test.each([
  ["format(goods.document.day, 'YYYY')", 'pattern has YYYY'],
  ["today('Europe/Berlyn')", 'zone must be a time zone'],
  ['addTo(goods.document.day, { fortnight: 1 })', 'amounts must be one of'],
  ["hash('sha3', 'a')", 'algorithm must be one of'],
])('%s cannot be used in any run, and is told while it is typed', (text, message) => {
  const problem = expressionProblem(text, scope)
  expect([problem?.severity, problem?.message]).toEqual(['refused', expect.stringContaining(message)])
})

test('an expression about a row knows its document and value, and nothing else', () => {
  const row: ExpressionScope = { blocks: [], values: { doc: { price: undefined } }, only: cellNames }
  const labels = (text: string) => completionsAt(text, text.length, row)?.options.map(({ label }) => label)
  expect(labels('')).toEqual(expect.arrayContaining(['value', 'doc', 'round']))
  expect(labels('')).not.toContain('params')
  expect(labels('doc.')).toEqual(['price'])
  expect(expressionProblem('round(doc.price * value, 2)', row)).toBeUndefined()
  expect(expressionProblem('params.a', row)).toMatchObject({ severity: 'error', start: 0 })
  expect(expressionProblem('vallue', row)?.message).toContain('Did you mean value?')
})
