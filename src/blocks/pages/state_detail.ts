import { fieldNameProblem, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { wordsOfField } from '../../shared/fields/field-names.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { appendNode, type PageNode } from '../../shared/pages/page-content.ts'
import type { RowParts } from '../../shared/rows/row-part.ts'
import { valueFormats } from '../../shared/value-format.ts'
import { defineValue, PinError } from '../block.ts'

type DetailItem = Extract<PageNode, { kind: 'detail' }>['items'][number]

const MAX_FIELDS = 200

const detailParts: RowParts = {
  field: { kind: 'field' },
  label: { kind: 'text' },
  kind: { kind: 'choice', choices: valueFormats },
  currency: { kind: 'text' },
  link: { kind: 'text' },
}

/**
 * The fields of a document that a detail view shows, as a builder writes them: names, or objects `{ field, label, kind,
 * currency, link }`. Without any: all of its fields but `_meta`. Amounts have the currency of their field in this storage. Throws
 * PinError for `fields`.
 */
function detailItems(
  document: JsonObject,
  fields: readonly JsonValue[] | undefined,
  storage?: string,
): readonly DetailItem[] {
  const written = fields ?? Object.keys(document).filter((name) => name !== '_meta')
  if (written.length > MAX_FIELDS) throw new PinError('fields', `must be at most ${MAX_FIELDS}`)
  return written.map((one) => detailItem(document, typeof one === 'string' ? { field: one } : one, storage))
}

function detailItem(document: JsonObject, written: JsonValue, storage: string | undefined): DetailItem {
  const { field, label, kind, currency, link }: JsonObject = isJsonObject(written) ? written : {}
  if (typeof field !== 'string')
    throw new PinError('fields', 'must contain names of fields, or objects with a field')
  const problem = fieldNameProblem(field)
  if (problem) throw new PinError('fields', `has the field ${JSON.stringify(field)}, which ${problem}`)
  const format = kind === undefined ? 'auto' : valueFormats.find((one) => one === kind)
  if (format === undefined)
    throw new PinError('fields', `has an unknown kind; allowed: ${valueFormats.join(', ')}`)
  const isAmount = storage !== undefined && (format === 'auto' || format === 'currency')
  const named = typeof currency === 'string' ? currency : isAmount ? `${storage}.${field}` : undefined
  const href = typeof link === 'string' ? filledLink(link, document) : undefined
  return {
    label: typeof label === 'string' && label !== '' ? label : wordsOfField(field),
    value: valueAt(document, parseFieldPath(field)) ?? null,
    format,
    ...(named !== undefined && { currency: named }),
    ...(href !== undefined && { href }),
  }
}

/** `/customers/{customer}` with the document's values, each as one part of a path; undefined when one is missing. */
function filledLink(link: string, document: JsonObject): string | undefined {
  let missing = false
  const href = link.replace(/\{([^{}]+)\}/g, (_whole, name: string) => {
    const value = fieldNameProblem(name) ? undefined : valueAt(document, parseFieldPath(name))
    if (typeof value === 'string' || typeof value === 'number') return encodeURIComponent(value)
    missing = true
    return ''
  })
  return missing ? undefined : href
}

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
