import { isSecretName } from '../../shared/names/secret-names.ts'

const MAX_DEPTH = 4

/**
 * The object with what must not be in a log replaced, by name, some levels deep. Instances of classes stay: each has a
 * serializer that picks what is written of it.
 *
 * By hand and not with pino's own redaction: that one also runs over the request id that every request's logger is made
 * with, which took a seventh of the time of a small request although nothing was logged.
 */
export function hideSecrets(object: Record<string, unknown>, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => {
      if (isSecretName(name)) return [name, '[secret]']
      if (Array.isArray(value)) return [name, value.map((item) => hidden(item, depth))]
      return [name, hidden(value, depth)]
    }),
  )
}

function hidden(value: unknown, depth: number): unknown {
  if (!isPlain(value)) return value
  return depth < MAX_DEPTH ? hideSecrets(value, depth + 1) : '[deeper]'
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // Without a prototype, of Object itself, or of a class that inherits nothing: parameters of a query.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
