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
  const start = instantOf(clockTime('from', day, from), zone)
  const end = endOf(clockTime('to', day, to), zone)
  if (to < from) throw new ArgumentError('to', 'must not be earlier than from')
  const length = Math.max(0, Math.ceil((end - start) / (step * MINUTE)))
  spendOnNew(context, 'step', length)
  // Texts of instants cost more than elements.
  context.spend(9 * length)
  return Array.from({ length }, (_, i) => new Date(start + i * step * MINUTE).toISOString())
}

function clockTime(parameter: string, day: Temporal.PlainDate, text: string): Temporal.PlainDateTime {
  const match = CLOCK.exec(text)
  if (!match) throw new ArgumentError(parameter, 'must be a time of the day such as 09:30')
  const [, hour, minute] = match
  const date = hour === undefined ? day.add({ days: 1 }) : day
  return date.toPlainDateTime(new Temporal.PlainTime(Number(hour ?? 0), Number(minute ?? 0)))
}

/** A time that clocks leave out is as long after the last one that they show. */
function instantOf(time: Temporal.PlainDateTime, zone: string): number {
  const zoned = inZone(zone, () => time.toZonedDateTime(zone))
  momentText('day', zoned)
  return zoned.epochMilliseconds
}

/** What is before a time that clocks leave out ends where they are put forward. */
function endOf(time: Temporal.PlainDateTime, zone: string): number {
  const end = instantOf(time, zone)
  const shown = Temporal.Instant.fromEpochMilliseconds(end).toZonedDateTimeISO(zone)
  if (shown.toPlainDateTime().equals(time)) return end
  // A millisecond later, because the change may be at this instant.
  return shown.add({ milliseconds: 1 }).getTimeZoneTransition('previous')?.epochMilliseconds ?? end
}
