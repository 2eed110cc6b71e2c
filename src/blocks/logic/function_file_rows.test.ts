import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { requestWith, runBlock } from '../../../test/run-block.ts'
import { xlsxFile } from '../rows/xlsx-file.ts'
import type { PageVisit } from '../run-request.ts'
import block from './function_file_rows.ts'

/** A visit with which one file was sent. */
function visitWith(...pieces: readonly (string | Uint8Array)[]): PageVisit {
  async function* bytes() {
    for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece
  }
  return {
    beginAgain: () => undefined,
    show: () => false,
    proceed: () => undefined,
    finish: () => undefined,
    submitted: undefined,
    readFile: (guid) => (guid === 'sent' ? bytes() : undefined),
  }
}

test.each([
  [{ guid: 'another' }, visitWith('a\n1')],
  [{ name: 'a.csv' }, visitWith('a\n1')],
  [{ guid: 'sent' }, undefined],
])('%j: only what was sent with the form is read', async (file, visit) => {
  const request = requestWith(visit ? { visit } : {})
  await expect(runBlock(block, { inputs: { file }, request })).rejects.toThrow('not a file submitted')
})

test.each([
  ['a,a\n1,2', 'two columns named a'],
  ['a,,b\n1,2,3', 'no name for its column 2'],
  ['constructor\n1', 'the invalid name constructor'],
  ['First name,first-name\n1,2', 'two columns named first_name'],
  ['a\n1\n2\n3', 'more than 2 rows'],
  ['a\n1,2', 'more cells in line 2'],
  ['a\n"1', 'never closed'],
])('the text %j is refused', async (text, message) => {
  await expect(runBlock(block, { inputs: { text, limit: 2 } })).rejects.toMatchObject({
    code: 'INVALID_BODY',
    message: expect.stringContaining(message),
  })
})

test.each([
  [[Buffer.from([0x61, 0x0a, 0xfc, 0x62])], 'not UTF-8 text'],
  [[Buffer.from([0x61, 0x0a, 0xc3])], 'not UTF-8 text'],
  [['a\n', ...Array.from({ length: 33 }, () => `${'x\n'.repeat(512 * 1024)}`)], 'larger than 32 MB'],
])('a file is refused', async (pieces, message) => {
  const request = requestWith({ visit: visitWith(...pieces) })
  const inputs = { file: { guid: 'sent' }, limit: 50_000 }
  const failing = expect(runBlock(block, { inputs, request })).rejects
  await failing.toMatchObject({
    code: 'INVALID_BODY',
    message: expect.stringMatching(new RegExp(`${message}|more than 50000`)),
  })
})

test.each([
  ['', [], [], []],
  ['name,city', ['name', 'city'], [], []],
  [
    'name , city,\nAda, York ,\n\n,Bath\n',
    ['name', 'city'],
    [{ name: 'Ada', city: 'York' }, { city: 'Bath' }],
    [2, 4],
  ],
  ["name\n'=1+1\n'tis\n", ['name'], [{ name: '=1+1' }, { name: "'tis" }], [2, 3]],
  ['name\n"Ada\nByron"\nAlan\n', ['name'], [{ name: 'Ada\nByron' }, { name: 'Alan' }], [2, 4]],
])('%j', async (text, columns, rows, lines) => {
  const { outputs } = await runBlock(block, { inputs: { text } })
  expect(outputs).toEqual({ rows, columns, count: rows.length, lines })
})

test.each([
  [true, { customer_since: '2020', e_mail: 'a@b', größe: '1' }],
  [false, { 'Customer since ': undefined, 'Customer since': '2020', 'E-mail': 'a@b', Größe: '1' }],
])('names of columns as names of fields: %j', async (as_fields, row) => {
  const text = 'Customer since ,E-mail,Größe\n2020,a@b,1'
  const { outputs } = await runBlock(block, { inputs: { text, as_fields } })
  expect(outputs.rows).toEqual([row])
})

test.each(['__proto__', 'prototype'])('a column called %s is refused', async (name) => {
  await expect(runBlock(block, { inputs: { text: `${name}\n1`, as_fields: false } })).rejects.toThrow(
    'the invalid name',
  )
})

test('a file that comes in pieces, cut inside a letter', async () => {
  const bytes = Buffer.from('\ufeffname;city\r\nBäckerei;Köln\r\n')
  const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte))
  const { outputs } = await runBlock(block, {
    inputs: { file: { guid: 'sent' } },
    request: requestWith({ visit: visitWith(...pieces) }),
  })
  expect(outputs).toEqual({
    rows: [{ name: 'Bäckerei', city: 'Köln' }],
    columns: ['name', 'city'],
    count: 1,
    lines: [2],
  })
})

test.each([
  [
    'utf-16le',
    Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('Name\tOrt\r\nJürgen\t東京\r\n', 'utf16le')]),
  ],
  [
    'utf-16be',
    Buffer.concat([
      Buffer.from([0xfe, 0xff]),
      Buffer.from('Name\tOrt\r\nJürgen\t東京\r\n', 'utf16le').swap16(),
    ]),
  ],
])('%s is read by its mark, in pieces of any size', async (_encoding, bytes) => {
  const pieces = [...bytes].map((byte) => Uint8Array.of(byte))
  const request = requestWith({ visit: visitWith(...pieces) })
  const { outputs } = await runBlock(block, { inputs: { file: { guid: 'sent' } }, request })
  expect(outputs.rows).toEqual([{ name: 'Jürgen', ort: '東京' }])
})

test('a workbook is a table too', async () => {
  async function* cells() {
    yield ['Name', 'Price', 'Sold']
    yield ['Tea', 4.5, true]
  }
  const bytes = await buffer(Readable.from(xlsxFile(cells())))
  const request = requestWith({ visit: visitWith(bytes.subarray(0, 3), bytes.subarray(3)) })
  const { outputs } = await runBlock(block, { inputs: { file: { guid: 'sent' } }, request })
  expect(outputs.rows).toEqual([{ name: 'Tea', price: 4.5, sold: true }])
})

test('marks and formulas that keep a text a text are no part of it', async () => {
  const text = 'code,note\n"=""00123""",\'=1+1'
  const { outputs } = await runBlock(block, { inputs: { text } })
  expect(outputs.rows).toEqual([{ code: '00123', note: '=1+1' }])
})
