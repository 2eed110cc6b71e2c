import type { Observer } from './database.ts'

/** By storage; a storage without observers is not in it. */
export type Observers = Map<string, readonly Observer[]>

/** Gives a function that takes the observer out again. */
export function addObserver(observers: Observers, name: string, observer: Observer): () => void {
  // Replaced and not changed, so that a write that is telling its observers tells those it began with.
  observers.set(name, [...(observers.get(name) ?? []), observer])
  return () => {
    const left = (observers.get(name) ?? []).filter((other) => other !== observer)
    if (left.length > 0) observers.set(name, left)
    else observers.delete(name)
  }
}
