import { expect, test } from 'vitest'
import { isOpenable, pagePath } from './page-path.ts'

test.each([
  ['books', '/books'],
  ['/books', '/books'],
  ['//elsewhere.example', '/elsewhere.example'],
  ['/', '/'],
  ['', undefined],
  [undefined, undefined],
  [7, undefined],
])('the address %j of a page block is the path %j', (url, path) => {
  expect(pagePath(url)).toBe(path)
})

test.each([
  ['/books', true],
  ['/', true],
  ['/books/{guid}', false],
  ['/books/:guid', false],
  ['/\\elsewhere.example', false],
])('whether a link can lead to %j: %s', (path, can) => {
  expect(isOpenable(path)).toBe(can)
})
