/**
 * Lists of objects that a builder writes in a block, such as the columns of a table: what each object may hold, as plain
 * data. The studio draws a row with a field for each part from it.
 */
export const rowPartKinds = ['name', 'field', 'text', 'number', 'switch', 'choice', 'expression'] as const

export interface RowPart {
  /**
   * `field`: one of the block's storage. `name` and `field`, as the first part, may be written alone, as text.
   * `expression`: text that begins with `=`, in which `doc` is a document of that storage and `value` its field.
   */
  readonly kind: (typeof rowPartKinds)[number]
  readonly choices?: readonly string[]
}

/** By key of the object, in the order in which they are shown; the first one says what the row is about. */
export type RowParts = Readonly<Record<string, RowPart>>
