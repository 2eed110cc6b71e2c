import { expect, test } from 'vitest'
import { hardPattern, lettersInDisorder } from '../../../../test/hard-pattern.ts'
import { requestWith } from '../../../../test/run-block.ts'
import type { JsonValue } from '../../../shared/json.ts'
import { type PlacedField, type RequestPlace, requestFields } from '../../../shared/request-field.ts'
import { requestChecker } from './check-request.ts'

const placed = (place: RequestPlace, fields: JsonValue): PlacedField[] =>
  requestFields(fields).map((field) => ({ ...field, in: field.in ?? place }))

const task = placed('body', [
  { name: 'title', type: 'text', required: true, max_length: 5 },
  { name: 'price', type: 'number', min: 0 },
  { name: 'count', type: 'whole number', default: 1 },
  { name: 'state', type: 'text', choices: ['open', 'done'] },
  { name: 'open', type: 'condition' },
  { name: 'due', type: 'date' },
  { name: 'tags', type: 'list', max_length: 2 },
  { name: 'owner', type: 'object' },
  { name: 'code', type: 'text', pattern: '^[A-Z]+$' },
  { name: 'more', type: 'any' },
])

test.each([
  [undefined, { title: 'is required and must not be empty' }],
  [{ title: ' ' }, { title: 'is required and must not be empty' }],
  [{ title: 5 }, { title: 'must be text' }],
  [
    {
      title: 'too long',
      price: -1,
      count: 1.5,
      state: 'x',
      open: 'true',
      due: 'soon',
      tags: [1, 2, 3],
      owner: [],
      code: 'a',
    },
    {
      title: 'must have at most 5 characters',
      price: 'must be at least 0',
      count: 'must be a whole number',
      state: 'must be one of open, done',
      open: 'must be true or false',
      due: 'must be a date such as 2026-01-31 or 2026-01-31T09:00Z',
      tags: 'must have at most 2 items',
      owner: 'must be an object',
      code: 'must fit the pattern ^[A-Z]+$',
    },
  ],
  [JSON.parse('{"__proto__":{"title":"a"}}'), { title: 'is required and must not be empty' }],
])('a body %j lists every bad field', (body, reasons) => {
  const check = () => requestChecker(task)(requestWith({ body }))
  expect(check).toThrow(
    expect.objectContaining({ code: 'INVALID_BODY', reasons, fields: Object.keys(reasons) }),
  )
})

test.each([[[1]], ['text'], [5]])('a body %j is no object', (body) => {
  expect(() => requestChecker(task)(requestWith({ body }))).toThrow('The body must be a JSON object.')
})

test('what fits is given by type; defaults are filled in and other fields kept', () => {
  const body = { title: 'a', due: '2026-01-31', unknown: [1], more: null }
  const { request, values } = requestChecker(task)(requestWith({ body }))
  expect(values).toEqual({ title: 'a', count: 1, due: new Date('2026-01-31') })
  expect(request.body).toEqual({ ...body, count: 1 })
})

const opened = placed('query', [
  { name: 'day', type: 'day', required: true, min: '2026-01-02', max: '2026-12-31' },
  { name: 'until', type: 'day' },
])
const notADay = 'must be a day such as 2026-01-31'

test('a day stays the text of a day', () => {
  const { values } = requestChecker(opened)(
    requestWith({ query: { day: '2026-01-02', until: '2028-02-29' } }),
  )
  expect(values).toEqual({ day: '2026-01-02', until: '2028-02-29' })
})

test.each([
  [{ day: '2026-01-31T09:00Z' }, { day: notADay }],
  [{ day: '1769848200' }, { day: expect.stringMatching(/^must be/) }],
  [{ day: '2026-02-30' }, { day: expect.stringMatching(/^must be a date/) }],
  [{ day: '2026-01-01' }, { day: expect.stringMatching(/2026-01-02/) }],
  [{ day: '2026-05-05', until: '2026' }, { until: expect.stringMatching(/^must be/) }],
  [{}, { day: 'is required and must not be empty' }],
])('%j is no day that fits', (query, reasons) => {
  expect(() => requestChecker(opened)(requestWith({ query }))).toThrow(expect.objectContaining({ reasons }))
})

test('an empty parameter is no condition, number or date: nothing is read in its place', () => {
  const fields = placed('query', [
    { name: 'open', type: 'condition' },
    { name: 'least', type: 'number' },
    { name: 'q', type: 'text' },
  ])
  const query = { open: '', least: '', q: '', other: '' }
  const { request, values } = requestChecker(fields)(requestWith({ query }))
  expect([request.query, values]).toEqual([{ q: '', other: '' }, {}])
})

test('the plus of a time zone, which is a space in an address, is read as a plus', () => {
  const fields = placed('query', [{ name: 'at', type: 'date' }])
  const sent = (at: string) => () => requestChecker(fields)(requestWith({ query: { at } })).values
  expect(sent('2026-03-01T00:00:00 02:00')()).toEqual({ at: new Date('2026-02-28T22:00:00Z') })
  expect(sent('2026-03-01T00:00:00 2')).toThrow('at must be a date')
})

test('a number of a body is no day', () => {
  const body = { day: 1_769_848_200 }
  expect(() => requestChecker(placed('body', [{ name: 'day', type: 'day' }]))(requestWith({ body }))).toThrow(
    expect.objectContaining({ reasons: { day: notADay } }),
  )
})

const page = placed('query', [
  { name: 'page', type: 'whole number', default: 0, min: 0 },
  { name: 'price', type: 'number' },
  { name: 'open', type: 'condition' },
  { name: 'tags', type: 'list' },
  { name: 'text', type: 'text' },
  { name: 'guid', type: 'text', in: 'path' },
])

test.each([
  [{ page: '1.5' }, { page: 'must be a whole number' }],
  [{ page: '-1' }, { page: 'must be at least 0' }],
  [{ page: '0x10' }, { page: 'must be a whole number' }],
  [{ page: 'Infinity' }, { page: 'must be a whole number' }],
  [{ page: ' ' }, { page: 'must be a whole number' }],
  [{ page: ['1', '2'] }, { page: 'must be a whole number' }],
  [
    { open: 'yes', price: 'x' },
    { open: 'must be true or false', price: 'must be a number' },
  ],
  [{ text: ['a', 'b'] }, { text: 'must be text' }],
])('a query %j lists every bad parameter', (query, reasons) => {
  expect(() => requestChecker(page)(requestWith({ query }))).toThrow(expect.objectContaining({ reasons }))
})

test.each([
  [{}, { page: 0 }],
  [{ page: '' }, { page: 0 }],
  [
    { page: '2', price: '1e3', open: '1', tags: 'a', text: '5' },
    { page: 2, price: 1000, open: true, tags: ['a'], text: '5' },
  ],
  [
    { tags: ['a', 'b'], open: 'false' },
    { page: 0, tags: ['a', 'b'], open: false },
  ],
])('a query %j gives %j; the parameters of the request stay texts', (query, values) => {
  const checked = requestChecker(page)(requestWith({ query, path: { guid: 'g' } }))
  expect(checked.values).toEqual({ ...values, guid: 'g' })
  expect(checked.request.query).toBe(query)
})

test('the patterns of a request have one budget together, and those of the next request another', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const check = requestChecker(
    placed(
      'body',
      names.map((name) => ({ name, type: 'text', pattern: hardPattern(80) })),
    ),
  )
  const send = (...some: string[]) =>
    check(
      requestWith({
        body: Object.fromEntries(some.map((name) => [name, `${lettersInDisorder(3_000)}${'a'.repeat(81)}`])),
      }),
    )
  expect(() => send('a')).not.toThrow()
  expect(() => send(...names)).toThrow('f is too long to be held against its pattern')
  expect(() => send('a', 'f')).not.toThrow()
})

const listed = [
  ...placed('query', [
    { name: 'status', type: 'text', in: 'query', several: true },
    { name: 'ids', type: 'list' },
    { name: 'limit', type: 'whole number' },
  ]),
  ...placed('body', [{ name: 'tags', type: 'list' }]),
]

test.each([
  [{ status: 'a' }, { status: ['a'] }],
  [{ status: ['a', 'b'] }, { status: ['a', 'b'] }],
  [{ 'status[]': ['a', 'b'] }, { status: ['a', 'b'] }],
  [{ 'status[0]': 'a', 'status[1]': 'b' }, { status: ['a', 'b'] }],
  [{ status: 'a', 'status[]': 'b' }, { status: ['a', 'b'] }],
  [{ 'status[]': '' }, {}],
  [{ 'ids[]': 'a', 'ids[7]': 'b' }, { ids: ['a', 'b'] }],
  [JSON.parse('{"__proto__[]":"x","constructor[]":"y"}'), {}],
])('the lists %j of a query give %j', (query, values) => {
  expect(requestChecker(listed)(requestWith({ query, body: {} })).values).toEqual(values)
})

test.each([
  [
    { 'status[in]': 'a' },
    { status: 'is sent as status=…, again for each further value, and not as status[in]' },
  ],
  [{ 'limit[gte]': '1' }, { limit: expect.stringContaining('not as limit[gte]') }],
  [{ 'limit[]': ['1', '2'] }, { limit: expect.stringMatching(/^must be/) }],
])('%j would be no filter, and is refused', (query, reasons) => {
  expect(() => requestChecker(listed)(requestWith({ query, body: {} }))).toThrow(
    expect.objectContaining({ reasons }),
  )
})

test('lists of forms come by the names that clients give them; those of JSON stay as they are', () => {
  const body = { 'tags[]': ['a', 'b'] }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  expect(requestChecker(listed)(requestWith({ body, headers })).values).toEqual({ tags: ['a', 'b'] })
  expect(requestChecker(listed)(requestWith({ body })).values).toEqual({})
})
