import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jsonItems } from './json-items.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function itemsOf(text: string): Promise<unknown[]> {
  const path = join(folder, 'items.json')
  await writeFile(path, text)
  const items: unknown[] = []
  for await (const { item } of jsonItems(path)) items.push(item)
  return items
}

test.each([
  ['', 'has no list of items'],
  ['{}', 'has no list of items'],
  ['{"data":null,"x":[{}]}', 'has no list of items'],
  ['[{"a":1}', 'ends in the middle'],
  ['[{"a":"]}', 'ends in the middle'],
  ['[{"a":1},,{}]', 'item 2 is not JSON'],
  ['[1]', 'item 1 is no object'],
  ['[{"a":1}, [2]]', 'item 2 is no object'],
  ['[{"a":12345678901234567890}]', 'item 1 '],
])('%j is refused', async (text, problem) => {
  await expect(itemsOf(text)).rejects.toThrow(problem)
})

test('an item that is too long is refused before it is read whole', async () => {
  await expect(itemsOf(`[{"a":"${'x'.repeat(5_000_000)}`)).rejects.toThrow(
    'has an item of more than 4,000,000',
  )
})

const item = { 'a"[': 'q"]},\\', b: [1, { c: '\\"' }], d: {} }

test.each([
  ['[]', []],
  [' \n[ ] ', []],
  [JSON.stringify([item, {}]), [item, {}]],
  [
    JSON.stringify({
      page: 1,
      note: 'data: [1',
      more: { data: [1] },
      data: [item],
      after: [2, { items: [3] }],
    }),
    [item],
  ],
  [`\ufeff${JSON.stringify({ items: [item, item] }, undefined, 2)}`, [item, item]],
])('%j', async (text, items) => {
  expect(await itemsOf(text)).toEqual(items)
})

test('wherever the file is cut into pieces', async () => {
  const text = JSON.stringify({ data: [item, item] })
  for (let at = 0; at <= text.length; at++)
    expect(await itemsOf(`${' '.repeat(65_536 - at)}${text}`)).toEqual([item, item])
})
