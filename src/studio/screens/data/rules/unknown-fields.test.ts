import { expect, test } from 'vitest'
import { unknownFields } from './unknown-fields.ts'

const fields = ['start', 'end', 'address.street', 'owner']
const names = (rule: string, shared: readonly string[] = []) =>
  unknownFields(rule, fields, shared).map(({ name }) => name)

test('a rule that reads a field that the storage does not have is named, with the field that was meant', () => {
  expect(unknownFields('doc.end >= doc.strt', fields, [])).toEqual([{ name: 'strt', meant: 'start' }])
  expect(unknownFields('doc.colour == "red"', fields, [])).toEqual([{ name: 'colour', meant: undefined }])
  expect(names('doc["ende"] == 1 || doc?.onwer == user.guid || doc.ende > 2')).toEqual(['ende', 'onwer'])
  expect(names("doc['ende'] == 1")).toEqual(['ende'])
})

test('fields of the storage, parts of them, what is stored of each document, and words in texts are not named', () => {
  expect(names('doc.end >= doc.start && doc.address.street != "" && doc._meta.guid != ""')).toEqual([])
  expect(names('doc.owner == "doc.strt" || doc.owner == "a \\" doc.strt"')).toEqual([])
  expect(names('my_doc.strt == 1')).toEqual([])
  expect(
    unknownFields('doc.anything == 1', [], ['code']),
    'documents without fields hold any values',
  ).toEqual([])
})

test('a field that belongs to no storage holds for every storage and is not named', () => {
  expect(names('doc.created_by == user.guid', ['created_by'])).toEqual([])
  expect(unknownFields('doc.created_bye == 1', fields, ['created_by'])).toEqual([
    { name: 'created_bye', meant: 'created_by' },
  ])
})

test('what is no read of the document is not named: names within a function, texts with values, and half a rule', () => {
  expect(names(`doc.owner == \`a \${doc.strt} b\``)).toEqual(['strt'])
  expect(names('doc.tags.some(doc => doc.strt > 1)')).toEqual(['tags'])
  expect(names('user.doc.strt == 1')).toEqual([])
  expect(names('doc . strt == 1')).toEqual(['strt'])
  expect(names('doc.strt ==')).toEqual([])
})
