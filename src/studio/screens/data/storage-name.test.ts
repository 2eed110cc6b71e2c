import fc from 'fast-check'
import { expect, test } from 'vitest'
import { storageName } from './storage-name.ts'

test.each([
  ['Contracts', 'contracts'],
  ['contracts', 'contracts'],
  ['my-storage_2', 'my-storage_2'],
  ['Über uns', 'uber_uns'],
  ['Offene Straßen 2026!', 'offene_strassen_2026'],
  ['2026 orders', 'orders'],
  ['契約', ''],
])('%s is stored as %s', (label, name) => {
  expect(storageName(label)).toBe(name)
})

test('what is made is a name or nothing, and stays the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (label) => {
      const name = storageName(label)
      if (name !== '') expect(name).toMatch(/^[a-z][a-z0-9_-]{0,62}$/)
      expect(storageName(name)).toBe(name.replace(/_+$/, ''))
    }),
  )
})
