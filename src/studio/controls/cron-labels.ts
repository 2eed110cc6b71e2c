import { controlsTexts } from '../texts/shell.ts'

/** When a schedule runs, in words; undefined where only its expression says it. */
export function rhythmLabels(cron: string, every: string): string | undefined {
  const [, count, unit = ''] = /^(\d+) ?([smhd])$/.exec(every.trim()) ?? []
  const words = controlsTexts.units[unit]
  return words === undefined ? cronLabels(cron) : controlsTexts.every(Number(count), words)
}

/** A cron expression in words; undefined for one that is rarer than these, which is shown as it is written. */
export function cronLabels(cron: string): string | undefined {
  const named = names[cron.trim().toLowerCase()]
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...more] = (named ?? cron)
    .trim()
    .split(/\s+/)
  if (more.length > 0 || month !== '*') return undefined
  const isAnyDay = day === '*' && weekday === '*'
  const step = /^\*\/(\d+)$/
  if (isAnyDay && hour === '*') {
    const each = minute === '*' ? 1 : Number(step.exec(minute)?.[1])
    // A step of 45 is at minutes 0 and 45 of each hour.
    if (60 % each === 0) return controlsTexts.every(each, 'minute')
    return isNumber(minute, 59) ? controlsTexts.everyHourAt(Number(minute)) : undefined
  }
  if (!isNumber(minute, 59)) return undefined
  const hours = Number(step.exec(hour)?.[1])
  if (isAnyDay && 24 % hours === 0 && minute === '0') return controlsTexts.every(hours, 'hour')
  if (!isNumber(hour, 23)) return undefined
  const at = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`
  if (isAnyDay) return controlsTexts.everyDayAt(at)
  if (weekday === '*') return isNumber(day, 31) ? controlsTexts.everyMonthAt(Number(day), at) : undefined
  const days = day === '*' ? daysOf(weekday) : undefined
  return days && controlsTexts.onDaysAt(days, at)
}

const names: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
}

function isNumber(text: string, most: number): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) <= most
}

const short = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

/** `1-5` and `mon,fri` by their names; undefined for what is neither. */
function daysOf(text: string): string | undefined {
  const [from, to, ...others] = text.split('-').map(dayOf)
  if (others.length > 0) return undefined
  if (from !== undefined && to !== undefined) return controlsTexts.daysFromTo(from, to)
  const days = text.split(',').map(dayOf)
  return days.every((day) => day !== undefined) ? days.join(', ') : undefined
}

function dayOf(text: string): string | undefined {
  const at = /^[0-7]$/.test(text) ? Number(text) % 7 : short.indexOf(text.toLowerCase())
  return controlsTexts.weekdays[at]
}
