/** What could be read of a row of a file, and what could not. */
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'

export interface ReadRow {
  readonly document: JsonObject
  /** What is wrong with values that could not be read, by field: the document is without them. */
  readonly reasons: Reasons
}

export type Reasons = Readonly<Record<string, string>>

/** INVALID_BODY with what is wrong with each of these fields. */
export function wrongFields(reasons: Reasons): QuoinError {
  return new QuoinError('INVALID_BODY', Object.values(reasons).join(' '), {
    fields: Object.keys(reasons),
    reasons,
  })
}
