import { Type } from 'typebox'
import { CSV, NDJSON, XLSX } from '../../files/file-types.ts'
import type { JsonObject, JsonValue } from '../../json.ts'
import { columnFormats } from '../../rows/recognized-table.ts'
import { anyJson, metaSchema, storedRecord } from '../record-schemas.ts'
import { pageParameters, searchQuerySchema, searchSchema } from '../search.ts'
import type { Wire } from '../wire.ts'

export const documentParams = Type.Object({
  guid: Type.String({ description: 'The `_meta.guid` of the storage.' }),
  document: Type.String({ description: 'The `_meta.guid` of the document.' }),
})

/** As it is stored: `_meta` and whatever fields it has. */
const documentRecord = Type.Object({ _meta: metaSchema }, { additionalProperties: true })
export type Document = Wire<typeof documentRecord> & { readonly [field: string]: unknown }
export const documentSchema = storedRecord(documentRecord)

export const documentFieldsSchema = Type.Unsafe<JsonObject>(
  Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'Field → value; use dots for nested fields. `_meta` is ignored.',
    },
  ),
)

/** A storage has at most 16 references. */
const MOST_EXPANDED_FIELDS = 16

export const documentSearchSchema = Type.Object(
  {
    ...searchSchema.properties,
    expand: Type.Optional(
      Type.Array(Type.String({ maxLength: 200 }), {
        maxItems: MOST_EXPANDED_FIELDS,
        description:
          'References to follow: the document that the field names is added as `_expand.<field>`, or null if it is removed.',
      }),
    ),
    include_removed: Type.Optional(Type.Boolean({ description: 'Also find removed documents.' })),
  },
  { additionalProperties: false },
)

/** What searches of every kind of record take; only documents have `include_removed`. */
export type DocumentSearch = Omit<Wire<typeof documentSearchSchema>, 'expand'>

export const getDocumentQuery = Type.Object({
  expand: Type.Optional(
    Type.String({
      maxLength: 1_000,
      description:
        'References to follow, separated by commas: `customer,payer`. Each is added as `_expand.<field>`.',
    }),
  ),
})

export const createDocumentQuery = Type.Object({
  expiry: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Unix seconds; the document is deleted within a minute of this time. If omitted, never.',
    }),
  ),
})

export const updateDocumentQuery = Type.Object({
  update_hash: Type.Optional(
    Type.String({ description: 'Change only if this is still the `_meta.update_hash`; else 409.' }),
  ),
})

export const removeDocumentQuery = Type.Object({
  hard: Type.Optional(
    Type.Boolean({ description: 'Delete permanently, also a removed document.', default: false }),
  ),
})

export const historyQuery = Type.Object(pageParameters(1000))

const historyEntryRecord = Type.Object({
  _meta: metaSchema,
  document: Type.String({ description: 'Guid of the document.' }),
  action: Type.Enum(['created', 'updated', 'removed', 'restored', 'deleted']),
  removed: Type.Optional(
    Type.Boolean({ description: 'Of `deleted`: whether it was a removed document. Not in older records.' }),
  ),
  cms: Type.Optional(Type.Number({ description: 'The same: when it was created.' })),
  expiry: Type.Optional(Type.Number({ description: 'The same: when it expired.' })),
  user: Type.Object(
    { guid: Type.String(), username: Type.String() },
    { description: '`system` with an empty guid if no user was signed in.' },
  ),
  run: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Guid of the run that wrote it.',
  }),
  revisions: Type.Array(
    Type.Object({
      key: Type.String({ description: 'Dotted name of the field.' }),
      type: Type.String({ description: '`set.field`, `remove.field`, `array.add` or `array.remove`.' }),
      value: anyJson('Since then; null if the field is gone. Large values are `{ left_out: <characters> }`.'),
      previous_value: anyJson('Before.'),
    }),
  ),
})
export type HistoryEntry = Wire<typeof historyEntryRecord>
export type Revision = HistoryEntry['revisions'][number]
export const historySchema = storedRecord(historyEntryRecord)

const many = {
  guids: Type.Optional(
    Type.Array(Type.String(), { minItems: 1, maxItems: 1000, description: 'Guids of documents.' }),
  ),
  query: searchSchema.properties.query,
  filters: searchSchema.properties.filters,
  in_background: Type.Optional(
    Type.Boolean({
      description:
        'For any number of documents: a job changes them in batches. `GET /queue/{guid}` has its progress; DELETE cancels it between two batches. Documents whose change is refused are left as they are, counted and listed there.',
    }),
  ),
}

export const updateManySchema = Type.Object(
  { set: documentFieldsSchema, ...many },
  { additionalProperties: false },
)

export const removeManySchema = Type.Object(
  {
    ...many,
    hard: Type.Optional(Type.Boolean({ description: 'Delete permanently.', default: false })),
    include_removed: Type.Optional(
      Type.Boolean({ description: 'With `hard`, also delete removed documents.', default: false }),
    ),
  },
  { additionalProperties: false },
)

export const restoreManySchema = Type.Object(many, { additionalProperties: false })

export const manySchema = Type.Object({
  count: Type.Integer({
    description: 'Number of changed documents; with `in_background`, of those that match.',
  }),
  job: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The guid of the job, with `in_background`.',
  }),
  run: Type.String({
    description:
      'The guid under which the history has these writes: `POST /runs/{guid}/undo` takes them back.',
  }),
})
export type ManyChanged = Wire<typeof manySchema>

const formerValues = Type.Object(
  {
    guid: Type.String({ description: 'Of the document.' }),
    from: documentFieldsSchema,
    to: documentFieldsSchema,
  },
  {
    additionalProperties: false,
    description:
      'Each field of `to` gets its value there, if it holds the one of `from`. Missing fields count as null.',
  },
)

export const putBackSchema = Type.Object(
  {
    changes: Type.Optional(Type.Array(formerValues, { maxItems: 1000 })),
    restore: Type.Optional(
      Type.Array(Type.String(), { maxItems: 1000, description: 'Guids of removed documents.' }),
    ),
  },
  { additionalProperties: false },
)

export const putBackReplySchema = Type.Object({
  count: Type.Integer({ description: 'Number of documents that were written.' }),
  run: manySchema.properties.run,
  left: Type.Array(
    Type.Object({
      guid: Type.String(),
      fields: Type.Array(Type.String(), { description: 'Those that stay; empty: the whole document.' }),
      message: Type.String(),
    }),
    { description: 'What stays as it is, since others have changed it or a rule refuses it.' },
  ),
})
export type PutBackReply = Wire<typeof putBackReplySchema>

const tableCell = Type.Union([Type.String(), Type.Number(), Type.Boolean()])

const lineProblem = Type.Object({
  line: Type.Integer({ description: 'Of the file, from 1.' }),
  fields: Type.Array(Type.String()),
  message: Type.String(),
  reasons: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'What is wrong with each field: with `wrong_cells`.',
    }),
  ),
  cells: Type.Optional(
    Type.Array(tableCell, {
      description:
        'As they stand in the file; of NDJSON the line. At most 4,000,000 characters of all lines.',
    }),
  ),
})
export type LineProblem = Wire<typeof lineProblem>

const fileColumn = Type.Object({
  column: Type.String(),
  field: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
})

export const importedSchema = Type.Object({
  imported: Type.Integer({ description: 'Number of created documents.' }),
  refused: Type.Optional(Type.Integer({ description: 'Number of lines left out, with `skip_invalid`.' })),
  problems: Type.Optional(
    Type.Array(lineProblem, { description: 'The first 100 of them, with `wrong_cells` the first 1,000.' }),
  ),
  refused_lines: Type.Optional(
    Type.String({ description: 'The numbers of all of them, where not all are listed: `3, 5-9`.' }),
  ),
  columns: Type.Optional(
    Type.Array(fileColumn, {
      description: 'Of the file, for the cells of refused lines: with `wrong_cells`.',
    }),
  ),
  undo: Type.Optional(
    Type.String({
      description: 'Guid of the import, with `undo`: for `DELETE …/documents/imports/{import}`.',
    }),
  ),
})
export type Imported = Wire<typeof importedSchema>

const fileQuery = {
  mapping: Type.Optional(
    Type.String({
      maxLength: 8_000,
      description:
        'JSON: column → field, or null to leave it out; `customer.name` finds what the field `customer` refers to by its unique name. Other columns go into the field of their name or label.',
    }),
  ),
  decimal: Type.Optional(
    Type.Enum(['point', 'comma'], { description: 'Decimal mark of numbers in CSV. Default: `point`.' }),
  ),
  dates: Type.Optional(
    Type.Enum(['dmy', 'mdy', 'ymd'], {
      description:
        'Order of day, month and year in days such as 3/4/2026. If not given, days with slashes are refused, and 3.4.2026 is in April.',
    }),
  ),
  separator: Type.Optional(
    Type.Enum(['comma', 'semicolon', 'tab'], {
      description: 'Of cells in CSV. If not given, the most frequent one in the line of the names.',
    }),
  ),
  formats: Type.Optional(
    Type.String({
      maxLength: 8_000,
      description:
        'JSON: column → `point` or `comma`, the decimal mark of its numbers, or `dmy`, `mdy` or `ymd`, the order of its days, where that differs from `decimal` and `dates`.',
    }),
  ),
  rows: Type.Optional(
    Type.Enum(['objects', 'arrays'], {
      description:
        'What the lines of NDJSON are: documents, or arrays of cells, the first with the names of columns. Default: `objects`.',
    }),
  ),
  sheet: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Name of the sheet of XLSX. If not given, the first that is not hidden.',
    }),
  ),
  header: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description:
        'The line that names the columns of CSV and XLSX; those before it are left out. If not given, the first line that is not empty.',
    }),
  ),
}

export const importQuery = Type.Object({
  ...fileQuery,
  id: Type.Optional(
    Type.String({
      maxLength: 36,
      description:
        'A new UUIDv7, which names the import: where its answer was lost, send it again with the same one. What was imported is not imported twice, and the numbers of the first time are the answer; 409 while it is still being written.',
    }),
  ),
  wrong_cells: Type.Optional(
    Type.Boolean({
      description:
        'List refused lines with their cells, and what is wrong with each field: the first 1,000 of them.',
      default: false,
    }),
  ),
  skip_invalid: Type.Optional(
    Type.Boolean({ description: 'Leave out lines that are refused, and list them.', default: false }),
  ),
  undo: Type.Optional(
    Type.Boolean({
      description:
        'Keep what is needed to undo it: of the last 20 such imports, up to 100,000 documents each.',
      default: false,
    }),
  ),
})

export const previewQuery = Type.Object({
  ...fileQuery,
  beginning: Type.Optional(
    Type.Boolean({
      description:
        'What is sent is the beginning of a file, cut anywhere: a last row or character that is not whole is left out.',
      default: false,
    }),
  ),
  recognize: Type.Optional(
    Type.Boolean({
      description:
        'Recognize the line of the names, unless `header` says it, and how columns write numbers and days. The reply says what to send with the import.',
      default: false,
    }),
  ),
})

const recognizedFormat = Type.Object(
  {
    format: Type.Optional(
      Type.Enum([...columnFormats], {
        description: 'For `formats`. Not given where the texts do not say it: ask.',
      }),
    ),
    sample: Type.String({ description: 'A text of the column that shows it.' }),
    readings: Type.Array(
      Type.Object({
        format: Type.Enum([...columnFormats]),
        value: Type.Unsafe<JsonValue>({ description: 'The sample read so; null: it is none.' }),
      }),
    ),
  },
  { description: 'How the column writes numbers or days, where it matters: with `recognize`.' },
)

export const previewSchema = Type.Object({
  dialect: Type.Optional(
    Type.Object(
      {
        format: Type.Enum(['csv', 'xlsx']),
        encoding: Type.Optional(Type.Enum(['utf-8', 'utf-16le', 'utf-16be'])),
        separator: Type.Optional(Type.String({ description: 'Between cells of CSV.' })),
        sheet: Type.Optional(Type.String({ description: 'The sheet of the workbook that is read.' })),
        sheets: Type.Optional(Type.Array(Type.String(), { description: 'Those that are not hidden.' })),
        dates_from: Type.Optional(
          Type.Integer({ description: 'Year from which the workbook counts days: 1900 or 1904.' }),
        ),
      },
      { description: 'What was recognised of a CSV or XLSX file.' },
    ),
  ),
  header: Type.Optional(Type.Integer({ description: 'The line of the names of columns.' })),
  columns: Type.Array(
    Type.Object({
      column: Type.String(),
      field: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
      format: Type.Optional(recognizedFormat),
    }),
    { description: 'Columns of a CSV or XLSX file, with the fields that they go into; null: left out.' },
  ),
  rows: Type.Array(
    Type.Object({
      line: Type.Integer(),
      document: Type.Optional(
        Type.Unsafe<JsonObject>({
          type: 'object',
          additionalProperties: true,
          description: 'As it would be stored.',
        }),
      ),
      problem: Type.Optional(lineProblem),
      cells: Type.Optional(
        Type.Array(tableCell, { description: 'As they stand in the file: with `recognize`.' }),
      ),
    }),
    { description: 'The first 20 rows.' },
  ),
})
export type ImportPreview = Wire<typeof previewSchema>

export const importParams = Type.Object({
  guid: Type.String({ description: 'The `_meta.guid` of the storage.' }),
  import: Type.String({ description: '`undo` of an import.' }),
})

export const undoneSchema = Type.Object({
  deleted: Type.Integer(),
  left: Type.Integer({
    description: 'Documents that stay: changed or removed since, or referred to by others.',
  }),
})
export type Undone = Wire<typeof undoneSchema>

/** As many documents as a blueprint file may bring for one storage. */
export const MAX_SAMPLES = 2_000

export const samplesSchema = Type.Object(
  {
    storage: Type.String({ description: 'Name of the storage.', minLength: 1, maxLength: 63 }),
    documents: Type.Array(documentFieldsSchema, { maxItems: MAX_SAMPLES }),
  },
  { additionalProperties: false },
)

export const exportQuery = Type.Object({
  format: Type.Optional(Type.Enum(['ndjson', 'csv', 'xlsx'], { default: 'ndjson' })),
  query: searchQuerySchema.properties.query,
  filters: searchQuerySchema.properties.filters,
  sort: searchQuerySchema.properties.sort,
  columns: Type.Optional(
    Type.String({
      maxLength: 8_000,
      description:
        'JSON list of fields: the columns of a CSV or XLSX file; `customer.name` is a field of the document that `customer` refers to. If not given, the fields of the storage.',
    }),
  ),
  references: Type.Optional(
    Type.Enum(['guid', 'name'], {
      description:
        'How CSV and XLSX write what a field refers to: its guid, or the value of its first unique text field, by which an import finds it. Default: `guid`.',
    }),
  ),
})

/** The map of types keeps the errors of an export JSON. */
export const exportResponse = {
  description: 'One document per line.',
  content: {
    [NDJSON]: { schema: Type.Unsafe<unknown>({ type: 'string' }) },
    [CSV]: { schema: Type.Unsafe<unknown>({ type: 'string' }) },
    [XLSX]: { schema: Type.Unsafe<unknown>({ type: 'string', format: 'binary' }) },
  },
}
