/**
 * A day compared with an instant stands for the whole day: what happened on 31 March at 10:00 is not after 31 March. Instants are
 * texts that begin with their day and `T`, in UTC.
 */
import type { Bounds } from '../query.ts'

const DAY = /^\d{4}-\d{2}-\d{2}$/
/** Behind all instants of a day: the letter after `T`. */
const BEHIND = 'U'

export function isDayText(text: string): boolean {
  return text.length === 10 && DAY.test(text)
}

/** Whether one is a day and the other an instant of it. */
export function isSameDay(a: string, b: string): boolean {
  if (a.length === b.length) return false
  const [day, instant] = a.length < b.length ? [a, b] : [b, a]
  return isDayText(day) && instant.startsWith(day) && instant.charAt(10) < BEHIND
}

/** Bounds for stored texts. At most a day is to its end, and more than a day is behind it. */
export function wholeDayBounds({ gte, gt, lte, lt }: Bounds): Bounds {
  const ends = [lt, typeof lte === 'string' && isDayText(lte) ? lte + BEHIND : undefined]
  const begins = [gte, typeof gt === 'string' && isDayText(gt) ? gt + BEHIND : undefined]
  const isDay = (bound: string | number | undefined) => typeof bound === 'string' && isDayText(bound)
  const before = ends.filter((bound) => bound !== undefined).sort(byOrder)[0]
  const from = begins
    .filter((bound) => bound !== undefined)
    .sort(byOrder)
    .at(-1)
  return {
    ...(from !== undefined && { gte: from }),
    ...(gt !== undefined && !isDay(gt) && { gt }),
    ...(lte !== undefined && !isDay(lte) && { lte }),
    ...(before !== undefined && { lt: before }),
  }
}

function byOrder(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0
}
