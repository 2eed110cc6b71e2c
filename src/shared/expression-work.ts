/**
 * Work is how long a part of an expression takes, in tenths of a microsecond of a server with two slow cores, in the worst
 * case. An evaluation cannot pause, and no other request is served meanwhile, so it is bounded by work and not only by elements.
 */

/** Of an element that a function of lists looks at, with an arrow function of a few parts. */
export const elementWork = 0.5

/** Of all expressions that are evaluated without a pause: 40 ms, of the 50 that a request may hold the event loop. */
export const mostWork = 400_000

/** Where expressions run outside of runs, elements are counted. One stands for so much work: 2 µs. */
const workOfElement = 20

/** What a part of an expression counts as there. */
export function elementsOf(elements: number, work = 0): number {
  return Math.max(elements, work / workOfElement)
}
