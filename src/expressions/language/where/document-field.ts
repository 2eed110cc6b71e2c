import { fieldNameProblem } from '../../../shared/field-path.ts'
import type { Expression, Place } from '../expression.ts'

export type DocumentField =
  | { readonly path: string; readonly problem?: undefined }
  | { readonly path?: undefined; readonly problem: string; readonly at: Place }

export function isDocument(part: Expression): boolean {
  return part.kind === 'name' && part.name === 'doc' && !part.inBlocks
}

/** The field that a part reads: `doc.a.b`, `doc["a b"]`. Undefined when it is something else. */
export function documentField(part: Expression): DocumentField | undefined {
  const keys: { readonly key: string; readonly at: Place }[] = []
  let of = part
  while (of.kind === 'member' || of.kind === 'index') {
    if (of.kind === 'member') keys.unshift({ key: of.key, at: of })
    else if (of.key.kind === 'literal' && typeof of.key.value === 'string')
      keys.unshift({ key: of.key.value, at: of.key })
    else return undefined
    of = of.of
  }
  if (keys.length === 0 || !isDocument(of)) return undefined
  const dotted = keys.find(({ key }) => key.includes('.'))
  if (dotted) return { problem: 'A field whose name has a dot in it cannot be searched.', at: dotted.at }
  const length = keys.find(({ key }, index) => key === 'length' && index > 0)
  if (length)
    return {
      problem: 'The length of a field cannot be searched. Store it in a field of its own.',
      at: length.at,
    }
  const path = keys.map(({ key }) => key).join('.')
  const problem = fieldNameProblem(path)
  return problem === undefined
    ? { path }
    : { problem: `The field name ${JSON.stringify(path)} ${problem}.`, at: part }
}
