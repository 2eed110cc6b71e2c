/**
 * Which fields of an object that an expression made are null because what they were made of was not sent: `{ status: body.status }` of
 * a body without a status. A new document gets the default of such a field, and null where null was sent.
 */
const unsent = new WeakMap<object, string[]>()

export function noteUnsent(object: object, key: string): void {
  const keys = unsent.get(object)
  if (keys) keys.push(key)
  else unsent.set(object, [key])
}

/** Dotted names of the unsent fields of the value that a field is set to, itself among them. */
export function unsentNames(object: object, key: string, value: unknown): readonly string[] {
  if (value === null) return unsent.get(object)?.includes(key) ? [key] : []
  if (typeof value !== 'object') return []
  return (unsent.get(value) ?? []).map((inner) => `${key}.${inner}`)
}
