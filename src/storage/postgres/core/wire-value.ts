/** A value of a statement as PostgreSQL reads it: https://www.postgresql.org/docs/18/arrays.html#ARRAYS-IO */
export function wireValue(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value)
  if (Array.isArray(value)) return `{${value.map(element).join()}}`
  return JSON.stringify(value)
}

function element(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(element).join()}}`
  const text = wireValue(value)
  return text === null ? 'NULL' : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
