/** Work with the same key is done one after the other, in the order in which it was asked for, whether or not it fails. */
export function oneAtATime(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const next = (last.get(key) ?? Promise.resolve()).then(work, work)
    last.set(key, next)
    const over = () => {
      if (last.get(key) === next) last.delete(key)
    }
    next.then(over, over)
    return next
  }
}
