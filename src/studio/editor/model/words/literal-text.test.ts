import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BlockContent } from '../../../../shared/blueprint.ts'
import { emptyContent } from '../../../../shared/empty-content.ts'
import { sameJson } from '../../../../shared/json.ts'
import { endpointsOf, filledUri, parametersOf } from '../endpoints.ts'
import { literalText, readLiteral, writingOf } from './literal-text.ts'

test.each([
  ['number', '5', 5],
  ['number', '', undefined],
  ['value', '5', '5'],
  ['any', '5', 5],
  ['any', 'hello', 'hello'],
  ['any', '"5"', '5'],
  ['object', '{"a": [1]}', { a: [1] }],
] as const)('on a %s pin %j is %j', (type, text, value) => {
  expect(readLiteral(text, writingOf(type))).toEqual({ value })
})

test.each([
  ['number', 'abc'],
  ['object', '{a: 1}'],
] as const)('on a %s pin %j is refused with what to write', (type, text) => {
  expect(readLiteral(text, writingOf(type))).toHaveProperty('problem')
})

test('what a field shows is read as what it stands for', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (any) => {
      const value = JSON.parse(JSON.stringify(any))
      // Blank text stands for nothing, as in every field.
      fc.pre(typeof value !== 'string' || value.trim() !== '')
      expect(readLiteral(literalText(value, 'free'), 'free')).toEqual({ value })
    }),
  )
})

test('JSON is the same whatever the order of its keys', () => {
  expect(sameJson({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 })).toBe(true)
  expect(sameJson({ a: 1, b: undefined }, { a: 1 })).toBe(true)
  expect(sameJson({ a: 1 }, { a: 1, b: 2 })).toBe(false)
  expect(sameJson([1, 2], [2, 1])).toBe(false)
  expect(sameJson(null, {})).toBe(false)
})

test('parameters of an address are found and filled in', () => {
  expect(parametersOf('tasks/{guid}/files/{path...}')).toEqual(['guid', 'path'])
  expect(parametersOf('tasks/:guid')).toEqual(['guid'])
  expect(filledUri('tasks/{guid}/files/{path...}', { guid: 'a b', path: 'x/y z' })).toBe(
    'tasks/a%20b/files/x/y%20z',
  )
})

test('endpoints are in the order of their addresses, and a trigger without one is none', () => {
  const trigger = (method: string, uri?: string): BlockContent => ({
    ...emptyContent,
    type: `on_startup_register_uri_${method}`,
    in_pins: uri === undefined ? [] : [{ id: 'uri', value: uri }],
  })
  const flow = new Map<string, BlockContent>([
    ['a', trigger('put', 'tasks')],
    ['b', trigger('get', '/tasks')],
    ['c', trigger('get', 'a')],
    ['d', trigger('get')],
    ['e', { ...emptyContent, type: 'branch' }],
  ])
  expect(endpointsOf(flow).map(({ method, uri }) => `${method} ${uri}`)).toEqual([
    'GET a',
    'GET tasks',
    'PUT tasks',
  ])
})
