export interface Difference {
  /** Dotted path; empty for the value as a whole. */
  readonly path: string
  readonly change: 'added' | 'changed' | 'removed'
  readonly before: unknown
  readonly after: unknown
}

/**
 * How one JSON value became another: leaf by leaf, in the order of the new value, removed ones last. Lists are compared by
 * place. An object or list that was added or removed as a whole is one difference, not twenty lines.
 */
export function diffValues(before: unknown, after: unknown, path = ''): Difference[] {
  if (Object.is(before, after)) return []
  if (isObject(before) && isObject(after)) return diffObjects(before, after, path)
  if (Array.isArray(before) && Array.isArray(after) && before.some(isObject) && after.some(isObject))
    return diffObjects({ ...before }, { ...after }, path)
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  if (before === undefined || before === null) return [{ path, change: 'added', before, after }]
  if (after === undefined || after === null) return [{ path, change: 'removed', before, after }]
  return [{ path, change: 'changed', before, after }]
}

type Fields = Readonly<Record<string, unknown>>

function diffObjects(before: Fields, after: Fields, path: string): Difference[] {
  const names = [...Object.keys(after), ...Object.keys(before).filter((name) => !(name in after))]
  return names.flatMap((name) =>
    diffValues(before[name], after[name], path === '' ? name : `${path}.${name}`),
  )
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
