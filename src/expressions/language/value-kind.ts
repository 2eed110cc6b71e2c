/** What a value is in words that finish "… is". */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  switch (typeof value) {
    case 'string':
      return 'a text'
    case 'number':
      return 'a number'
    case 'boolean':
      return 'a condition'
    default:
      return Array.isArray(value) ? 'a list' : 'an object'
  }
}
