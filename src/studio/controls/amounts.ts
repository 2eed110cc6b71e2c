const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** `now`, `3 minutes ago`, `in 2 days`. Both in Unix seconds. */
export function elapsed(time: number, now: number, language?: string): string {
  const seconds = Math.round(time - now)
  const words = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' })
  for (const [unit, length] of units)
    if (Math.abs(seconds) >= length) return words.format(Math.trunc(seconds / length), unit)
  return Math.abs(seconds) < 10 ? words.format(0, 'second') : words.format(seconds, 'second')
}

/** `840 ms`, `3.2 s`, `4 min`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return `${milliseconds.toFixed(2)} ms`
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`
  if (milliseconds < 3_600_000) return `${Math.round(milliseconds / 60_000)} min`
  return `${(milliseconds / 3_600_000).toFixed(1)} h`
}

/** `840 B`, `1.5 MB`. */
export function bytes(count: number): string {
  const names = ['B', 'KB', 'MB', 'GB', 'TB']
  const step = Math.min(names.length - 1, count < 1 ? 0 : Math.floor(Math.log(count) / Math.log(1024)))
  const value = count / 1024 ** step
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${names[step]}`
}
