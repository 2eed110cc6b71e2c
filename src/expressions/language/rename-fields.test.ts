import { expect, test } from 'vitest'
import { renameFields } from './rename-fields.ts'

test.each([
  ['doc.title == "title"', 'doc.headline == "title"'],
  ['doc["title"] + doc.title.length()', 'doc.headline + doc.headline.length()'],
  ['doc.titles + title + doc.x.title', 'doc.titles + title + doc.x.title'],
  ['{ title: doc.title }', '{ title: doc.headline }'],
  ['doc.list.map(doc => doc.title) + doc.title', 'doc.list.map(doc => doc.title) + doc.headline'],
  ['user.title', 'user.title'],
  ['doc.title +', 'doc.title +'],
])('%s becomes %s', (text, renamed) => {
  const change = { from: 0, length: 1, keys: ['headline'] }
  expect(renameFields(text, (name, [key]) => (name === 'doc' && key === 'title' ? change : undefined))).toBe(
    renamed,
  )
})

test('a nested field keeps what is around it, and a name that is no word stands in brackets', () => {
  const change = { from: 1, length: 1, keys: ['town-name'] }
  const nested = (text: string) =>
    renameFields(text, (_name, path) => (path.join('.').startsWith('address.city') ? change : undefined))
  expect(nested('doc.address.city.length()')).toBe('doc.address["town-name"].length()')
})
