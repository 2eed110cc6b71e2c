import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import { spendOnNew } from './bounded.ts'
import { inZone, momentText } from './moment.ts'

const CLOCK = /^(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/
const MINUTE = 60_000

/**
 * Instants from one time of the day up to, and without, another one, each a step of real minutes after the one before: on the
 * day on which clocks go forward the hour that does not exist is left out, on the day on which they go back it comes twice.
 */
export function timesOfDay(
  context: FunctionContext,
  day: Temporal.PlainDate,
  {
    from,
    to,
    step,
    zone,
  }: { readonly from: string; readonly to: string; readonly step: number; readonly zone: string },
): string[] {
  if (step < 1) throw new ArgumentError('step', 'must be at least 1 minute')
  const start = clockTime('from', day, from, zone)
  const end = clockTime('to', day, to, zone)
  if (end < start) throw new ArgumentError('to', 'must not be earlier than from')
  const length = Math.ceil((end - start) / (step * MINUTE))
  spendOnNew(context, 'step', length)
  return Array.from({ length }, (_, i) => new Date(start + i * step * MINUTE).toISOString())
}

function clockTime(parameter: string, day: Temporal.PlainDate, text: string, zone: string): number {
  const match = CLOCK.exec(text)
  if (!match) throw new ArgumentError(parameter, 'must be a time of the day such as 09:30')
  const [, hour, minute] = match
  const date = hour === undefined ? day.add({ days: 1 }) : day
  const plainTime = new Temporal.PlainTime(Number(hour ?? 0), Number(minute ?? 0))
  const zoned = inZone(zone, () => date.toZonedDateTime({ timeZone: zone, plainTime }))
  momentText('day', zoned)
  return zoned.epochMilliseconds
}
