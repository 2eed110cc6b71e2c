/** Whether two values are the same JSON. Keys may stand in another order; what is undefined is not there. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, at) => sameJson(item, b[at]))
  }
  const left = present(a)
  const right = new Map(present(b))
  return (
    left.length === right.size &&
    left.every(([key, value]) => right.has(key) && sameJson(value, right.get(key)))
  )
}

function present(object: object): [string, unknown][] {
  return Object.entries(object).filter(([, value]) => value !== undefined)
}
