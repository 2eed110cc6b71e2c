import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type FileFixture, openFileFixture } from '../../../test/file-fixture.ts'
import type { Circumstances } from '../../../test/run-block.ts'
import { MissingError, PinError } from '../block.ts'
import { type Cell, xlsxFile } from '../rows/xlsx-file.ts'
import eachRow from './each_row.ts'

let fixture: FileFixture

beforeAll(async () => {
  fixture = await openFileFixture()
})
afterEach(() => fixture.empty())
afterAll(() => fixture.close())

/** Rows of the newest file, named `table`, after storing this content. */
async function rows(content: string | Buffer, input: Circumstances = {}) {
  await fixture.put('table', content)
  return fixture.run(eachRow, { ...input, inputs: { file: 'table', ...input.inputs } })
}

async function sheet(...lines: readonly (readonly Cell[])[]): Promise<Buffer> {
  async function* input() {
    yield* lines
  }
  return buffer(Readable.from(xlsxFile(input())))
}

describe('refuses', () => {
  test.each([
    ['no file', { file: undefined }, PinError, 'file', 'is empty'],
    ['an object without a guid', { file: {} }, PinError, 'file', 'guid or the name'],
    ['an unknown file', { file: 'none.csv' }, MissingError, 'file', 'names no asset'],
    ['a separator that is none', { separator: '|' }, PinError, 'separator', 'comma'],
  ])('%s, before a row', async (_what, inputs, kind, pin, message) => {
    const body = () => expect.unreachable()
    await expect(rows('a\n1', { inputs, body })).rejects.toMatchObject({
      ...{ constructor: kind, pin, message: expect.stringContaining(message) },
    })
  })

  test.each<[string, string | Buffer | Promise<Buffer>, string]>([
    ['two columns of one name', 'a,a\n1,2', 'The file has two columns named a.'],
    ['two columns of one field', 'A b,a_b\n1,2', 'two columns named a_b'],
    ['a column without a name', 'a,,c\n1,2,3', 'no name for its column 2'],
    ['a name that reaches into prototypes', 'a,constructor\n1,2', 'invalid name constructor'],
    ['bytes that are no text', Buffer.from([0x61, 0x0a, 0xff]), 'is not UTF-8 text'],
    ['what only begins as a workbook', 'PK\u0003\u0004 and so on', 'no XLSX workbook'],
    ['a workbook that is cut off', sheet(['a'], [1]).then((whole) => whole.subarray(0, 300)), 'no XLSX'],
  ])('%s, as a fault of the body and before a row', async (_what, content, message) => {
    const body = () => expect.unreachable()
    await expect(rows(await content, { body })).rejects.toMatchObject({
      ...{ code: 'INVALID_BODY', message: expect.stringContaining(message) },
    })
  })

  test('more cells than names, with the line, after the rows before it', async () => {
    const passes: unknown[] = []
    const body: Circumstances['body'] = ({ line }) => passes.push(line) > 0
    await expect(rows('a\n1\n2,3\n4', { body })).rejects.toMatchObject({
      ...{ code: 'INVALID_BODY', message: expect.stringContaining('line 3') },
    })
    expect(passes).toEqual([2])
  })
})

test('runs the body for each row, in their order, and counts them without the header', async () => {
  const { outputs, next, passes } = await rows(
    'Name,Customer since\r\nAda,1815\r\n"a\nb",\r\n\r\nBob, 7 \r\n',
  )
  expect({ outputs, next }).toEqual({ outputs: { count: 3 }, next: 'flow' })
  expect(passes).toEqual([
    { line: 2, item: { name: 'Ada', customer_since: '1815' } },
    { line: 3, item: { name: 'a\nb' } },
    { line: 6, item: { name: 'Bob', customer_since: '7' } },
  ])
})

test('what rows have written is committed before more of the file is read, a thousand lines at a time', async () => {
  const lines = Array.from({ length: 2_500 }, (_, at) => String(at))
  const { outputs, commits } = await rows(`n\n${lines.join('\n')}`)
  expect([outputs, commits]).toEqual([{ count: 2_500 }, [999, 1_999]])
  const long = await rows(`n\n${'x'.repeat(600_000)}\n${'y'.repeat(600_000)}\nz`)
  expect([long.outputs, long.commits]).toEqual([{ count: 3 }, [2]])
  expect((await rows('n\n1\n2')).commits).toEqual([])
})

test('a workbook gives numbers and conditions, whatever its name', async () => {
  const { outputs, passes } = await rows(await sheet(['Name', 'Price', 'Low'], ['Ada', 1.5, true], ['Bob']))
  expect(outputs).toEqual({ count: 2 })
  expect(passes).toEqual([
    { line: 2, item: { name: 'Ada', price: 1.5, low: true } },
    { line: 3, item: { name: 'Bob' } },
  ])
})

test('names stay as they are without as_fields', async () => {
  const { passes } = await rows(' Customer since ,Größe\n1,2', { inputs: { as_fields: false } })
  expect(passes).toEqual([{ line: 2, item: { 'Customer since': '1', Größe: '2' } }])
})

test.each([
  ['auto', 'a;b\n1;2', { a: '1', b: '2' }],
  ['auto', 'a\tb\n1\t2', { a: '1', b: '2' }],
  ['comma', 'a;b,c\n1;2,3', { 'a;b': '1;2', c: '3' }],
  ['semicolon', 'a,b,c;d\n1;2', { 'a,b,c': '1', d: '2' }],
  ['tab', 'a,b,c\td\n1\t2', { 'a,b,c': '1', d: '2' }],
])('the separator %s: %j', async (separator, content, item) => {
  const { passes } = await rows(content, { inputs: { separator, as_fields: false } })
  expect(passes).toEqual([{ line: 2, item }])
})

test.each([
  ['an empty file', ''],
  ['a file of one byte', 'a'],
  ['a header alone', 'name,price\n'],
])('%s has no rows', async (_what, content) => {
  const { outputs, next, passes } = await rows(content)
  expect({ outputs, next, passes }).toEqual({ outputs: { count: 0 }, next: 'flow', passes: [] })
})

test('a body that ends the flow ends the loop, and nothing goes on', async () => {
  const body: Circumstances['body'] = ({ line }) => line !== 3
  const { outputs, next, passes } = await rows('a\n1\n2\n3', { body })
  expect({ outputs, next, lines: passes.map(({ line }) => line) }).toEqual({
    ...{ outputs: {}, next: null, lines: [2, 3] },
  })
})

test('a body that fails ends the loop with its own failure', async () => {
  const lines: unknown[] = []
  const body: Circumstances['body'] = ({ line }) => {
    lines.push(line)
    if (line === 3) throw new PinError('b', 'is wrong')
    return true
  }
  await expect(rows('a\n1\n2\n3', { body })).rejects.toMatchObject({ pin: 'b', message: 'is wrong' })
  expect(lines).toEqual([2, 3])
})

test('a run that is stopped reads no further', async () => {
  const stop = new AbortController()
  const lines: unknown[] = []
  const body: Circumstances['body'] = ({ line }) => {
    lines.push(line)
    if (line === 3) stop.abort(new Error('stopped'))
    return true
  }
  await expect(rows('a\n1\n2\n3\n4', { body, signal: stop.signal })).rejects.toThrow('stopped')
  expect(lines).toEqual([2, 3])
})

test('10,000 rows over many pieces of the file', async () => {
  const content = `n,text\n${Array.from({ length: 10_000 }, (_none, n) => `${n},${'ü'.repeat(20)}`).join('\n')}`
  const { outputs, passes } = await rows(content)
  expect(outputs).toEqual({ count: 10_000 })
  expect(passes.map(({ line }) => line)).toEqual(Array.from({ length: 10_000 }, (_none, n) => n + 2))
  expect(passes.at(-1)?.item).toEqual({ n: '9999', text: 'ü'.repeat(20) })
})
