import fc from 'fast-check'
import { expect, test } from 'vitest'
import { localPath } from './account-form.ts'

test.each([
  undefined,
  '',
  'tasks',
  'https://evil.example',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\/evil.example',
  '/a\\b',
  '/\t/evil.example',
  '/\n/evil.example',
  '/ /evil.example',
  'javascript:alert(1)',
  '/a\u0000',
  '/é',
  '/./\u2028/evil.example',
  `/${'a'.repeat(2_048)}`,
  '/.//evil.example',
  '/a/..//evil.example',
])('%j leads nowhere', (written) => {
  expect(localPath(written)).toBeUndefined()
})

test.each([
  ['/', '/'],
  ['/tasks?page=2&a=%2F', '/tasks?page=2&a=%2F'],
  ['/tasks#top', '/tasks'],
  ['/a/../b', '/b'],
  ['/a?next=//evil.example', '/a?next=//evil.example'],
])('%j leads to %j', (written, path) => {
  expect(localPath(written)).toBe(path)
})

test('whatever is let through stays on this origin, in the words of browsers', () => {
  const parts = fc.constantFrom(
    '/',
    '\\',
    '.',
    '..',
    'a',
    ':',
    '@',
    '?',
    '#',
    '%2f',
    '%5c',
    '\t',
    'evil.example',
    'http:',
  )
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 8 }), (written) => {
      const path = localPath(written.join(''))
      if (path !== undefined)
        expect(new URL(path, 'https://here.example/login').origin).toBe('https://here.example')
    }),
    { numRuns: 2_000 },
  )
})
