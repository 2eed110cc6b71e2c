import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase } from '../../../test/test-database.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { guidOf, objectsIn } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import block from './store_rows.ts'

let database: Database
let close: () => Promise<void>
let goods: string
let suppliers: string
let kern: string
let count = 0

const key = (name: string) => ({ name, fields: [{ name, ignoreCase: true, ignoreAccents: false }] })

beforeAll(async () => {
  ;({ database, close } = await openTestDatabase())
})
beforeEach(async () => {
  count += 1
  goods = `goods_${count}`
  suppliers = `suppliers_${count}`
  for (const name of [goods, suppliers]) await database.ensure(name)
  await database.capabilities.uniqueValues.keep(goods, key('number'))
  await database.capabilities.uniqueValues.keep(goods, key('ean'))
  await database.capabilities.uniqueValues.keep(suppliers, key('name'))
  const made = await transact(database, (session) => session.create(suppliers, setFields({ name: 'Kern' })))
  kern = guidOf(documentOf(made))
})
afterAll(() => close())

const unique = (name: string) => ({ key: name, ignoreCase: true, ignoreAccents: false })
const rule = (name: string, more: Partial<FieldRule> = {}): FieldRule => ({
  ...{ name, storage: 'any', type: 'string', required: false, defaultValue: undefined, limits: {} },
  ...more,
})

function rules(storage: string): readonly FieldRule[] {
  if (storage === suppliers) return [rule('name', { unique: unique('name') })]
  return [
    rule('number', { unique: unique('number') }),
    rule('price', { type: 'number' }),
    rule('since', { type: 'day' }),
    rule('supplier', { type: 'reference', reference: { storage: suppliers, onDelete: 'refuse' } }),
  ]
}

/** As one run: committed when the block is done. */
const run = (inputs: JsonObject) =>
  transact(database, (session) => runBlock(block, { session, rules, inputs: { storage: goods, ...inputs } }))

async function bodies(): Promise<JsonObject[]> {
  const { documents } = await database.session().find(goods, search({ limit: 10_000 }))
  return objectsIn(documents.value)
    .map(({ _meta, ...body }) => body)
    .sort((a, b) => String(a.number).localeCompare(String(b.number)))
}

describe('store_rows', () => {
  test.each<[string, JsonObject, object]>([
    ['no such key', { by: ['price'], rows: [{ number: 'a' }] }, { pin: 'by' }],
    ['what is no name', { by: [1], rows: [{ number: 'a' }] }, { pin: 'by' }],
    ['nothing', {}, { pin: 'rows' }],
    ['too many rows', { rows: Array.from({ length: 50_001 }, () => ({})) }, { pin: 'rows' }],
  ])('refuses %s and stores nothing', async (_what, inputs, error) => {
    await expect(run(inputs)).rejects.toMatchObject(error)
    expect(await bodies()).toEqual([])
  })

  test('stores none of the right rows where the flow continues after the error and commits', async () => {
    await transact(database, async (session) => {
      const rows = [{ number: 'a' }, { number: 'b', supplier: 'Nobody' }, { number: 'c' }]
      const inputs = { storage: goods, rows }
      await expect(runBlock(block, { session, rules, inputs })).rejects.toThrow('Line 2')
    })
    expect(await bodies()).toEqual([])
  })

  test('texts become what the fields ask for, and a reference is found by name', async () => {
    const rows = [
      { number: 'a', price: '1,250.50', since: '31.01.2026', supplier: 'kern', note: '7' },
      { number: 'b', price: 2, supplier: kern },
      { number: 'c', price: '' },
    ]
    expect((await run({ rows })).outputs).toEqual({ count: 3, created: 3 })
    expect(await bodies()).toEqual([
      { number: 'a', price: 1250.5, since: '2026-01-31', supplier: kern, note: '7' },
      { number: 'b', price: 2, supplier: kern },
      { number: 'c', price: null },
    ])
  })

  test('CSV text has rows too, each told with its line', async () => {
    const text = 'Number,Price\na,1.5\n"b\nb",\nc,2'
    expect((await run({ text })).outputs).toEqual({ count: 3, created: 3 })
    expect(await bodies()).toEqual([
      { number: 'a', price: 1.5 },
      { number: 'b\nb' },
      { number: 'c', price: 2 },
    ])
    await expect(run({ text: 'Number,Price\n"d\nd",1\ne,cheap' })).rejects.toMatchObject({
      flow: { details: { lines: [{ line: 4 }] } },
    })
    await expect(run({ text: 'number\n"1' })).rejects.toMatchObject({ code: 'INVALID_BODY' })
    expect(await bodies()).toHaveLength(3)
  })

  test('one wrong row, and none is stored: each is told with its line', async () => {
    const rows = [{ number: 'a' }, { number: 'b', price: 'cheap' }, { number: 'c', supplier: 'Ohm' }, 7]
    await expect(run({ rows, lines: [2, 3, 5, 6] })).rejects.toMatchObject({
      status: 400,
      message: 'Nothing was stored. Line 3: The value of price is not a number.',
      flow: {
        code: 'WRONG_ROWS',
        details: {
          lines: [
            { line: 3, fields: ['price'], reason: 'The value of price is not a number.' },
            {
              ...{ line: 5, fields: ['supplier'] },
              reason: `The value of supplier names no document: ${suppliers} has none with this name.`,
            },
            { line: 6, fields: [], reason: 'It is not an object.' },
          ],
        },
      },
    })
    expect(await bodies()).toEqual([])
  })

  test('a value that is taken is a wrong row too, unless documents are found by it', async () => {
    await run({ rows: [{ number: 'a', ean: '1', stock: 3 }] })
    const again = [{ number: 'A', ean: '1', price: '4' }, { number: 'b' }]
    await expect(run({ rows: again })).rejects.toMatchObject({
      status: 409,
      flow: { details: { lines: [{ line: 1, fields: ['number'] }] } },
    })
    const changed = await run({ rows: again, by: ['number'], set_new: { stock: 0 } })
    expect(changed.outputs).toEqual({ count: 2, created: 1 })
    expect(await bodies()).toEqual([
      { number: 'A', ean: '1', stock: 3, price: 4 },
      { number: 'b', stock: 0 },
    ])
    await expect(run({ rows: [{ number: 'b', ean: '1' }], by: ['number'] })).rejects.toMatchObject({
      status: 409,
      flow: { details: { lines: [{ line: 1, fields: ['ean'] }] } },
    })
    await expect(run({ rows: [{ price: 1 }], by: ['number'] })).rejects.toMatchObject({
      status: 400,
      flow: { details: { lines: [{ line: 1, fields: ['number'] }] } },
    })
    expect(await bodies()).toHaveLength(2)
  })

  test('at most 100 wrong rows are told', async () => {
    const rows = Array.from({ length: 150 }, (_, i) => ({ number: `n${i}`, price: 'cheap' }))
    const error: unknown = await run({ rows }).catch((thrown: unknown) => thrown)
    expect(Object(error).flow.details.lines).toHaveLength(100)
    expect(await bodies()).toEqual([])
  })
})
