export type Place = 'localStorage' | 'sessionStorage'

/** A place of the browser for texts; undefined in one that forbids it, which throws at the mere mention of it. */
export function place(name: Place): Storage | undefined {
  try {
    return globalThis[name]
  } catch {
    return undefined
  }
}
