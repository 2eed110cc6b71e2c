/** How a request says that a file of documents is read. */

import type { ColumnMapping } from '../../../records/documents/import-columns.ts'
import { namedReferences } from '../../../records/documents/named-references.ts'
import type { FileReading } from '../../../records/documents/table-import-rows.ts'
import { rulesIn } from '../../../records/fields/field-rules.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { fieldNameProblem } from '../../../shared/field-path.ts'
import { CSV, XLSX } from '../../../shared/files/table-types.ts'
import { isJsonObject } from '../../../shared/json.ts'
import type { Session } from '../../../storage/database.ts'

const separators = { comma: ',', semicolon: ';', tab: '\t' } as const

export interface FileQuery {
  readonly mapping?: string
  readonly decimal?: 'point' | 'comma'
  readonly dates?: 'dmy' | 'mdy' | 'ymd'
  readonly separator?: keyof typeof separators
}

export async function fileReading(
  session: Session,
  storage: string,
  contentType: string | undefined,
  { mapping, decimal = 'point', dates, separator }: FileQuery,
): Promise<FileReading> {
  const columns = mappingIn(mapping)
  const rules = await rulesIn(session, storage)
  return {
    format: contentType?.startsWith(CSV) ? 'csv' : contentType?.startsWith(XLSX) ? 'xlsx' : 'ndjson',
    mapping: columns,
    named: await namedReferences(session, storage, rules, Object.values(columns)),
    dialect: { decimal, ...(dates && { dates }) },
    separator: separator && separators[separator],
    rules,
  }
}

function mappingIn(text: string | undefined): ColumnMapping {
  if (text === undefined) return {}
  const mapping: Record<string, string | null> = {}
  for (const [column, field] of Object.entries(objectOf(text))) {
    if (field !== null && (typeof field !== 'string' || fieldNameProblem(field))) throw wrong()
    mapping[column] = field
  }
  return mapping
}

function objectOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value
  } catch {
    // Said below.
  }
  throw wrong()
}

function wrong(): QuoinError {
  return new QuoinError(
    'INVALID_QUERY',
    'mapping must be a JSON object: column → field, or null to leave it out.',
    { fields: ['mapping'] },
  )
}
