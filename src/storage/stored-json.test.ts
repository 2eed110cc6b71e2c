import { expect, test } from 'vitest'
import { StoredJson } from './stored-json.ts'

const document = (n: number, more: object = {}) => ({ _meta: { guid: `g${n}` }, n, ...more })

test.each([
  ['of one', [document(1)]],
  ['of several', [document(1), document(2), document(3)]],
  ['whose last one holds others', [document(1), document(2, { a: [document(3), document(4)], b: 5 })]],
  ['whose texts look like documents', [document(1), document(2, { a: ',{"_meta":{"guid":"x"}}' })]],
  ['that holds more than are tried', [document(1, { a: Array.from({ length: 50 }, (_, n) => document(n)) })]],
  ['without documents', []],
])('the last document of a page %s', (_, documents) => {
  const page = new StoredJson(JSON.stringify(documents))
  expect(page.lastDocument()).toEqual(documents.at(-1))
  // As it is once the page was parsed.
  expect(page.value).toEqual(documents)
  expect(page.lastDocument()).toEqual(documents.at(-1))
})
