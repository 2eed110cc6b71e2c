/**
 * Which objects of lists are text of a blueprint. Only that is ever read as an expression: the same list from a wire or an
 * expression is data, in which `=…` is refused.
 */
import type { RowParts } from '../../shared/rows/row-part.ts'

const written = new WeakSet<object>()

/** Marks the objects of a literal whose rows may hold expressions. */
export function markWritten(parts: RowParts | undefined, literal: unknown): void {
  if (!parts || !Array.isArray(literal)) return
  if (!Object.values(parts).some(({ kind }) => kind === 'expression')) return
  for (const row of literal) if (typeof row === 'object' && row !== null) written.add(row)
}

export function isWritten(row: object): boolean {
  return written.has(row)
}
