import { isFields } from '../documents/document-shape.ts'

/** The same object with another value at a dotted name. */
export function withValue<T extends object>(object: T, name: string, value: unknown): T {
  const [first = '', ...rest] = name.split('.')
  if (rest.length === 0) return { ...object, [first]: value }
  const inner: unknown = Object.entries(object).find(([key]) => key === first)?.[1]
  return { ...object, [first]: withValue(isFields(inner) ? inner : {}, rest.join('.'), value) }
}
