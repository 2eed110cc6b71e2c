import { expect, test } from 'vitest'
import { unknownFields } from './unknown-fields.ts'

const fields = ['start', 'end', 'address.street', 'owner']
const names = (rule: string) => unknownFields(rule, fields).map(({ name }) => name)

test('a rule that reads a field that the storage does not have is named, with the field that was meant', () => {
  expect(unknownFields('doc.end >= doc.strt', fields)).toEqual([{ name: 'strt', meant: 'start' }])
  expect(unknownFields('doc.colour == "red"', fields)).toEqual([{ name: 'colour', meant: undefined }])
  expect(names('doc["ende"] == 1 || doc?.onwer == user.guid || doc.ende > 2')).toEqual(['ende', 'onwer'])
  expect(names("doc['ende'] == 1")).toEqual(['ende'])
})

test('fields of the storage, parts of them, what is stored of each document, and words in texts are not named', () => {
  expect(names('doc.end >= doc.start && doc.address.street != "" && doc._meta.guid != ""')).toEqual([])
  expect(names('doc.owner == "doc.strt" || doc.owner == "a \\" doc.strt"')).toEqual([])
  expect(names('my_doc.strt == 1')).toEqual([])
  expect(unknownFields('doc.anything == 1', []), 'documents without fields may hold any values').toEqual([])
})
