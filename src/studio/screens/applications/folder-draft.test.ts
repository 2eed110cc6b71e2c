import { expect, test } from 'vitest'
import { folderChanges, inRequests, nameInFolder, readFolderFiles } from './folder-draft.ts'

const file = (path: string, text = path, size = text.length) => ({ path, size, text: async () => text })

test('files beside the application are left out, as by the command line', async () => {
  const files = await readFolderFiles(
    [
      'crm/quoin.json',
      'crm/blueprints/deals.json',
      'crm/.git/config',
      'crm/.gitignore',
      'crm/README.md',
      'crm/node_modules/a/b/c.js',
    ].map((path) => file(path)),
  )
  expect([...files.keys()]).toEqual(['quoin.json', 'blueprints/deals.json'])
})

test.each([
  [[file('crm/blueprints/deep/deals.json')], 'blueprints/deep/deals.json cannot be a file'],
  [[file('crm/blueprints/dé.json')], 'blueprints/dé.json cannot be a file'],
  [[file('crm/blueprints/deals.json', 'a', 1024 * 1024 + 1)], 'blueprints/deals.json has more than 1 MiB'],
  [Array.from({ length: 5_001 }, (_, n) => file(`crm/tests/t${n}.test.json`)), 'more than 5000 files'],
])('a folder that is no application is refused with the file: %#', async (files, message) => {
  await expect(readFolderFiles(files)).rejects.toThrow(message)
})

test.each([
  ['{"name":"crm"}', 'crm'],
  ['{"name":""}', undefined],
  ['{"name":3}', undefined],
  ['{', undefined],
  [undefined, undefined],
])('the name of %s is %s', (text, name) => {
  const files = new Map(text === undefined ? [] : [['quoin.json', text]])
  if (name === undefined) expect(() => nameInFolder(files)).toThrow('has no quoin.json with a name')
  else expect(nameInFolder(files)).toBe(name)
})

test('a draft becomes the folder: changed, new and missing files, and what was drafted before', () => {
  const folder = new Map([
    ['a', 'as it was'],
    ['b', 'changed'],
    ['c', 'new'],
    ['e', 'as it was'],
  ])
  const present = new Map([
    ['a', 'as it was'],
    ['b', 'before'],
    ['d', 'gone'],
    ['e', 'as it was'],
  ])
  expect(folderChanges(folder, present, ['e', 'f'])).toEqual([
    { path: 'b', text: 'changed' },
    { path: 'c', text: 'new' },
    { path: 'e', text: 'as it was' },
    { path: 'd', remove: true },
    { path: 'f', remove: true },
  ])
  expect(folderChanges(present, present, [])).toEqual([])
})

test('no request has more than 200 changes or 3 MiB', () => {
  const small = Array.from({ length: 450 }, (_, n) => ({ path: `p${n}`, text: '' }))
  expect(inRequests(small).map(({ length }) => length)).toEqual([200, 200, 50])
  const large = Array.from({ length: 4 }, (_, n) => ({ path: `p${n}`, text: '\n'.repeat(700_000) }))
  expect(inRequests(large).map(({ length }) => length)).toEqual([2, 2])
  expect(inRequests([])).toEqual([])
})
