/** How a request says that a file of documents is read. */

import type { ColumnFormats, ColumnMapping } from '../../../records/documents/import-columns.ts'
import { namedReferences } from '../../../records/documents/named-references.ts'
import type { FileReading } from '../../../records/documents/table-import-rows.ts'
import { rulesIn } from '../../../records/fields/field-rules.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { fieldNameProblem } from '../../../shared/field-path.ts'
import { CSV, XLSX } from '../../../shared/files/file-types.ts'
import { isJsonObject } from '../../../shared/json.ts'
import { type ColumnFormat, columnFormats } from '../../../shared/rows/recognized-table.ts'
import type { Session } from '../../../storage/database.ts'

const separators = { comma: ',', semicolon: ';', tab: '\t' } as const

export interface FileQuery {
  readonly mapping?: string
  readonly decimal?: 'point' | 'comma'
  readonly dates?: 'dmy' | 'mdy' | 'ymd'
  readonly separator?: keyof typeof separators
  readonly formats?: string
  readonly sheet?: string
  readonly header?: number
  readonly rows?: 'objects' | 'arrays'
}

export async function fileReading(
  session: Session,
  storage: string,
  contentType: string | undefined,
  { mapping, decimal = 'point', dates, separator, formats, sheet, header, rows: lines }: FileQuery,
): Promise<FileReading> {
  const columns = mappingIn(mapping)
  const rules = await rulesIn(session, storage)
  return {
    format: formatOf(contentType, lines),
    mapping: columns,
    named: await namedReferences(session, storage, rules, Object.values(columns)),
    dialect: { decimal, ...(dates && { dates }) },
    formats: formatsIn(formats),
    separator: separator && separators[separator],
    sheet,
    header,
    rules,
  }
}

function formatOf(contentType: string | undefined, rows: FileQuery['rows']): FileReading['format'] {
  if (contentType?.startsWith(CSV)) return 'csv'
  if (contentType?.startsWith(XLSX)) return 'xlsx'
  return rows === 'arrays' ? 'arrays' : 'ndjson'
}

function mappingIn(text: string | undefined): ColumnMapping {
  const wrong = 'mapping must be a JSON object: column → field, or null to leave it out.'
  const mapping: Record<string, string | null> = {}
  for (const [column, field] of Object.entries(objectOf('mapping', text, wrong))) {
    if (field !== null && (typeof field !== 'string' || fieldNameProblem(field)))
      throw refused('mapping', wrong)
    mapping[column] = field
  }
  return mapping
}

function formatsIn(text: string | undefined): ColumnFormats {
  const wrong = `formats must be a JSON object: column → ${columnFormats.join(', ')}.`
  const formats: Record<string, ColumnFormat> = {}
  for (const [column, format] of Object.entries(objectOf('formats', text, wrong))) {
    const known = columnFormats.find((one) => one === format)
    if (known === undefined) throw refused('formats', wrong)
    formats[column] = known
  }
  return formats
}

function objectOf(name: string, text: string | undefined, wrong: string): object {
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value
  } catch {
    // Said below.
  }
  throw refused(name, wrong)
}

function refused(name: string, message: string): QuoinError {
  return new QuoinError('INVALID_QUERY', message, { fields: [name] })
}
