import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import { defineValue } from '../block.ts'
import { detailItems, detailParts } from './detail-items.ts'

export default defineValue({
  identifier: 'state_detail',
  title: 'Detail view',
  words: 'Details of {document}',
  summary: 'Shows the fields of a document on the page, with labels and values.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    document: { type: 'object', required: true, help: 'The document to show.' },
    storage: {
      type: 'storage',
      help: 'Storage of the document: amounts are shown in the currency that their field has.',
    },
    fields: {
      type: 'array',
      rows: detailParts,
      help: 'Names of fields, or objects with field, label, kind (text, number, currency, date, date_time, boolean, badge, link, email …), currency and link (a path such as /customers/{customer}). Empty: all fields.',
    },
  },
  out: { state: { type: 'state', help: 'The page with the fields.' } },
  settings: {},
  value: ({ state, document, storage, fields }) => ({
    state: appendNode(state, {
      kind: 'detail',
      items: detailItems(document, fields, storage),
      ...documentOf(document),
    }),
  }),
})

function documentOf({ _meta: meta }: JsonObject): { readonly document?: string } {
  return isJsonObject(meta) && typeof meta.guid === 'string' ? { document: meta.guid } : {}
}
