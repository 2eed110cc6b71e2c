import { ArgumentError } from '../function-declaration.ts'

export function noZone(zone: string): ArgumentError {
  const shown = JSON.stringify(zone.slice(0, 50))
  return new ArgumentError('zone', `must be a time zone such as Europe/Berlin; got ${shown}`)
}

/** Without `Temporal`, which not every browser has. */
export function checkZone(zone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch {
    throw noZone(zone)
  }
}
