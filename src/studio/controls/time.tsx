import { useEffect, useState } from 'react'
import { elapsed } from './amounts.ts'

interface TimeProps {
  /** Unix seconds; 0, null and undefined are "never". */
  readonly at: number | null | undefined
  /** The whole date and time instead of how long ago. */
  readonly exact?: boolean
  readonly never?: string
}

/** When something was. Pointing at it tells the exact time. */
export function Time({ at, exact = false, never = '–' }: TimeProps) {
  const now = useNow()
  if (!at || at < 0) return <span>{never}</span>
  const date = new Date(at * 1000)
  const full = date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
  return (
    <time dateTime={date.toISOString()} title={full} className="numbers" style={{ whiteSpace: 'nowrap' }}>
      {exact ? date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' }) : elapsed(at, now)}
    </time>
  )
}

/** Unix seconds, updated every 20 seconds while it is shown. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now() / 1000)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), 20_000)
    return () => clearInterval(timer)
  }, [])
  return now
}
