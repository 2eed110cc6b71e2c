import { useEffect, useState } from 'react'

interface LeaseProps {
  /** ISO 8601. */
  readonly since: string
  readonly until: string
}

/** How long a paused run still waits. */
export function Lease({ since, until }: LeaseProps) {
  const left = useSecondsLeft(until)
  const whole = Math.max(1, (Date.parse(until) - Date.parse(since)) / 1_000)
  return (
    <span title="Then the run resumes on its own. Each step restarts the time.">
      <progress value={left} max={whole} aria-label="Time until the run resumes on its own" />{' '}
      <span className="numbers">{left} s</span>
    </span>
  )
}

function useSecondsLeft(until: string): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  return Math.max(0, Math.ceil((Date.parse(until) - now) / 1_000))
}
