/** What people would call a document. */
import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import type { Document } from '../../../../shared/api/data/documents.ts'

const usual = ['title', 'name', 'subject', 'email', 'label']

/** Its first text field, as data tables of pages show it; else a field with a usual name; else its guid. */
export function documentName(document: Document, fields: readonly FieldRecord[] = []): string {
  const first = fields.find(({ type, reference }) => type === 'string' && !reference)?.name
  for (const name of first === undefined ? usual : [first, ...usual]) {
    const value = document[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return document._meta.guid
}
