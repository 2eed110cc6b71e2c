const SECOND = 1000
const sizes: Readonly<Record<string, number>> = {
  s: SECOND,
  m: 60 * SECOND,
  h: 3600 * SECOND,
  d: 86_400 * SECOND,
}

/** Milliseconds of `30s`, `5m`, `2h` or `1d`, or of a plain number of seconds; undefined for anything else. */
export function readDuration(text: string): number | undefined {
  const [, amount, unit = 's'] = /^(\d{1,10}) ?([smhd])?$/.exec(text.trim()) ?? []
  const size = sizes[unit]
  return amount === undefined || size === undefined ? undefined : Number(amount) * size
}
